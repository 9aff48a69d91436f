"""A real HTTP server before the service that loses and breaks what it is told to."""

from __future__ import annotations

import contextlib
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Dict, List, Optional

import httpx


@dataclass
class Fault:
    """What happens to one request."""

    status: Optional[int] = None
    """Answered in place of the service."""
    headers: Optional[Dict[str, str]] = None
    lose_answer: bool = False
    """The service gets the request, the caller no answer."""
    cut_after: Optional[int] = None
    """Bytes of the answer that pass."""


class FaultyProxy:
    """`encoding` is the one that the service may use."""

    def __init__(self, target: str) -> None:
        self._target = target
        self.faults: List[Fault] = []
        self.encoding = "identity"
        self.requests: List[Dict[str, Any]] = []
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def __enter__(self) -> FaultyProxy:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _take(self, request: Dict[str, Any]) -> Fault:
        with self._lock:
            self.requests.append(request)
            return self.faults.pop(0) if self.faults else Fault()

    def _handler(proxy) -> Any:
        class Handler(BaseHTTPRequestHandler):
            def handle_one(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                fault = proxy._take({"method": self.command, "path": self.path, "headers": headers, "body": body})
                if fault.status is not None:
                    return self.reply(fault.status, fault.headers or {}, b'{"detail": "not now"}')
                sent = {name: value for name, value in headers.items() if name not in ("host", "connection")}
                sent["accept-encoding"] = proxy.encoding
                request = {"method": self.command, "url": proxy._target + self.path, "headers": sent, "content": body}
                with httpx.stream(**request, timeout=60) as response:
                    if fault.lose_answer:
                        response.read()
                        return
                    self.send_response(response.status_code)
                    for name, value in response.headers.items():
                        if name not in ("transfer-encoding", "connection", "content-length"):
                            self.send_header(name, value)
                    if response.status_code in (204, 304):
                        return self.end_headers()
                    # Cut in the middle of a chunk, a broken body is not taken for a whole one.
                    self.send_header("transfer-encoding", "chunked")
                    self.end_headers()
                    self.forward(response, fault.cut_after)

            protocol_version = "HTTP/1.1"
            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_one

            def forward(self, response: httpx.Response, left: Optional[int]) -> None:
                for chunk in response.iter_raw():
                    part = chunk if left is None else chunk[:left]
                    self.wfile.write(f"{len(chunk):x}\r\n".encode() + part)
                    self.wfile.flush()
                    if left is not None:
                        left -= len(part)
                        if len(part) < len(chunk) or left == 0:
                            return
                    self.wfile.write(b"\r\n")
                self.wfile.write(b"0\r\n\r\n")

            def reply(self, status: int, headers: Dict[str, str], body: bytes) -> None:
                self.send_response(status)
                for name, value in {**headers, "content-length": str(len(body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def handle(self) -> None:
                with contextlib.suppress(ConnectionError, httpx.HTTPError):
                    self.handle_one_request()

            def log_message(self, *_: Any) -> None:
                pass

        return Handler
