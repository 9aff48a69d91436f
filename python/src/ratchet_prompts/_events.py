"""The cursor of an event stream, without I/O: what to ask for next, and what to pass on."""

from __future__ import annotations

import json
from typing import Iterator, List, Optional, cast

from ._wire import Deadline, Outcome, Request, Response, Retries, failure, wait_before_retry
from .errors import RatchetError
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

OVERTIME_S = 0.5
"""How much longer than its time-out a wait may take."""

STREAM_RETRIES = 12
"""Tries in a row without a byte: about a minute and a half."""


class EventCursor:
    """Events of a job in order and each once, over any number of connections."""

    def __init__(self, path: str, base: str, after: int = 0, deadline: Optional[Deadline] = None) -> None:
        self._path = path
        self._base = base
        self._last = after
        self._last_type: Optional[str] = None
        self._failures = 0
        self._deadline = deadline or Deadline()
        self._buffer = b""
        self._read_timeout = SILENCE_S
        self.done = False

    def request(self) -> Request:
        """The request of the next connection."""
        self._buffer = b""
        self._read_timeout = min(SILENCE_S, self._deadline.left())
        headers = {"accept": "text/event-stream", "last-event-id": str(self._last)}
        request = Request("GET", self._path, headers=headers, read_timeout=self._read_timeout)
        return self._deadline.bound(request)

    def opened(self, response: Response) -> bool:
        """Whether the answer is a stream to read; else the job has no more events."""
        self.done = response.status == 204
        kind = response.headers.get("content-type", "").split(";")[0].strip().lower()
        if not self.done and kind != "text/event-stream":
            raise RatchetError(
                f'GET {self._path}: {response.status} with the content type "{kind}" from {self._base}, in place of '
                "text/event-stream. Check that the url names the service itself.",
                status=response.status,
            )
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
        """Whether the silence that the connection allows ends too long after the deadline."""
        return self._read_timeout - self._deadline.left() > min(OVERTIME_S, self._read_timeout / 2)

    def closed(self, clean: bool) -> None:
        """The connection has ended. Only after a clean end is a terminal event the last one."""
        self.done = clean and self._last_type in TERMINAL

    def wait_after(self, outcome: Outcome, retries: Retries) -> float:
        """The wait before the next connection; raises if there shall be none."""
        self._deadline.left()
        lasting = Retries(max(retries.most, STREAM_RETRIES), retries.base_s, retries.longest_s)
        request = Request("GET", self._path)
        wait = wait_before_retry(request, outcome, self._failures, lasting)
        if wait is None:
            raise failure(request, outcome, self._base)
        self._failures += 1
        return min(wait, self._deadline.left())


def _event(block: bytes) -> Optional[Event]:
    data: List[str] = []
    for line in block.decode().split("\n"):
        name, _, value = line.partition(":")
        if name == "data":
            data.append(value[1:] if value.startswith(" ") else value)
    return cast(Event, json.loads("\n".join(data))) if data else None
