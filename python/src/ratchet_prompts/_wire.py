"""Decisions about requests and answers, without I/O; the drivers of _http.py perform the steps."""

from __future__ import annotations

import json
import math
import random
import time
import uuid
from dataclasses import dataclass, field, replace
from typing import Any, Generator, Mapping, Optional, TypeVar, Union
from urllib.parse import quote

from ._retries import may_pass
from .errors import ConfigurationError, RatchetError, ServiceUnreachable, WaitTimeout

T = TypeVar("T")

LONGEST_WAIT_S = 60.0
"""A longer Retry-After is the caller's to wait for: a quota that ends tomorrow, for example."""


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    json: Any = None
    file: Optional[str] = None
    """Path of a file that is the body."""
    headers: Mapping[str, str] = field(default_factory=dict)
    save_to: Optional[str] = None
    """Path of the file that takes the body of a successful answer."""
    repeatable: bool = True
    """Whether a second copy of it does no harm."""
    read_timeout: Optional[float] = None
    longest: float = math.inf
    """Seconds that bound every time-out of it."""

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"


@dataclass(frozen=True)
class Response:
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300


@dataclass(frozen=True)
class NoResponse:
    """No answer, or a broken one."""

    cause: Exception


@dataclass(frozen=True)
class Sleep:
    seconds: float


Outcome = Union[Response, NoResponse]
Step = Union[Request, Sleep]
Call = Generator[Step, Any, T]
"""An operation: it yields steps, is sent their outcomes, and returns its result."""


@dataclass(frozen=True)
class Retries:
    most: int = 5
    base_s: float = 0.5
    longest_s: float = 8.0

    def pause(self, attempt: int) -> float:
        """The wait after a failed attempt (from 0), half of it at random."""
        return min(self.longest_s, self.base_s * 2.0**attempt) * random.uniform(0.5, 1)


def path_of(collection: str, *parts: str) -> str:
    """A path below a collection; no part can leave it."""
    for part in parts:
        if not isinstance(part, str) or part in ("", ".", ".."):
            raise ConfigurationError(f"id: {part!r} is no id; give that of a job, a data set or another resource")
    return "/".join([collection, *(quote(part, safe="") for part in parts)])


def creating(request: Request, key: Optional[str] = None) -> Request:
    """A POST that happens once, however often it is sent."""
    headers = {**request.headers, "idempotency-key": key or str(uuid.uuid4())}
    return replace(request, headers=headers, repeatable=True)


class Deadline:
    """The end of a wait for a job; without a timeout it never comes."""

    def __init__(self, job_id: str = "", timeout: Optional[float] = None) -> None:
        self._job_id = job_id
        self._timeout = math.inf if timeout is None else timeout
        self._end = time.monotonic() + self._timeout

    def left(self) -> float:
        """The seconds that are left; raises WaitTimeout if there are none."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise WaitTimeout(f"{self._job_id} has not ended within {self._timeout:g} s; it goes on.")
        return left

    def bound(self, request: Request) -> Request:
        """The request with no longer time than is left."""
        left = self.left()
        return request if left == math.inf else replace(request, longest=left)


def exchange(request: Request, base: str, retries: Retries, deadline: Optional[Deadline] = None) -> Call[Response]:
    """Sends a request, again if that can help; returns a successful answer."""
    deadline = deadline or Deadline()
    attempt = 0
    may_have_worked = False
    while True:
        outcome: Outcome = yield deadline.bound(request)
        if isinstance(outcome, Response) and outcome.ok:
            return outcome
        is_missing = isinstance(outcome, Response) and outcome.status == 404
        if may_have_worked and is_missing and request.method == "DELETE":
            return Response(204)
        may_have_worked = may_have_worked or not _is_refused(outcome)
        wait = wait_before_retry(request, outcome, attempt, retries)
        if wait is None:
            raise failure(request, outcome, base)
        yield Sleep(min(wait, deadline.left()))
        attempt += 1


def _is_refused(outcome: Outcome) -> bool:
    """Whether the request was refused before any work; a 503 may be the answer to work that was done."""
    if isinstance(outcome, NoResponse):
        return False
    return outcome.status in (429, 498) or problem(outcome).get("code") == "draining"


def wait_before_retry(request: Request, outcome: Outcome, attempt: int, retries: Retries) -> Optional[float]:
    """The seconds until the next try; None: no further one."""
    if attempt >= retries.most:
        return None
    if isinstance(outcome, NoResponse):
        return retries.pause(attempt) if request.repeatable else None
    advice = outcome.headers.get("x-should-retry")
    is_in_flight = outcome.status == 409 and problem(outcome).get("code") == "request_in_flight"
    is_safe = request.repeatable and may_pass(outcome.status)
    if advice == "false" or not (advice == "true" or _is_refused(outcome) or is_in_flight or is_safe):
        return None
    after = retry_after(outcome)
    if after is None:
        return retries.pause(attempt)
    return None if after > LONGEST_WAIT_S else after + random.uniform(0, retries.base_s)


def retry_after(response: Response) -> Optional[float]:
    text = response.headers.get("retry-after", "").strip()
    try:
        return max(0.0, float(text))
    except ValueError:
        return None


def problem(response: Response) -> Mapping[str, Any]:
    try:
        body = json.loads(response.body)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def failure(request: Request, outcome: Outcome, base: str) -> RatchetError:
    if isinstance(outcome, NoResponse):
        reason = str(outcome.cause) or type(outcome.cause).__name__
        error: RatchetError = ServiceUnreachable(
            f"{request.name}: the service at {base} does not answer ({reason}). Start it, or check the url."
        )
        error.__cause__ = outcome.cause
        return error
    body = problem(outcome)
    inner = body.get("error")
    openai = inner if isinstance(inner, dict) else {}
    detail = body.get("detail") or openai.get("message")
    if detail is None:
        text = outcome.body.decode(errors="replace").strip()[:200]
        detail = f'no answer of Ratchet from {base}: "{text}". Check that the url names the service itself.'
    return RatchetError(
        f"{request.name}: {outcome.status} {detail}",
        status=outcome.status,
        code=body.get("code") or openai.get("code"),
        errors=body.get("errors") or (),
        request_id=body.get("request_id") or outcome.headers.get("x-request-id"),
        retry_after=retry_after(outcome),
    )


def json_of(request: Request, response: Response, base: str) -> Any:
    if response.status == 204 or not response.body:
        return None
    try:
        return json.loads(response.body)
    except ValueError:
        raise failure(request, response, base) from None


class Pager:
    """Walks through a list by `next_cursor`, or by `offset` where the answer has no cursor."""

    def __init__(self, path: str, query: Mapping[str, Any], rows_field: str = "data") -> None:
        self._path = path
        self._query = {name: value for name, value in query.items() if value is not None}
        self._rows_field = rows_field
        self.done = False

    def request(self) -> Request:
        return Request("GET", self._path, self._query)

    def rows(self, page: Mapping[str, Any]) -> Any:
        rows = page[self._rows_field]
        if "next_cursor" in page:
            self._query["cursor"] = page["next_cursor"]
            self.done = page["next_cursor"] is None
        else:
            self._query["offset"] = int(self._query.get("offset", 0)) + len(rows)
            self.done = not rows
        return rows
