"""A server on loopback that behaves like the hub, and can be told to misbehave."""

import hashlib
import json
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from unittest import mock
from urllib.parse import unquote


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
    ranges: bool = True
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
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

        def do_HEAD(self):
            """As the hub answers of a file: its commit and its ETag, which huggingface_hub asks for first."""
            path = unquote(self.path.partition("?")[0])
            state.heads.append(path)
            if path not in state.files:
                return self._answer(404, b"", {"X-Error-Code": "EntryNotFound"})
            data, (_, _, rest) = state.files[path], path.partition("/resolve/")
            headers = {"ETag": f'"{hashlib.sha256(data).hexdigest()}"', "X-Repo-Commit": rest.split("/")[0]}
            return self._answer(200, b"", headers | {"Content-Length": str(len(data))})

        def do_GET(self):
            path = unquote(self.path.partition("?")[0])
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
            headers = {"ETag": f'"{hashlib.sha256(data).hexdigest()[:16]}"'}
            asked = self.headers.get("Range")
            if not (state.ranges and asked):
                return self._answer(200, data, headers, path)
            start = int(asked.removeprefix("bytes=").rstrip("-"))
            if start >= len(data):
                return self._answer(416, b"", {"Content-Range": f"bytes */{len(data)}"})
            headers["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
            return self._answer(206, data[start:], headers, path)

        def _answer(self, status, body, headers=None, path=None):
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


@contextmanager
def listening(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """The address of a server on loopback that answers by this class; it is gone afterwards, and so is our haste."""
    hasty = {"HF_HUB_DOWNLOAD_TIMEOUT": 2, "DOWNLOAD_CHUNK_SIZE": 100}
    with (
        mock.patch.multiple("trivium.sources.download", ATTEMPTS=2, PAUSE=0.01),
        mock.patch.multiple("huggingface_hub.constants", **hasty),
        mock.patch("huggingface_hub.file_download.time", sleep=lambda _: None),
        mock.patch("huggingface_hub.utils._http.time", sleep=lambda _: None),
        ThreadingHTTPServer(("127.0.0.1", 0), handler) as server,
    ):
        server.daemon_threads = True
        server.handle_error = lambda *_: None  # a client that gave up is part of the play
        thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.02), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
