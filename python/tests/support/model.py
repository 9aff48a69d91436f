"""A model as a real HTTP server with OpenAI's chat completions."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Dict, List, Optional

Answering = Callable[[Dict[str, Any]], Any]


class FakeModel:
    """`answer` gets the body; a text is the answer, an int a status, None breaks the connection."""

    def __init__(self, answer: Answering) -> None:
        self.answer = answer
        self.requests: List[Dict[str, Any]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def __enter__(self) -> FakeModel:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handler(model) -> Any:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                headers = {name.lower(): value for name, value in self.headers.items()}
                model.requests.append({"path": self.path, "headers": headers, "body": body})
                answer: Optional[Any] = model.answer(body)
                if answer is None:
                    return
                is_status = isinstance(answer, int)
                message = {"choices": [{"message": {"role": "assistant", "content": answer}}]}
                data = json.dumps({"error": {"message": "busy"}} if is_status else message).encode()
                self.send_response(answer if is_status else 200)
                for name, value in {"retry-after": "7", "content-length": str(len(data))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                pass

        return Handler
