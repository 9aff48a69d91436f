"""The cursor of an event stream, without I/O: what to ask for next, and what to pass on."""

from __future__ import annotations

import json
import time
from typing import Iterator, List, Optional, cast

from ._wire import Outcome, Request, Response, Retries, failure, wait_before_retry
from .errors import WaitTimeout
from .types import Event

TERMINAL = frozenset(
    f"{name}{ending}"
    for name, endings in {
        "job_": ("complete", "failed", "cancelled"),
        "eval.policy.job.": ("completed", "failed", "cancelled"),
    }.items()
    for ending in endings
)

SILENCE_S = 40.0
"""The service comments every 15 s, so a longer silence is a lost connection."""

STREAM_RETRIES = 12
"""Tries in a row without a byte: about a minute and a half."""


class EventCursor:
    """Events of a job in order and each once, over any number of connections."""

    def __init__(self, path: str, base: str, after: int = 0, timeout: Optional[float] = None) -> None:
        self._path = path
        self._base = base
        self._last = after
        self._last_type: Optional[str] = None
        self._failures = 0
        self._timeout = timeout
        self._deadline = None if timeout is None else time.monotonic() + timeout
        self._buffer = b""
        self._read_timeout = SILENCE_S
        self.done = False

    def request(self) -> Request:
        """The request of the next connection."""
        self._buffer = b""
        self._read_timeout = min(SILENCE_S, self._left())
        headers = {"accept": "text/event-stream", "last-event-id": str(self._last)}
        return Request("GET", self._path, headers=headers, read_timeout=self._read_timeout)

    def opened(self, response: Response) -> bool:
        """Whether the answer is a stream to read; else the job has no more events."""
        self.done = response.status == 204
        return not self.done

    def feed(self, chunk: bytes) -> Iterator[Event]:
        """The new events in a piece of the stream."""
        self._failures = 0
        self._buffer += chunk
        *blocks, self._buffer = self._buffer.replace(b"\r\n", b"\n").split(b"\n\n")
        for block in blocks:
            event = _event(block)
            if event is None or event["seq"] <= self._last:
                continue
            self._last = event["seq"]
            self._last_type = event["type"]
            yield event

    def must_reopen(self) -> bool:
        """Whether the silence that the connection allows is longer than the time that is left."""
        return self._deadline is not None and self._left() < self._read_timeout / 2

    def closed(self, clean: bool) -> None:
        """The connection has ended. Only after a clean end is a terminal event the last one."""
        self.done = clean and self._last_type in TERMINAL

    def wait_after(self, outcome: Outcome, retries: Retries) -> float:
        """The wait before the next connection; raises if there shall be none."""
        self._left()
        lasting = Retries(max(retries.most, STREAM_RETRIES), retries.base_s, retries.longest_s)
        request = Request("GET", self._path)
        wait = wait_before_retry(request, outcome, self._failures, lasting)
        if wait is None:
            raise failure(request, outcome, self._base)
        self._failures += 1
        return wait if self._deadline is None else min(wait, self._left())

    def _left(self) -> float:
        if self._deadline is None:
            return SILENCE_S
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise WaitTimeout(f"{self._path} has not ended within {self._timeout:g} s; the job goes on.")
        return left


def _event(block: bytes) -> Optional[Event]:
    data: List[str] = []
    for line in block.decode().split("\n"):
        name, _, value = line.partition(":")
        if name == "data":
            data.append(value[1:] if value.startswith(" ") else value)
    return cast(Event, json.loads("\n".join(data))) if data else None
