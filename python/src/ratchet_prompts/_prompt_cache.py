"""What is known of prompts, and what to do next: no I/O but files. The clients perform the requests."""

from __future__ import annotations

import json
import math
import os
import time
from typing import Any, Dict, Generic, Mapping, Optional, TypeVar

from . import _prompt_files as files
from ._requests import DEPLOYMENTS
from ._retries import may_pass
from ._wire import Call, NoResponse, Outcome, Request, Response, Retries, exchange, failure, path_of
from .errors import ConfigurationError, RatchetError, ServiceUnreachable
from .prompts import Prompt

PAUSE_S = 5.0
"""Between two questions while the service does not answer."""
HASTY_S = 5.0
"""Limit of a question to which an answer is at hand."""

Asking = TypeVar("Asking")


class Wanted:
    """A prompt that a caller asks for."""

    def __init__(
        self,
        name: str,
        label: Optional[str],
        version: Optional[int],
        ttl: float,
        folder: Optional[str | os.PathLike[str]],
        fallback: Optional[Mapping[str, Any]],
    ) -> None:
        if label is not None and version is not None:
            raise ConfigurationError("prompt: give a label or a version, not both")
        part = label if label is not None else version
        self.ref = name if part is None else f"{name}@{part}"
        self.ttl = ttl
        self.folder = None if folder is None else os.fspath(folder)
        self.fallback = fallback


class Entry(Generic[Asking]):
    """What is known of a prompt. `asking`: the question that is under way."""

    def __init__(self, ref: str) -> None:
        self.ref = ref
        self.known: Optional[files.Known] = None
        self.prompt: Optional[Prompt] = None
        self.asked_at = -math.inf
        self.next_at = -math.inf
        self.failure: Optional[RatchetError] = None
        self.is_refused = False
        self.asking: Optional[Asking] = None

    def at_hand(self, wanted: Wanted) -> Optional[Prompt]:
        """The prompt for an answer without a request; `is_due` says whether to ask as well."""
        return self.prompt if not self.is_refused and wanted.ttl > 0 else None

    def is_due(self, wanted: Wanted) -> bool:
        now = time.monotonic()
        return now - self.asked_at >= wanted.ttl and now >= self.next_at

    def is_hasty(self, wanted: Wanted) -> bool:
        return self.prompt is not None or wanted.folder is not None or wanted.fallback is not None

    def is_paused(self, wanted: Wanted) -> bool:
        """Whether the service has just failed, and something else is at hand."""
        return self.is_hasty(wanted) and not self.is_refused and time.monotonic() < self.next_at

    def answer(self, wanted: Wanted, url: str) -> Prompt:
        """The answer after a question; raises its refusal, or why nothing is known."""
        if self.is_refused and self.failure is not None:
            raise self.failure
        if self.prompt is None and wanted.folder is not None:
            kept = files.read(wanted.folder, url, self.ref)
            if kept is not None:
                self._take(kept, "file")
        if self.prompt is not None:
            return self.prompt
        if wanted.fallback is not None:
            return Prompt(self.ref, wanted.fallback, "fallback")
        assert self.failure is not None
        raise self.failure

    def question(self, wanted: Wanted, url: str, retries: Retries) -> Call[None]:
        """Asks the service, and notes what it says. Raises nothing that a request can."""
        is_hasty = self.is_hasty(wanted)
        headers = {"accept": "application/json"}
        if self.known is not None:
            headers["if-none-match"] = self.known.etag
        longest = HASTY_S if is_hasty else math.inf
        request = Request("GET", path_of(DEPLOYMENTS, self.ref, "prompt"), headers=headers, longest=longest)
        try:
            outcome = yield from _answered(request, url, Retries(0) if is_hasty else retries)
            self._note(request, outcome, wanted, url)
            self.is_refused = False
            self.asked_at = time.monotonic()
        except RatchetError as error:
            self.failure = error
            self.is_refused = not _may_pass(error)
            self.next_at = time.monotonic() + PAUSE_S

    def _note(self, request: Request, response: Response, wanted: Wanted, url: str) -> None:
        if response.status == 304:
            if self.known is not None and self.prompt is not None and self.prompt.source == "file":
                self._take(self.known, "service")
            return
        try:
            known = files.Known(response.headers.get("etag", ""), json.loads(response.body))
            self._take(known, "service")
        except (ValueError, KeyError, TypeError) as error:
            raise failure(request, NoResponse(error), url) from error
        if wanted.folder is not None:
            files.write(wanted.folder, url, self.ref, known)

    def _take(self, known: files.Known, source: str) -> None:
        prompt = Prompt(self.ref, known.prompt, source)
        self.known, self.prompt = known, prompt


def _answered(request: Request, url: str, retries: Retries) -> Call[Response]:
    """The exchange of a request, for which 304 is a success."""
    call = exchange(request, url, retries)
    outcome: Optional[Outcome] = None
    while True:
        try:
            step = call.send(outcome)
        except StopIteration as done:
            response: Response = done.value
            return response
        outcome = yield step
        if isinstance(outcome, Response) and outcome.status == 304:
            call.close()
            return outcome


def _may_pass(error: RatchetError) -> bool:
    """Whether the service may answer later; all else is a refusal, which no known prompt hides."""
    if error.status is None:
        return isinstance(error, ServiceUnreachable)
    return may_pass(error.status) or error.code == "not_ready"


class Entries(Generic[Asking]):
    """The prompts of a client, by reference."""

    def __init__(self) -> None:
        self._entries: Dict[str, Entry[Asking]] = {}

    def of(self, ref: str) -> Entry[Asking]:
        return self._entries.setdefault(ref, Entry(ref))

    def forget_questions(self) -> None:
        """After a fork: nobody in this process answers them."""
        for entry in self._entries.values():
            entry.asking = None
