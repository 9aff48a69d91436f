"""`optimize` and `evaluate`: from rows and a metric to a verdict."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Sequence, Union

from . import types as t
from ._metric import Metric, ServedMetric, check_metric, metric_server
from ._progress import Progress
from ._prompts import PromptLike, messages_of, model_of
from ._service import connect
from ._settings import is_loopback
from .client import Client
from .errors import ConfigurationError, JobFailed
from .jobs import Evaluation, Session
from .results import EvaluationResult, Optimization

ModelLike = Union[str, Mapping[str, Any]]
ScorerLike = Union[str, Mapping[str, Any], Metric]

# The budget ends the search, so there are more generations than it can pay for.
ALGORITHMS: Dict[str, Dict[str, int]] = {
    "gepa": {"population_size": 2, "generations": 200},
    "mipro": {"num_candidates": 10},
}


def optimize(
    data: Any,
    prompt: PromptLike,
    *,
    metric: ScorerLike = "exact",
    model: ModelLike = "local",
    proposer: Optional[ModelLike] = None,
    budget: int = 200,
    max_cost_usd: Optional[float] = None,
    algorithm: str = "gepa",
    input: Optional[str] = None,
    expected: Optional[str] = None,
    name: Optional[str] = None,
    tags: Optional[Sequence[str]] = None,
    client: Optional[Client] = None,
    progress: bool = True,
    **request: Any,
) -> Optimization:
    """Searches a better prompt for rows, and compares it with the given one on held-out rows.

    data: a list of dicts, a DataFrame, or the path of a JSON, JSONL or CSV file.
    prompt: a text, or messages; `{{column}}` stands for a value of the row. A text without
        placeholders is the system message, and the column `input` follows it.
    metric: `metric(row, answer)`, with the whole row, returns a reward from 0 to 1, or it with feedback, from which new
        prompts are written. It is called from several threads. Or a scorer by name or as in the API.
    model, proposer: "provider/model": the model that answers, and the one that writes prompts.
    budget: maximum answers. max_cost_usd: maximum dollars.
    input, expected: the columns of `{{input}}` and of the right answers.
    client: the service; by default the one of RATCHET_URL, else a local one, which is started if
        none answers and ends with this process.
    request: further fields of a session, such as `rng_seed` or `target_reward`.

    Raises JobFailed if the session fails. If it is interrupted, a session with a function as metric
    is cancelled, because nobody else can score.
    """
    if algorithm not in ALGORITHMS:
        raise ConfigurationError(f'algorithm: "{algorithm}" must be {" or ".join(ALGORITHMS)}')
    shown = Progress(progress)
    messages = messages_of(prompt)
    models = {"policy": model_of(model), **({"proposer": model_of(proposer, "proposer")} if proposer else {})}
    client = client or connect(shown.note)
    scorer, served = _scorer(metric, client)
    dataset = client.datasets.upload(data)
    budgets = {"max_rollouts": budget, **({"max_cost_usd": max_cost_usd} if max_cost_usd is not None else {})}
    session = client.sessions.create(
        **{
            "algorithm": algorithm,
            "dataset": _columns(dataset, input, expected),
            "scorer": scorer,
            **models,
            "initial_prompt": {"messages": messages},
            algorithm: ALGORITHMS[algorithm],
            "budget": budgets,
            **_labels(name, tags),
            **request,
        }
    )
    created = session.created or {}
    _announce(client.url, session.id, created, shown)
    _follow(session, served, shown)
    result = _optimization(session, client, messages, dataset["dataset_id"], created.get("split"))
    result.warnings += _metric_warnings(served)
    return result


def evaluate(
    data: Any,
    prompt: PromptLike,
    *,
    metric: ScorerLike = "exact",
    model: ModelLike = "local",
    max_cost_usd: Optional[float] = None,
    input: Optional[str] = None,
    expected: Optional[str] = None,
    name: Optional[str] = None,
    tags: Optional[Sequence[str]] = None,
    client: Optional[Client] = None,
    progress: bool = True,
    **request: Any,
) -> EvaluationResult:
    """Scores a prompt on all rows; the arguments are those of `optimize`.

    Raises JobFailed if max_cost_usd does not last for all rows; what it bought is kept.
    """
    shown = Progress(progress)
    messages = messages_of(prompt)
    policy = model_of(model)
    client = client or connect(shown.note)
    scorer, served = _scorer(metric, client)
    dataset = client.datasets.upload(data)
    job = client.evaluations.create(
        **{
            "dataset": _columns(dataset, input, expected),
            "scorer": scorer,
            "policy": policy,
            "candidate": {"messages": messages},
            **({"budget": {"max_cost_usd": max_cost_usd}} if max_cost_usd is not None else {}),
            **_labels(name, tags),
            **request,
        }
    )
    shown.note(f"Evaluation {job.id}: {client.url}/#/evaluations/{job.id}")
    _follow(job, served, shown)
    state, results = job.get(), job.results()
    summary = results["summary"]
    return EvaluationResult(
        job_id=job.id,
        status=state["status"],
        reward=summary["mean_reward"],
        reward_interval=summary["mean_reward_interval"],
        succeeded=summary["num_successful"],
        failed=summary["num_failed"],
        cost_usd=state["usage"]["total_cost_usd"],
        results=results["results"],
        warnings=[*state["warnings"], *_metric_warnings(served)],
        dataset_id=dataset["dataset_id"],
        client=client,
    )


def _scorer(metric: ScorerLike, client: Client) -> tuple[Any, Optional[ServedMetric]]:
    if isinstance(metric, (str, Mapping)):
        return metric, None
    if not callable(metric):
        raise ConfigurationError("metric: must be a function of row and answer, or a scorer by name or as a dict")
    check_metric(metric)
    if not is_loopback(client.url):
        raise ConfigurationError(
            f"metric: the service at {client.url} cannot call a function of this machine; "
            "name a scorer, or serve the metric and give {'type': 'http', 'url': …}"
        )
    url, served = metric_server.serve(metric)
    return {"type": "http", "url": url}, served


def _columns(dataset: t.Dataset, input: Optional[str], expected: Optional[str]) -> Dict[str, Any]:
    named = {"input": input, "expected": expected}
    return {"dataset_id": dataset["dataset_id"], **{name: column for name, column in named.items() if column}}


def _labels(name: Optional[str], tags: Optional[Sequence[str]]) -> Dict[str, Any]:
    return {**({"name": name} if name is not None else {}), **({"tags": list(tags)} if tags is not None else {})}


def _announce(url: str, session_id: str, created: Mapping[str, Any], shown: Progress) -> None:
    shown.note(f"Session {session_id}: {url}/#/sessions/{session_id}")
    split = created.get("split")
    if split:
        train, evaluation, heldout = (len(split[part]) for part in ("train", "evaluation", "heldout"))
        shown.note(f"Split: {train} train, {evaluation} evaluation, {heldout} held-out rows")
    estimate = created["estimate"]
    cost = estimate["cost_usd"]
    dollars = f"${cost['low']:.4f} to ${cost['high']:.4f}, probably ${cost['likely']:.4f}" if cost else "unknown"
    shown.note(f"At most {estimate['rollouts']} answers; cost: {dollars}")
    for warning in created.get("warnings") or []:
        shown.note(f"Note: {warning}")


def _follow(job: Union[Session, Evaluation], served: Optional[ServedMetric], shown: Progress) -> None:
    try:
        job.wait(on_event=shown.event)
    except JobFailed as failed:
        raise failed from (served.first_error if served else None)
    except BaseException as error:
        # Without this program nobody scores, and after Ctrl-C nobody wants the answers.
        if served is not None or isinstance(error, KeyboardInterrupt):
            _cancel(job, shown)
        raise


def _cancel(job: Union[Session, Evaluation], shown: Progress) -> None:
    try:
        job.cancel()
    except Exception as error:
        shown.note(f'{job.id} is still running ({error}): "ratchet cancel {job.id}" ends it.')
    else:
        shown.note(f'Cancelled {job.id}; the best so far is kept: "ratchet watch {job.id}" shows it.')


def _metric_warnings(served: Optional[ServedMetric]) -> list[str]:
    if served is None or served.first_error is None:
        return []
    error = served.first_error
    return [f"the metric raised {served.errors} times, first {type(error).__name__}: {error}"]


def _optimization(
    session: Session,
    client: Client,
    messages: list[t.Message],
    dataset_id: str,
    split: Optional[t.Split],
) -> Optimization:
    state, results = session.get(), session.results()
    best, comparison = results["best_prompt"], results["comparison"]
    measured: Dict[str, Any] = {
        "reward": results["best_reward"],
        "baseline_reward": results["history"][0]["best_reward"] if results["history"] else None,
        "reward_interval": results["best_reward_interval"],
        "interval": None,
        "basis": None,
        "rows_needed": None,
    }
    if comparison is not None:
        measured = {
            "reward": comparison["winner_reward"],
            "reward_interval": comparison["winner_interval"],
            "baseline_reward": comparison["baseline_reward"],
            "interval": (comparison["interval"]["low"], comparison["interval"]["high"]),
            "basis": comparison["basis"],
            "rows_needed": comparison["rows_needed"],
        }
    return Optimization(
        job_id=session.id,
        status=state["status"],
        messages=best["messages"] if best else messages,
        baseline_messages=messages,
        verdict=results["verdict"],
        cost_usd=results["usage"]["total_cost_usd"],
        rollouts=state["progress"]["rollouts_completed"],
        history=results["history"],
        stopped_by=results["stopped_by"],
        warnings=list(state["warnings"]),
        split=split,
        dataset_id=dataset_id,
        client=client,
        **measured,
    )
