"""Serves metrics, which are functions of this process, as HTTP scorers on 127.0.0.1."""

from __future__ import annotations

import inspect
import secrets
import threading
from dataclasses import replace
from typing import Any, Callable, Dict, Hashable, Mapping, Optional

from ._container.answer import Answer, json_answer, problem
from ._container.request import BadRequest, check_access, read_json
from ._container.runner import call
from ._container.score import Score, ScoreLike, score_of
from ._container.server import LocalServer
from .errors import ConfigurationError

Metric = Callable[..., ScoreLike]
ROUNDING = 1e-9
"""What sums of weights may miss 0 or 1 by."""


def check_metric(function: Metric) -> None:
    """Refuses a function that cannot be called with a row and an answer, before anything is spent."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        # Some builtins tell nothing.
        return
    try:
        signature.bind({}, "")
    except TypeError as error:
        raise ConfigurationError(f"metric: is called with a row and an answer, but {error}") from None


class ServedMetric:
    """A metric with its address and what went wrong in it."""

    def __init__(self, function: Metric) -> None:
        self.function = function
        self.path = f"/score/{secrets.token_urlsafe(24)}"
        self.first_error: Optional[BaseException] = None
        self.errors = 0

    async def score(self, row: Any, output: str) -> Score:
        returned = await call(self.function, row, output)
        score = score_of(returned, getattr(self.function, "__name__", "the metric"))
        if not -ROUNDING <= score.reward <= 1 + ROUNDING:
            raise ValueError(f"the metric returned {score.reward!r}; it must return a number from 0 to 1")
        return replace(score, reward=min(1.0, max(0.0, score.reward)))

    def failed(self, error: BaseException) -> None:
        self.errors += 1
        self.first_error = self.first_error or error


class MetricServer:
    """One server for the process; a metric keeps its address, so that its jobs can be compared."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._server: Optional[LocalServer] = None
        self._by_function: Dict[Hashable, ServedMetric] = {}
        self._by_path: Dict[str, ServedMetric] = {}

    def serve(self, function: Metric) -> tuple[str, ServedMetric]:
        """The URL of a metric; the threads end with the process."""
        with self._lock:
            if self._server is None:
                self._server = LocalServer(self._answer, _nothing)
            known_as = function if isinstance(function, Hashable) else id(function)
            served = self._by_function.get(known_as)
            if served is None:
                served = self._by_function[known_as] = ServedMetric(function)
                self._by_path[served.path] = served
            served.first_error, served.errors = None, 0
            return self._server.url + served.path, served

    async def _answer(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Answer:
        served = self._by_path.get(target)
        if served is None or method != "POST":
            return problem(404, "unknown path")
        try:
            check_access(headers, None)
            given = read_json(headers, body)
            score = await served.score(given["row"], given["output"])
        except BadRequest as error:
            return problem(error.status, str(error))
        except Exception as error:
            served.failed(error)
            # Not tried again: the same answer has the same error.
            return problem(422, f"the metric raised {type(error).__name__}: {error}")
        details = score.details or None
        return json_answer(200, {"reward": score.reward, "feedback": score.feedback, "details": details})


async def _nothing() -> None:
    pass


metric_server = MetricServer()
