"""Performs the steps of calls with httpx: once blocking, once with asyncio."""

from __future__ import annotations

import asyncio
import json
import os
import time
from typing import Any, AsyncIterator, Callable, Dict, Iterator, Optional, Union

import httpx

from . import _settings
from ._events import EventCursor
from ._version import __version__
from ._wire import Call, Deadline, NoResponse, Outcome, Pager, Request, Response, Retries, Sleep, T, exchange, json_of
from .errors import ConfigurationError
from .types import Event

DEFAULT_TIMEOUT_S = 60.0


class Http:
    """What both drivers know: address, key, retries, and the form of a request."""

    def __init__(self, url: Optional[str], api_key: Optional[str], timeout: float, max_retries: int) -> None:
        self.url = _settings.service_url(url)
        self._key = _settings.header_text("api_key", _settings.api_key(self.url, api_key).strip())
        self._timeout = timeout
        self.retries = Retries(max_retries)

    def arguments(self, request: Request, opened: Any = None) -> Dict[str, Any]:
        """The arguments of an httpx request."""
        headers = {
            **{name: _settings.header_text(name, value) for name, value in request.headers.items()},
            "authorization": f"Bearer {self._key}",
            "user-agent": f"ratchet-python/{__version__}",
        }
        read = min(request.read_timeout or self._timeout, request.longest)
        timeout = httpx.Timeout(min(self._timeout, request.longest), read=read)
        arguments: Dict[str, Any] = {
            "method": request.method,
            "url": self.url + request.path,
            "headers": headers,
            "timeout": timeout,
            # httpx drops the query of a url for an empty one.
            "params": dict(request.query) or None,
        }
        if opened is not None:
            arguments["content"] = opened
        elif request.json is not None:
            headers["content-type"] = "application/json"
            arguments["content"] = _json_body(request)
        return arguments


def _json_body(request: Request) -> bytes:
    try:
        return json.dumps(request.json, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigurationError(f"{request.name}: the request is no JSON: {error}") from None


def _response(response: httpx.Response, body: bytes = b"") -> Response:
    return Response(response.status_code, dict(response.headers), body)


class SyncHttp(Http):
    def __init__(self, url: Optional[str], api_key: Optional[str], timeout: float, max_retries: int) -> None:
        super().__init__(url, api_key, timeout, max_retries)
        self._client = httpx.Client(follow_redirects=False, mounts=_settings.DIRECT)

    def close(self) -> None:
        self._client.close()

    def anew(self) -> SyncHttp:
        """The same with connections of its own, for the child of a fork."""
        return SyncHttp(self.url, self._key, self._timeout, self.retries.most)

    def run(self, call: Call[T]) -> T:
        outcome: Optional[Outcome] = None
        while True:
            try:
                step = call.send(outcome)
            except StopIteration as done:
                result: T = done.value
                return result
            outcome = None
            if isinstance(step, Sleep):
                time.sleep(step.seconds)
            else:
                outcome = self._perform(step)

    def json(self, request: Request, deadline: Optional[Deadline] = None) -> Any:
        return json_of(request, self.run(exchange(request, self.url, self.retries, deadline)), self.url)

    def rows(self, pager: Pager) -> Iterator[Any]:
        while not pager.done:
            yield from pager.rows(self.json(pager.request()))

    def events(self, cursor: EventCursor) -> Iterator[Event]:
        while not cursor.done:
            outcome: Outcome
            try:
                with self._client.stream(**self.arguments(cursor.request())) as response:
                    outcome = _response(response)
                    if not outcome.ok:
                        outcome = _response(response, response.read())
                    elif cursor.opened(outcome):
                        for chunk in response.iter_bytes():
                            yield from cursor.feed(chunk)
                            if cursor.must_reopen():
                                break
                        else:
                            cursor.closed(clean=True)
                            outcome = NoResponse(ConnectionError("the stream ended before the job"))
            except httpx.RequestError as error:
                outcome = NoResponse(error)
            if not cursor.done and not _reopens(outcome):
                time.sleep(cursor.wait_after(outcome, self.retries))

    def _perform(self, request: Request) -> Outcome:
        try:
            if request.file is not None:
                with open(request.file, "rb") as file:
                    return self._send(request, file)
            return self._send(request)
        except httpx.RequestError as error:
            return NoResponse(error)

    def _send(self, request: Request, content: Any = None) -> Outcome:
        with self._client.stream(**self.arguments(request, content)) as response:
            if request.save_to is None or not response.is_success:
                return _response(response, response.read())
            with _Saved(request.save_to) as write:
                for chunk in response.iter_bytes():
                    write(chunk)
            return _response(response)


class AsyncHttp(Http):
    def __init__(self, url: Optional[str], api_key: Optional[str], timeout: float, max_retries: int) -> None:
        super().__init__(url, api_key, timeout, max_retries)
        self._client = httpx.AsyncClient(follow_redirects=False, mounts=_settings.DIRECT)

    async def close(self) -> None:
        await self._client.aclose()

    async def run(self, call: Call[T]) -> T:
        outcome: Optional[Outcome] = None
        while True:
            try:
                step = call.send(outcome)
            except StopIteration as done:
                result: T = done.value
                return result
            outcome = None
            if isinstance(step, Sleep):
                await asyncio.sleep(step.seconds)
            else:
                outcome = await self._perform(step)

    async def json(self, request: Request, deadline: Optional[Deadline] = None) -> Any:
        return json_of(request, await self.run(exchange(request, self.url, self.retries, deadline)), self.url)

    async def rows(self, pager: Pager) -> AsyncIterator[Any]:
        while not pager.done:
            for row in pager.rows(await self.json(pager.request())):
                yield row

    async def events(self, cursor: EventCursor) -> AsyncIterator[Event]:
        while not cursor.done:
            outcome: Outcome
            try:
                async with self._client.stream(**self.arguments(cursor.request())) as response:
                    outcome = _response(response)
                    if not outcome.ok:
                        outcome = _response(response, await response.aread())
                    elif cursor.opened(outcome):
                        async for chunk in response.aiter_bytes():
                            for event in cursor.feed(chunk):
                                yield event
                            if cursor.must_reopen():
                                break
                        else:
                            cursor.closed(clean=True)
                            outcome = NoResponse(ConnectionError("the stream ended before the job"))
            except httpx.RequestError as error:
                outcome = NoResponse(error)
            if not cursor.done and not _reopens(outcome):
                await asyncio.sleep(cursor.wait_after(outcome, self.retries))

    async def _perform(self, request: Request) -> Outcome:
        try:
            if request.file is not None:
                with open(request.file, "rb") as file:
                    return await self._send(request, _chunks(file))
            return await self._send(request)
        except httpx.RequestError as error:
            return NoResponse(error)

    async def _send(self, request: Request, content: Any = None) -> Outcome:
        async with self._client.stream(**self.arguments(request, content)) as response:
            if request.save_to is None or not response.is_success:
                return _response(response, await response.aread())
            with _Saved(request.save_to) as write:
                async for chunk in response.aiter_bytes():
                    write(chunk)
            return _response(response)


def _reopens(outcome: Outcome) -> bool:
    """Whether a stream was left only to open it with a shorter time-out."""
    return isinstance(outcome, Response) and outcome.ok


async def _chunks(file: Any) -> AsyncIterator[bytes]:
    while chunk := file.read(65_536):
        yield chunk


class _Saved:
    """A file that appears whole or not at all."""

    def __init__(self, path: Union[str, os.PathLike[str]]) -> None:
        self._path = os.fspath(path)
        self._draft = f"{self._path}.part"

    def __enter__(self) -> Callable[[bytes], int]:
        self._file = open(self._draft, "wb")
        return self._file.write

    def __exit__(self, kind: object, *_: object) -> None:
        self._file.close()
        if kind is None:
            os.replace(self._draft, self._path)
        else:
            os.unlink(self._draft)
