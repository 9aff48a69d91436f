"""Optimizes the instructions of a DSPy program as a durable session.

from ratchet_prompts.adapters import dspy
better = dspy.optimize(program, trainset, metric, model="openai/gpt-6-luna")
"""

from __future__ import annotations

import inspect
from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Union

from .._container.model import Model, ModelError
from .._container.score import Score, score_of
from .._progress import Progress
from .._prompts import model_of
from .._retries import retry_status
from .._service import connect
from ..client import Client
from ..containers import Container
from ..errors import ConfigurationError
from ._components import Components
from ._search import best_candidate, search

ModelLike = Union[str, Mapping[str, Any]]


def optimize(
    program: Any,
    trainset: Sequence[Any],
    metric: Callable[..., Any],
    *,
    valset: Optional[Sequence[Any]] = None,
    model: ModelLike = "local",
    proposer: Optional[ModelLike] = None,
    budget: int = 200,
    adapter: Any = None,
    client: Optional[Client] = None,
    progress: bool = True,
    **request: Any,
) -> Any:
    """Returns a copy of the program with the best instructions that were found.

    metric: `metric(example, prediction, trace)` returns a number, or a `dspy.Prediction` with `score`
        and `feedback`, as for `dspy.GEPA`; a metric with five arguments is given None for the others.
    model: "provider/model", which all predictors call, through the service, so that their calls are
        recorded. proposer: the model that writes instructions.
    adapter: the adapter of DSPy that writes the calls; by default that of the settings.
    request: further fields of a session.

    The copy has the attribute `ratchet_job_id`.
    """
    try:
        import dspy
        from dspy.utils.exceptions import AdapterParseError
    except ImportError:
        raise ImportError("this adapter needs dspy: pip install 'ratchet-prompts[dspy]'") from None

    instructions = {name: predictor.signature.instructions for name, predictor in program.named_predictors()}
    if not instructions:
        raise ConfigurationError("program: has no predictors, so there is nothing to optimize")
    components = Components(instructions)
    scored = _metric(metric)
    used_adapter = adapter or dspy.settings.adapter

    def rollout(task: Any, model: Model, prompts: Dict[str, str]) -> Score:
        candidate = _with_instructions(program, _marked(components, prompts))
        address = {"api_base": model.base_url, "api_key": model.api_key, "model_type": "chat"}
        # The service retries and records; a cache would hide calls from it.
        lm = dspy.LM(f"openai/{model.name}", **address, cache=False, num_retries=0, **model.params)
        trace: list[Any] = []
        with dspy.context(lm=lm, adapter=used_adapter, trace=trace):
            try:
                prediction = candidate(**task.inputs())
            except AdapterParseError as error:
                # The answer's fault, which better instructions may mend.
                return Score(0.0, f"The answer has not the demanded form. {error}")
            except Exception as error:
                raise _model_error(error) from error
            return scored(task, prediction, trace)

    shown = Progress(progress)
    client = client or connect(shown.note)
    tasks = [*trainset, *(valset or [])]
    container = Container(rollout, tasks or [None], components.prompts(), type(program).__name__)
    fields = {
        "policy": model_of(model),
        **({"proposer": model_of(proposer, "proposer")} if proposer else {}),
        "budget": {"max_rollouts": budget},
        **request,
    }
    session = search(container, components, trainset, valset, client, shown, fields)
    best = _with_instructions(program, best_candidate(session, components))
    best.ratchet_job_id = session.id
    return best


def _marked(components: Components, prompts: Mapping[str, str]) -> Dict[str, str]:
    """The texts between marks, by which the service knows where components stand in a call."""
    return {
        name: f'<lever name="{components.sent[name]}">{text}</lever>'
        for name, text in components.candidate(prompts).items()
    }


def _with_instructions(program: Any, instructions: Mapping[str, str]) -> Any:
    copy = program.deepcopy()
    for name, predictor in copy.named_predictors():
        predictor.signature = predictor.signature.with_instructions(instructions[name])
    return copy


def _metric(metric: Callable[..., Any]) -> Callable[[Any, Any, Any], Score]:
    parameters = list(inspect.signature(metric).parameters.values())
    is_variadic = any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters)
    count = 3 if is_variadic else min(len(parameters), 5)
    if count < 2:
        raise ConfigurationError("metric: must take an example, a prediction and a trace")

    def score(example: Any, prediction: Any, trace: Any) -> Score:
        returned = metric(*(example, prediction, trace, None, None)[:count])
        if hasattr(returned, "score"):
            return score_of((returned.score, getattr(returned, "feedback", None)), "the metric")
        found = score_of(returned, "the metric")
        return found if found.feedback is not None else Score(found.reward, _feedback(example, prediction))

    return score


def _feedback(example: Any, prediction: Any) -> str:
    """For a metric that gives none: what the example expects, and what came."""
    expected = {name: example[name] for name in example.labels()}
    given = {name: prediction.get(name) for name in expected} if hasattr(prediction, "get") else prediction
    return f"Expected {expected}, answered {given}."


def _model_error(error: Exception) -> Exception:
    """Failed model calls are for the service to retry; everything else is the rollout's own failure."""
    cause: Optional[BaseException] = error
    while cause is not None:
        status = getattr(cause, "status_code", None) or getattr(cause, "status", None)
        if isinstance(status, int):
            headers = getattr(getattr(cause, "response", None), "headers", None) or {}
            return ModelError(str(error), retry_status(status, headers.get("x-should-retry")))
        # DSPy's error of a call without an answer; older versions have litellm's, with a status.
        if type(cause).__name__ == "LMTransportError":
            return ModelError(str(error), 502)
        cause = cause.__cause__ or cause.__context__
    return error
