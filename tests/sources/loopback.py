"""A server on loopback that behaves like the hub, and can be told to misbehave, or does so by the weather."""

import hashlib
import json
import random
import socket
import struct
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FAULTS = ("too many requests", "unavailable", "truncated", "reset", "throttled", "dead")


class Weather:
    """A network as it is on some days: answers that are refused, truncated, slow or none, drawn from a seed.

    Args:
        seed: of the draws.
        share: of the answers that go wrong.
        in_a_row: at most so many of one address: a client that insists gets through.
        dead: seconds for which a server that died is gone.

    Attributes:
        fell: how often each fault came.
        sent: bytes of bodies that were sent, of all answers.
    """

    def __init__(self, seed: int, share: float = 0.3, in_a_row: int = 2, dead: float = 0.5) -> None:
        self._random, self._lock = random.Random(seed), threading.Lock()
        self._share, self._in_a_row, self._dead = share, in_a_row, dead
        self._failed: Counter[str] = Counter()
        self.fell: Counter[str] = Counter()
        self.sent = 0

    def _draw(self, path: str) -> tuple[str | None, float]:
        """A fault, or none, and a number below 1 that says where it strikes."""
        with self._lock:
            place = self._random.random()
            if self._random.random() >= self._share or self._failed[path] >= self._in_a_row:
                self._failed[path] = 0
                return None, place
            fault = FAULTS[sum(self.fell.values()) % len(FAULTS)]  # each in its turn, however few there are
            self._failed[path] += fault != "throttled"
            self.fell[fault] += 1
            return fault, place

    def answer(self, handler: BaseHTTPRequestHandler, status: int, body: bytes, headers: dict[str, str]) -> None:
        """Send an answer, or what becomes of it."""
        fault, place = self._draw(handler.path)
        if fault in ("reset", "dead"):
            handler.close_connection = True
            handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            handler.connection.close()  # at once, without a word
            if fault == "dead":
                threading.Thread(target=handler.server.listener.die, args=[self._dead], daemon=True).start()
            return
        if fault in ("too many requests", "unavailable"):
            status, body = (429, b"slow down") if fault == "too many requests" else (503, b"<html>later</html>")
            headers = {"Retry-After": "1"} if status == 429 else {}
        handler.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            handler.send_header(name, value)
        handler.end_headers()
        end = int(place * len(body)) if fault == "truncated" else len(body)
        piece = max(1, end // 5) if fault == "throttled" else 1 << 16
        for start in range(0, end, piece):
            handler.wfile.write(body[start : min(start + piece, end)])
            with self._lock:
                self.sent += min(piece, end - start)
            if fault == "throttled":
                time.sleep(0.05)
        handler.close_connection |= end < len(body)


@dataclass
class Loopback:
    """Files by path, and how to serve them; what was asked is in `requests` (path, headers)."""

    files: dict[str, bytes] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)
    gated: set[str] = field(default_factory=set)  # paths that want the token "secret"
    cut: dict[str, list[int]] = field(
        default_factory=lambda: defaultdict(list)
    )  # close after so many bytes, per request
    slow: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))  # wait before the answer
    status: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))  # answer these first
    weather: Weather | None = None
    ranges: bool = True
    if_range: bool = True
    tag: str | None = None  # instead of a strong one that follows the content
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    url: str = ""

    def asked(self, path):
        return [headers for asked, headers in self.requests if asked == path]

    def repository(self, repo, files, *, kind="model", commits=("a" * 40,)):
        """Serve a repository as the hub does: its files, its tree, its commits."""
        prefix = "datasets/" if kind == "dataset" else ""
        api = f"/api/{kind}s/{repo}"
        tree = [
            {
                "type": "file",
                "path": path,
                "size": len(data),
                "oid": "0" * 40,
                "lfs": {"oid": hashlib.sha256(data).hexdigest(), "size": len(data), "pointerSize": 134},
            }
            for path, data in files.items()
        ]
        log = [
            {"id": commit, "title": "data", "message": "", "authors": [], "date": "2022-02-17T00:00:00.000Z"}
            for commit in commits
        ]
        self.files[f"{api}/commits/main"] = json.dumps(log).encode()
        self.files[api] = json.dumps({"id": repo, "sha": commits[0], "siblings": []}).encode()
        for commit in commits:
            self.files[f"{api}/tree/{commit}"] = json.dumps(tree).encode()
            for path, data in files.items():
                self.files[f"/{prefix}{repo}/resolve/{commit}/{path}"] = data


@contextmanager
def serve():
    state = Loopback()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def do_GET(self):
            path = self.path.partition("?")[0]
            state.requests.append((path, dict(self.headers)))
            if state.slow[path]:
                time.sleep(state.slow[path].pop(0))
            if state.status[path]:
                return self._answer(state.status[path].pop(0), b"")
            if path in state.gated and self.headers.get("Authorization") != "Bearer secret":
                return self._answer(401, b"", {"X-Error-Code": "GatedRepo"})
            if path in state.redirects:
                return self._answer(302, b"", {"Location": state.redirects[path]})
            if path not in state.files:
                return self._answer(404, b"")
            return self._file(path, state.files[path])

        def _file(self, path, data):
            tag = f'"{hashlib.sha256(data).hexdigest()[:16]}"' if state.tag is None else state.tag
            headers = {"ETag": tag} if tag else {}
            asked, same = self.headers.get("Range"), not state.if_range or self.headers.get("If-Range", tag) == tag
            if not (state.ranges and asked and same):
                return self._answer(200, data, headers, path)
            start = int(asked.removeprefix("bytes=").rstrip("-"))
            if start >= len(data):
                return self._answer(416, b"", {"Content-Range": f"bytes */{len(data)}"})
            headers["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
            return self._answer(206, data[start:], headers, path)

        def _answer(self, status, body, headers=None, path=None):
            if state.weather is not None:
                state.weather.answer(self, status, body, headers or {})
                return
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
                self.send_header(name, value)
            self.end_headers()
            limit = state.cut[path].pop(0) if path and state.cut[path] else None
            try:
                self.wfile.write(body[:limit])
            except OSError:  # the client went away
                limit = 0
            if limit is not None:
                self.close_connection = True

    with listening(Handler) as state.url:
        yield state


class _Listener:
    """Servers at one address, one after the other: where one dies, the next comes after a while."""

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        self._handler, self._going = handler, threading.Lock()
        self._server, self._thread = self._start(0)
        self.port = self._server.server_port

    def _start(self, port: int) -> tuple[ThreadingHTTPServer, threading.Thread]:
        server = ThreadingHTTPServer(("127.0.0.1", port), self._handler)
        server.daemon_threads = True
        server.handle_error = lambda *_: None  # a client that gave up is part of the play
        server.listener = self
        thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.02), daemon=True)
        thread.start()
        return server, thread

    def _end(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def die(self, seconds: float) -> None:
        """Refuse connections for so long; one that is dead stays so."""
        if self._going.acquire(blocking=False):
            try:
                self._end()
                time.sleep(seconds)
                self._server, self._thread = self._start(self.port)
            finally:
                self._going.release()

    def close(self) -> None:
        with self._going:
            self._end()


@contextmanager
def listening(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """The address of a server on loopback that answers by this class; it is gone afterwards."""
    listener = _Listener(handler)
    try:
        yield f"http://127.0.0.1:{listener.port}"
    finally:
        listener.close()
