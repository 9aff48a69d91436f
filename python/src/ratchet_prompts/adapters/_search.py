"""A session on a container of this process, for the adapters."""

from __future__ import annotations

import contextlib
import random
from typing import Any, List, Mapping, Optional, Sequence, Tuple

from .._progress import Progress
from .._settings import is_loopback
from ..client import Client
from ..containers import Container
from ..errors import ConfigurationError
from ..jobs import Session
from ._components import Components


def search(
    container: Container,
    components: Components,
    train: Sequence[Any],
    validation: Optional[Sequence[Any]],
    client: Client,
    shown: Progress,
    request: Mapping[str, Any],
) -> Session:
    """Runs a session to its end; seeds are the train tasks, then those of the validation.

    Without a validation set the train set takes its place, as in gepa and DSPy; above the limits
    of a session, or where the budget has no room for it, a part of it is held back. What is above
    the limits is sampled, always the same.
    """
    if not is_loopback(client.url):
        raise ConfigurationError(f"the service at {client.url} cannot call a container of this machine")
    if not train:
        raise ConfigurationError("trainset: is empty")
    count = len(train)
    train_seeds, evaluation = _split(count, None if validation is None else len(validation), _budget(request), shown)
    if not evaluation:
        raise ConfigurationError("valset: is empty; leave it out to evaluate on the trainset")
    with container.start() as running:
        session = client.sessions.create(
            **{
                "algorithm": "gepa",
                "container_url": running.url,
                "initial_prompt": {"messages": components.messages()},
                # The budget ends the search.
                "gepa": {
                    "population_size": 2,
                    "generations": 200,
                    "train_seeds": train_seeds,
                    "evaluation": {"seeds": evaluation},
                },
                **request,
            }
        )
        shown.note(f"Session {session.id}: {client.url}/#/sessions/{session.id}")
        try:
            session.wait(on_event=shown.event)
        except BaseException:
            # Without this process nobody runs the rollouts.
            with contextlib.suppress(Exception):
                session.cancel()
            raise
    return session


_MOST_TRAIN, _MOST_EVALUATION = 10_000, 1_000
# The evaluation of baseline and winner, and tests of a proposal, must fit into a budget.
_TESTS = 10
_SHARE = 5
_LEAST = 3


def _budget(request: Mapping[str, Any]) -> Optional[int]:
    most = (request.get("budget") or {}).get("max_rollouts")
    return most if isinstance(most, int) else None


def _most_evaluation(count: int, budget: Optional[int]) -> int:
    """The tasks that may evaluate: all of `count` if the budget goes beyond them, else a share of it."""
    if budget is None or 2 * count + _TESTS <= budget:
        return _MOST_EVALUATION
    return min(_MOST_EVALUATION, max(_LEAST, budget // _SHARE))


def _split(
    train: int, validation: Optional[int], budget: Optional[int], shown: Progress
) -> Tuple[List[int], List[int]]:
    """The seeds that train, and those that evaluate, within the limits of a session and its budget."""
    draw = random.Random(0)
    seeds = list(range(train))
    if validation is not None:
        evaluation = list(range(train, train + validation))
        most = _most_evaluation(validation, budget)
    else:
        held_back = min(_MOST_EVALUATION, train * 2 // 5)
        most = _most_evaluation(train if train <= _MOST_EVALUATION else held_back, budget)
        if train <= most:
            return seeds, seeds
        evaluation = sorted(draw.sample(seeds, min(most, max(held_back, min(_LEAST, train)))))
        held = set(evaluation)
        seeds = [seed for seed in seeds if seed not in held]
        shown.note(f"valset: {len(evaluation)} of the {train} tasks of the trainset are held back for evaluation")
    if len(evaluation) > most:
        shown.note(f"valset: a sample of {most} of its {len(evaluation)} tasks evaluates")
        evaluation = sorted(draw.sample(evaluation, most))
    if len(seeds) > _MOST_TRAIN:
        shown.note(f"trainset: a sample of {_MOST_TRAIN} of its {len(seeds)} tasks trains")
        seeds = sorted(draw.sample(seeds, _MOST_TRAIN))
    return seeds, evaluation


def best_candidate(session: Session, components: Components) -> dict[str, str]:
    best = session.results()["best_prompt"]
    return components.candidate_of(best["messages"]) if best else dict(components.texts)


def evaluated(session: Session) -> List[Any]:
    """The candidates that were fully evaluated, the baseline first."""
    return [each for each in session.candidates() if each["status"] == "evaluated"]
