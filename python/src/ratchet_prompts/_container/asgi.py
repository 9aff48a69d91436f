"""A container as an ASGI app, for FastAPI, Starlette and others."""

from __future__ import annotations

import asyncio
from typing import Any, Awaitable, Callable, Dict, MutableMapping, Optional

from .answer import Answer, problem
from .request import MAX_BODY_BYTES, is_own_name
from .runner import Runner

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class AsgiApp:
    """Mount it, or give it to a server: `app.mount("/", container.asgi())`."""

    def __init__(self, make: Callable[[], Runner], has_key: bool) -> None:
        self._make = make
        self._has_key = has_key
        self._runner: Optional[Runner] = None

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self._lifespan(receive, send)
        if scope["type"] != "http":
            raise TypeError(f"a container takes http requests only, not {scope['type']}")
        # The Host header is the caller's to choose.
        if not self._has_key and not is_own_name((scope.get("client") or ("",))[0]):
            return await _send(send, problem(403, "without a key, only callers of this machine are answered"))
        body = await _body(receive)
        if isinstance(body, Answer):
            return await _send(send, body)
        headers: Dict[str, str] = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        target = _path(scope) + "?" + scope.get("query_string", b"").decode("latin-1")
        if self._runner is None:
            self._runner = self._make()
        work = asyncio.ensure_future(self._runner.answer(scope["method"], target, headers, body))
        gone = asyncio.ensure_future(_until_gone(receive))
        try:
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                await _send(send, work.result())
        finally:
            for task in (work, gone):
                task.cancel()

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.shutdown" and self._runner is not None:
                await self._runner.close()
            await send({"type": f"{message['type']}.complete"})
            if message["type"] == "lifespan.shutdown":
                return


def _path(scope: MutableMapping[str, Any]) -> str:
    """The path below the place where the app is mounted."""
    path, root = str(scope["path"]), str(scope.get("root_path", "")).rstrip("/")
    return path[len(root) :] if root and path.startswith(root + "/") else path


async def _body(receive: Receive) -> bytes | Answer:
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return problem(400, "the body broke off")
        body += bytes(message.get("body", b""))
        if len(body) > MAX_BODY_BYTES:
            return problem(413, "the body is larger than 10 MiB")
        if not message.get("more_body", False):
            return body


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _send(send: Send, answer: Answer) -> None:
    headers = [(name.encode(), value.encode("latin-1")) for name, value in answer.headers.items()]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})
