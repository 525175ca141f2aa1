"""The audit, with uv itself and a stand-in for OSV on loopback."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from trivium.commands import audit as module
from trivium.commands.audit import NotAuditedError, audit
from trivium.decorrelation.painting.inpainter import find_uv

ROOT = Path(__file__).parents[2]
VULNERABILITY = {"id": "PYSEC-2026-1", "modified": "2026-01-01T00:00:00Z", "summary": "bad", "affected": []}

pytestmark = pytest.mark.skipif(find_uv() is None, reason="needs uv")


@pytest.fixture
def osv(monkeypatch, tmp_path):
    """Answers uv, which is told of it by a script that stands before it; packages named in the list are vulnerable."""
    vulnerable: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["queries"]
            known = {"vulns": [{"id": VULNERABILITY["id"], "modified": VULNERABILITY["modified"]}]}
            self.answer({"results": [known if each["package"]["name"] in vulnerable else {} for each in asked]})

        def do_GET(self):
            self.answer(VULNERABILITY)

        def answer(self, value):
            body = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    monkeypatch.setenv("NO_PROXY", "*")
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        uv = tmp_path / "uv"
        uv.write_text(f'#!/bin/sh\nexec "{find_uv()}" "$@" --service-url http://127.0.0.1:{server.server_port}\n')
        uv.chmod(0o755)
        yield uv, vulnerable
        server.shutdown()


def locked(file: Path) -> int:
    return file.read_text().count("\n[[package]]\n")


def test_every_package_of_both_locks_is_asked_about(osv):
    uv, _ = osv
    both = locked(ROOT / "uv.lock") - 1 + locked(module.WORKER.with_name("worker.py.lock"))  # one is the project
    assert audit(ROOT, uv, patience=60) == (both, [])


def test_a_known_vulnerability_is_named(osv):
    uv, vulnerable = osv
    vulnerable.append("absl-py")
    _, [known] = audit(ROOT, uv, patience=60)
    assert known.startswith("absl-py ")
    assert known.endswith(": PYSEC-2026-1")


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo 'error: unrecognized subcommand' >&2; exit 2", "unrecognized subcommand"),
        ("printf 'error: sending\\n  cause: dns error\\n' >&2; exit 2", "dns error"),
        ("echo '{\"summary\": {}}'", "this version of uv reports in another way"),
        ("exec sleep 20", "no answer in 0.5 s"),
    ],
)
def test_what_cannot_be_asked_is_told(tmp_path, script, reason):
    uv = tmp_path / "uv"
    uv.write_text(f"#!/bin/sh\n{script}\n")
    uv.chmod(0o755)
    with pytest.raises(NotAuditedError, match=f"^{reason}$"):
        audit(ROOT, uv, patience=0.5)
