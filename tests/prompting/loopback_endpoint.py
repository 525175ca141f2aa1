"""An OpenAI-compatible endpoint on this machine that does as a test tells it."""

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass(frozen=True)
class Response:
    """What is sent back: a status and a body, after a while; a body of None drops the connection."""

    body: bytes | None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0


def said(content: str | None, finish: str = "stop", **changes: Any) -> Response:
    completion = {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": "tiny",
        "choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content}}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13},
    }
    return Response(json.dumps(completion).encode(), **changes)


def failed(status: int, message: str = "no", code: str | None = None, **changes: Any) -> Response:
    return Response(json.dumps({"error": {"message": message, "code": code}}).encode(), status, **changes)


class Loopback:
    """A server that answers request number `n` (from 0) with `behave(n, payload)`; as a context.

    Attributes:
        requests: (payload, headers, time) as they came.
        answered: responses with status 200 that were sent whole.
    """

    def __init__(self, behave: Callable[[int, dict[str, Any]], Response]) -> None:
        self.behave, self.answered = behave, 0
        self.requests: list[tuple[dict[str, Any], dict[str, str], float]] = []
        self._lock = threading.Lock()
        loopback = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                payload = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with loopback._lock:
                    number = len(loopback.requests)
                    headers = {name.lower(): value for name, value in self.headers.items()}
                    loopback.requests.append((payload, headers, time.monotonic()))
                response = loopback.behave(number, payload)
                time.sleep(response.delay)
                if response.body is None:
                    self.close_connection = True
                    return
                try:
                    self.send_response(response.status)
                    for name, value in {"Content-Type": "application/json", **response.headers}.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(response.body)))
                    self.end_headers()
                    self.wfile.write(response.body)
                    self.wfile.flush()
                except OSError:  # the other side has given up
                    self.close_connection = True
                    return
                with loopback._lock:
                    loopback.answered += response.status == 200

            def log_message(self, *arguments: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
