"""What `optimize` and `evaluate` return."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Tuple

from . import types as t
from ._prompts import text_of
from ._report import curve_svg, diff_html, diff_lines, dollars, number, signed, table_html, unseen
from ._rows import frame_of
from .client import Client
from .jobs import Deployment, Session

if TYPE_CHECKING:
    import pandas

VERDICTS = {"better": "Better", "worse": "Worse", "inconclusive": "Inconclusive"}


@dataclass(repr=False)
class Optimization:
    """The result of a search for a better prompt; the prompt given at first is the baseline."""

    job_id: str
    status: str
    messages: List[t.Message]
    baseline_messages: List[t.Message]
    verdict: Optional[str]
    """`better`, `worse` or `inconclusive`; None if nothing could be compared."""
    reward: Optional[float]
    """On the rows that the comparison rests on; see `basis`."""
    baseline_reward: Optional[float]
    interval: Optional[Tuple[float, float]]
    """95 % interval of the difference."""
    basis: Optional[str]
    """`heldout`: rows that the search never used. `evaluation`: rows that selected the winner."""
    cost_usd: Optional[float]
    """None if a price is unknown."""
    rollouts: int
    history: List[t.HistoryEntry]
    stopped_by: Optional[str]
    warnings: List[str]
    reward_interval: Optional[t.Interval] = field(default=None)
    """95 % interval of `reward` for unseen rows of the same kind."""
    rows_needed: Optional[int] = field(default=None)
    """Rows that would decide an inconclusive verdict; None if it is decided, or no difference was seen."""
    split: Optional[t.Split] = field(default=None)
    dataset_id: Optional[str] = field(default=None)
    client: Optional[Client] = field(default=None)

    @property
    def prompt(self) -> str:
        """The best prompt as text, without messages that are only placeholders."""
        return text_of(self.messages)

    @property
    def session(self) -> Session:
        """The session, for its candidates, traces and events."""
        return self._client.sessions.handle(self.job_id)

    @property
    def _client(self) -> Client:
        assert self.client is not None
        return self.client

    def deploy(
        self, name: str, *, gate: Optional[Mapping[str, Any]] = None, timeout: Optional[float] = None
    ) -> Deployment:
        """Serves the best prompt under a name; waits for the gate, and raises JobFailed if it refuses."""
        request: t.DeploymentRequest = {"name": name, "source": {"session_id": self.job_id}}
        if gate is not None:
            request["gate"] = gate
        deployment = self._client.deployments.create(**request)
        deployment.wait(timeout=timeout)
        return deployment

    def to_dataframe(self) -> pandas.DataFrame:
        """The compared rows, with the rewards of baseline and winner on each."""
        session = self.session
        candidates = list(session.candidates())
        best = session.results()["best_candidate"]
        baseline_id = next(each["candidate_id"] for each in candidates if each["is_baseline"])
        before = _by_seed(session, baseline_id)
        after = _by_seed(session, best["candidate_id"]) if best else before
        rows = _rows(self._client, self.dataset_id)
        seeds = sorted(before)
        if self.split is not None:
            seeds = self.split["heldout"] if self.basis == "heldout" else self.split["evaluation"]
        nothing: Dict[str, Any] = {}
        return frame_of(
            [
                {
                    "row": seed,
                    **rows.get(seed, {}),
                    "baseline_reward": before.get(seed, nothing).get("reward"),
                    "reward": after.get(seed, nothing).get("reward"),
                    "feedback": after.get(seed, nothing).get("feedback"),
                }
                for seed in seeds
            ]
        )

    def __repr__(self) -> str:
        lines = [
            f"Optimization {self.job_id}: {self._verdict}",
            *diff_lines(text_of(self.baseline_messages), self.prompt),
        ]
        return "\n".join([*lines, *(f"Note: {warning}" for warning in self.warnings)])

    @property
    def _verdict(self) -> str:
        counted = f"{self.rollouts} answers, {dollars(self.cost_usd)}"
        if self.verdict is None or self.interval is None:
            return f"{self.status}, reward {number(self.reward)} ({counted})"
        rows = "held-out rows" if self.basis == "heldout" else "rows that the search saw"
        low, high = self.interval
        needed = "" if self.rows_needed is None else f"; about {self.rows_needed} rows would decide"
        return (
            f"{VERDICTS.get(self.verdict, self.verdict)} on {rows}: {number(self.baseline_reward)} -> "
            f"{number(self.reward)}{unseen(self.reward_interval)}; 95 %: difference {signed(low)} to {signed(high)}"
            f"{needed}, {counted}"
        )

    def _repr_html_(self) -> str:
        interval = "none" if self.interval is None else f"{signed(self.interval[0])} to {signed(self.interval[1])}"
        rows = [
            ("verdict", VERDICTS.get(self.verdict or "", self.verdict or "none")),
            ("reward before", number(self.baseline_reward)),
            ("reward now", number(self.reward) + unseen(self.reward_interval)),
            ("95 % interval of the difference", interval),
            ("measured on", self.basis or "none"),
            ("answers", str(self.rollouts)),
            ("cost", dollars(self.cost_usd)),
            ("session", f"{self.job_id} ({self.status}, {self.stopped_by})"),
        ]
        notes = [("note", warning) for warning in self.warnings]
        before = text_of(self.baseline_messages)
        return f"<div>{table_html([*rows, *notes])}{curve_svg(self.history)}{diff_html(before, self.prompt)}</div>"


@dataclass(repr=False)
class EvaluationResult:
    """The score of a prompt on all rows."""

    job_id: str
    status: str
    reward: Optional[float]
    """The mean over the rows that succeeded."""
    succeeded: int
    failed: int
    cost_usd: Optional[float]
    results: List[t.SeedResult]
    warnings: List[str]
    reward_interval: Optional[t.Interval] = field(default=None)
    """95 % interval of `reward` for unseen rows of the same kind."""
    dataset_id: Optional[str] = field(default=None)
    client: Optional[Client] = field(default=None)

    def to_dataframe(self) -> pandas.DataFrame:
        """The rows with their rewards."""
        assert self.client is not None
        rows = _rows(self.client, self.dataset_id)
        return frame_of(
            [
                {"row": each["seed"], **rows.get(each["seed"], {}), "reward": each["reward"], "error": each["error"]}
                for each in self.results
            ]
        )

    def __repr__(self) -> str:
        failed = f"; {self.failed} failed" if self.failed else ""
        mean = f"mean reward {number(self.reward)}{unseen(self.reward_interval)}"
        line = f"Evaluation {self.job_id}: {mean} on {self.succeeded} rows{failed}"
        notes = [f"Note: {warning}" for warning in self.warnings]
        return "\n".join([f"{line}, {dollars(self.cost_usd)}", *notes])

    def _repr_html_(self) -> str:
        rows = [
            ("mean reward", number(self.reward) + unseen(self.reward_interval)),
            ("rows", str(self.succeeded)),
            ("failed", str(self.failed)),
            ("cost", dollars(self.cost_usd)),
            ("evaluation", f"{self.job_id} ({self.status})"),
            *(("note", warning) for warning in self.warnings),
        ]
        return f"<div>{table_html(rows)}</div>"


def _by_seed(session: Session, candidate_id: str) -> Dict[int, Dict[str, Any]]:
    """The last scored rollout of a candidate on each seed."""
    rollouts = session.seed_evals(candidate_id)
    return {rollout["seed"]: dict(rollout) for rollout in rollouts if rollout["reward"] is not None}


def _rows(client: Client, dataset_id: Optional[str]) -> Dict[int, Dict[str, Any]]:
    if dataset_id is None:
        return {}
    return {row["row"]: row["data"] for row in client.datasets.rows(dataset_id)}
