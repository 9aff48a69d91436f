"""A session on a container of this process, for the adapters."""

from __future__ import annotations

import contextlib
from typing import Any, List, Mapping, Optional, Sequence

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

    Without a validation set the train set takes its place, as in gepa and DSPy.
    """
    if not is_loopback(client.url):
        raise ConfigurationError(f"the service at {client.url} cannot call a container of this machine")
    if not train:
        raise ConfigurationError("trainset: is empty")
    count = len(train)
    train_seeds = list(range(count))
    evaluation = train_seeds if validation is None else list(range(count, count + len(validation)))
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


def best_candidate(session: Session, components: Components) -> dict[str, str]:
    best = session.results()["best_prompt"]
    return components.candidate_of(best["messages"]) if best else dict(components.texts)


def evaluated(session: Session) -> List[Any]:
    """The candidates that were fully evaluated, the baseline first."""
    return [each for each in session.candidates() if each["status"] == "evaluated"]
