"""A server of the standard library around an answering coroutine."""

from __future__ import annotations

import asyncio
import concurrent.futures
import select
import socket
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Awaitable, Callable, Coroutine, Mapping, Optional

from ..errors import ConfigurationError
from .answer import Answer, problem
from .request import MAX_BODY_BYTES, is_own_name

Answering = Callable[[str, str, Mapping[str, str], bytes], Coroutine[Any, Any, Answer]]
LOOK_S = 0.25
"""Time between two looks whether the caller of a running rollout is still there."""


def check_host(host: str, key: Optional[str]) -> None:
    if key == "":
        raise ConfigurationError("key: is empty; give a key, or leave it out")
    if key is None and not is_own_name(host):
        raise ConfigurationError(f"key: is missing; without a key a container listens on 127.0.0.1 only, not on {host}")


class LocalServer:
    """Serves in threads, with one event loop beside them; ends with `close` or the process."""

    def __init__(
        self, answer: Answering, closed: Callable[[], Awaitable[None]], host: str = "127.0.0.1", port: int = 0
    ) -> None:
        self._closed = closed
        self._loop = asyncio.new_event_loop()
        self._server = _Server((host, port), _handler(answer, self._loop))
        self.port = int(self._server.server_address[1])
        self.url = f"http://{f'[{host}]' if ':' in host else host}:{self.port}"
        self._threads = [
            threading.Thread(target=target, daemon=True, name="ratchet-server")
            for target in (self._loop.run_forever, lambda: self._server.serve_forever(0.1))
        ]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        if self._loop.is_closed():
            return
        self._server.shutdown()
        self._server.server_close()
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        for thread in self._threads:
            thread.join()
        self._loop.close()

    async def _end(self) -> None:
        here = asyncio.current_task()
        others = [task for task in asyncio.all_tasks() if task is not here]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await self._closed()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def __init__(self, address: Any, handler: Any) -> None:
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        super().__init__(address, handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A caller that breaks off is no error of this program."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def _handler(answering: Answering, loop: asyncio.AbstractEventLoop) -> Any:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Headers and body leave together.
        wbufsize = -1
        disable_nagle_algorithm = True

        def _handle(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            length = headers.get("content-length", "0")
            if not length.isdigit():
                return self._send(problem(400, "Content-Length must be a number"), close=True)
            if int(length) > MAX_BODY_BYTES:
                return self._send(problem(413, "the body is larger than 10 MiB"), close=True)
            if "transfer-encoding" in headers:
                return self._send(problem(411, "send the body with a Content-Length"), close=True)
            body = self.rfile.read(int(length))
            # A connection may outlive its server.
            if loop.is_closed():
                return self._send(problem(503, "the container has ended"), close=True)
            work = answering(self.command, self.path, headers, body)
            running = asyncio.run_coroutine_threadsafe(work, loop)
            answer = self._result(running)
            if answer is None:
                self.close_connection = True
            else:
                self._send(answer)

        do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = _handle

        def _result(self, running: concurrent.futures.Future[Answer]) -> Optional[Answer]:
            """The answer; None if the caller has gone or the server closes."""
            while not concurrent.futures.wait([running], LOOK_S).done:
                if self._is_gone():
                    running.cancel()
                    return None
            try:
                return running.result()
            except concurrent.futures.CancelledError:
                return None
            except Exception as error:
                return problem(500, f"{type(error).__name__}: {error}")

        def _is_gone(self) -> bool:
            try:
                if not select.select([self.connection], [], [], 0)[0]:
                    return False
                return not self.connection.recv(1, socket.MSG_PEEK)
            except (OSError, ValueError):
                return True

        def _send(self, answer: Answer, close: bool = False) -> None:
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if close:
                self.send_header("connection", "close")
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, *_: Any) -> None:
            pass

    return Handler
