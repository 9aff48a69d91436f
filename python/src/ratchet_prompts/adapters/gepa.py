"""Runs a GEPAAdapter of the `gepa` package as a durable session.

from ratchet_prompts.adapters import gepa
result = gepa.optimize({"system": "…"}, trainset, valset, adapter, reflection_lm="openai/gpt-6-sol")
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from .._container.runner import in_thread
from .._container.score import Score
from .._progress import Progress
from .._prompts import model_of
from .._service import connect
from ..client import Client
from ..containers import Container
from ..errors import ConfigurationError, RatchetError
from ._components import Components
from ._search import best_candidate, evaluated, search

Candidate = Dict[str, str]
DEFAULT_CONCURRENCY = 10


@dataclass(frozen=True)
class GEPAResult:
    """The fields of gepa's result; lists are by candidate, and hold the fully evaluated ones."""

    candidates: List[Candidate]
    parents: List[List[Optional[int]]]
    val_aggregate_scores: List[float]
    best_idx: int
    best_candidate: Candidate
    total_metric_calls: int
    verdict: Optional[str]
    job_id: str

    @property
    def best_score(self) -> float:
        return self.val_aggregate_scores[self.best_idx]

    @property
    def num_candidates(self) -> int:
        return len(self.candidates)


def optimize(
    seed_candidate: Mapping[str, str],
    trainset: Sequence[Any],
    valset: Optional[Sequence[Any]] = None,
    adapter: Any = None,
    *,
    reflection_lm: Union[str, Mapping[str, Any]] = "local",
    max_metric_calls: int = 200,
    max_concurrent: int = DEFAULT_CONCURRENCY,
    seed: int = 0,
    client: Optional[Client] = None,
    progress: bool = True,
    **request: Any,
) -> GEPAResult:
    """Searches better texts for the components of a candidate.

    adapter: its `evaluate` runs in this process, one call at a time; rollouts that wait meanwhile
        share the next call. Feedback comes from `make_reflective_dataset` if it has one.
    reflection_lm: "provider/model", the model that writes the texts. The adapter calls its own.
    request: further fields of a session.
    """
    if not callable(getattr(adapter, "evaluate", None)):
        raise ConfigurationError("adapter: must be a GEPAAdapter, an object with evaluate(batch, candidate)")
    components = Components(seed_candidate)
    tasks = [*trainset, *(valset or [])]
    batches = _Batches(adapter, components)

    async def rollout(task: Any, prompts: Dict[str, str]) -> Score:
        return await batches.score(task, components.candidate(prompts))

    shown = Progress(progress)
    client = client or connect(shown.note)
    model = model_of(reflection_lm, "reflection_lm")
    container = Container(rollout, tasks or [None], components.prompts(), "gepa adapter")
    fields = {
        "policy": model,
        "budget": {"max_rollouts": max_metric_calls},
        "max_concurrent": max_concurrent,
        "rng_seed": seed,
        **request,
    }
    session = search(container, components, trainset, valset, client, shown, fields)
    results, listed = session.results(), evaluated(session)
    if not listed:
        raise RatchetError(
            f"{session.id} has ended, {session.get()['status']}, before its seed candidate was evaluated on all tasks "
            "of the valset."
        )
    places = {each["candidate_id"]: place for place, each in enumerate(listed)}
    best = results["best_candidate"]
    return GEPAResult(
        candidates=[components.candidate_of(session.candidate(id)["messages"]) for id in places],
        # A parent that was accepted on its tests alone is in no list.
        parents=[[places.get(parent) for parent in each["parent_ids"]] for each in listed],
        val_aggregate_scores=[each["reward"] for each in listed],
        best_idx=places[best["candidate_id"]] if best else 0,
        best_candidate=best_candidate(session, components),
        total_metric_calls=session.get()["progress"]["rollouts_completed"],
        verdict=results["verdict"],
        job_id=session.id,
    )


class _Batches:
    """Gives waiting rollouts of one candidate to the adapter in one call, and makes no two at a time.

    Adapters need not be thread-safe, and run a batch faster than its items one by one.
    """

    def __init__(self, adapter: Any, components: Components) -> None:
        self._adapter = adapter
        self._single = len(components.texts) == 1
        self._waiting: List[Tuple[Any, Candidate, asyncio.Future[Score]]] = []
        self._running: Optional[asyncio.Task[None]] = None

    async def score(self, task: Any, candidate: Candidate) -> Score:
        future: asyncio.Future[Score] = asyncio.get_running_loop().create_future()
        self._waiting.append((task, candidate, future))
        if self._running is None:
            self._running = asyncio.ensure_future(self._work())
        return await future

    async def _work(self) -> None:
        try:
            while self._waiting:
                candidate = self._waiting[0][1]
                batch = [item for item in self._waiting if item[1] == candidate]
                self._waiting = [item for item in self._waiting if item[1] != candidate]
                await self._evaluate(candidate, [item for item in batch if not item[2].done()])
        finally:
            self._running = None

    async def _evaluate(self, candidate: Candidate, batch: List[Tuple[Any, Candidate, asyncio.Future[Score]]]) -> None:
        if not batch:
            return
        try:
            scores = await in_thread(lambda: self._scores([task for task, _, _ in batch], candidate))
        except Exception as error:
            for _, _, future in batch:
                if not future.done():
                    future.set_exception(error)
            return
        for (_, _, future), score in zip(batch, scores):
            if not future.done():
                future.set_result(score)

    def _scores(self, tasks: List[Any], candidate: Candidate) -> List[Score]:
        found = self._adapter.evaluate(tasks, dict(candidate), capture_traces=True)
        if not len(tasks) == len(found.scores) == len(found.outputs):
            raise ValueError(f"the adapter returned {len(found.scores)} scores for {len(tasks)} tasks")
        return [
            Score(float(score), self._feedback(task, candidate, found, number))
            for number, (task, score) in enumerate(zip(tasks, found.scores))
        ]

    def _feedback(self, task: Any, candidate: Candidate, found: Any, number: int) -> Optional[str]:
        """What the adapter says of one task, component by component."""
        make = getattr(self._adapter, "make_reflective_dataset", None)
        if make is None or found.trajectories is None:
            return _text({"Inputs": task, "Generated Outputs": found.outputs[number]})
        alone = type(found)(
            outputs=[found.outputs[number]],
            scores=[found.scores[number]],
            trajectories=[found.trajectories[number]],
        )
        parts = []
        for name in candidate:
            records = make(dict(candidate), alone, [name]).get(name) or []
            shown = "\n".join(_text(record) for record in records)
            if shown:
                parts.append(shown if self._single else f"{name}:\n{shown}")
        return "\n\n".join(parts) or None


def _text(record: Any) -> str:
    if not isinstance(record, Mapping):
        return record if isinstance(record, str) else json.dumps(record, default=str, ensure_ascii=False)
    return "\n".join(f"{name}: {_text(value)}" for name, value in record.items())
