"""The command: it lists, shows, and sends only when told; the hub is one on loopback."""

import base64
import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler

import pytest

from tests.commands.shared_project import CLIP
from tests.sources.loopback import listening
from trivium.commands import cli

PATH = f"models/decorrelation/cells/{CLIP}"
TOKEN = "hf_only_of_the_environment"


@contextmanager
def hub(there=None, refuses=False):
    """The hub's repositories, as far as a commit asks for them."""
    state = {"files": dict(there or {}), "made": there is not None, "asked": [], "created": None, "message": None}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def do_GET(self):
            state["asked"].append((self.path, self.headers.get("Authorization")))
            if not state["made"]:
                return self.answer(404, {"error": "Repository not found"}, {"X-Error-Code": "RepoNotFound"})
            siblings = [{"rfilename": name} for name in state["files"]]
            tree = [{"type": "file", "path": name, "size": 1, "oid": "0" * 40} for name in state["files"]]
            return self.answer(
                200, tree if "/tree/" in self.path else {"id": "ada/clip", "sha": "a" * 40, "siblings": siblings}
            )

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            state["asked"].append((self.path, self.headers.get("Authorization")))
            if refuses:
                return self.answer(403, {"error": "this token may not write"})
            if self.path == "/api/validate-yaml":
                return self.answer(200, {"errors": [], "warnings": []})
            if self.path == "/api/repos/create":
                state["created"], state["made"] = json.loads(body), True
                return self.answer(200, {"url": "https://huggingface.co/ada/clip"})
            if "/preupload/" in self.path:
                files = [{"path": each["path"], "uploadMode": "regular", "shouldIgnore": False}
                         for each in json.loads(body)["files"]]  # fmt: skip
                return self.answer(200, {"files": files})
            for line in map(json.loads, body.splitlines()):
                if line["key"] == "file":
                    state["files"][line["value"]["path"]] = base64.b64decode(line["value"]["content"])
                else:
                    state["message"] = line["value"]
            commit = {"commitUrl": "https://huggingface.co/ada/clip/commit/abc", "commitOid": "abc", "success": True}
            return self.answer(200, commit)

        def answer(self, status, value, headers=()):
            data = json.dumps(value).encode()
            self.send_response(status)
            for name, each in {
                "Content-Type": "application/json",
                "Content-Length": str(len(data)),
                **dict(headers),
            }.items():
                self.send_header(name, each)
            self.end_headers()
            self.wfile.write(data)

    with listening(Handler) as state["url"]:
        yield state


@pytest.fixture
def environment(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    return monkeypatch


def test_nothing_is_sent_unless_told(project, environment, capsys):
    with hub() as there:
        environment.setenv("HF_ENDPOINT", there["url"])
        cli.main(["push", PATH, "--hub", "ada/clip"])
        said = capsys.readouterr().out
        assert there["asked"] == []
    assert "library_name: open_clip" in said
    assert "open_clip_model.safetensors" in said
    assert said.endswith("Nothing was sent. With --send this goes to the model repository ada/clip.\n")
    cli.run("push", [PATH, "--folder", "out"])
    assert not (project / "out").exists()


def test_a_commit_has_all_files_and_the_token_of_the_environment(project, environment, capsys):
    with hub() as there:
        environment.setenv("HF_ENDPOINT", there["url"])
        cli.run("push", [PATH, "--hub", "ada/clip", "--send"])
    assert "Sent: " in capsys.readouterr().out
    made = {name: there["created"][name] for name in ("name", "organization", "visibility")}
    assert made == {"name": "clip", "organization": "ada", "visibility": "private"}
    assert {token for _, token in there["asked"]} == {f"Bearer {TOKEN}"}
    weights = project / PATH / "open_clip_model.safetensors"
    assert there["files"]["open_clip_model.safetensors"] == weights.read_bytes()
    assert set(there["files"]) == {path.name for path in (project / PATH).iterdir()} | {"README.md"}
    assert TOKEN.encode() not in b"".join(there["files"].values())
    assert b"hf-hub:ada/clip" in there["files"]["README.md"]


def test_the_same_output_may_be_sent_again_and_others_not(project, environment, capsys):
    mine = dict.fromkeys(["README.md", "open_clip_config.json", ".gitattributes"], b"older")
    with hub(there=mine) as there:
        environment.setenv("HF_ENDPOINT", there["url"])
        cli.run("push", [PATH, "--hub", "ada/clip", "--send"])
        assert there["files"]["README.md"] != b"older"
    with hub(there={"thesis.pdf": b""}) as there:
        environment.setenv("HF_ENDPOINT", there["url"])
        with pytest.raises(SystemExit):
            cli.run("push", [PATH, "--hub", "ada/clip", "--send"])
        assert there["files"] == {"thesis.pdf": b""}
    assert "push: field '--hub': the repository holds other files; got ['thesis.pdf']" in capsys.readouterr().err


def test_a_refusal_is_one_line_without_the_token(project, environment, capsys):
    with hub(refuses=True) as there:
        environment.setenv("HF_ENDPOINT", there["url"])
        with pytest.raises(SystemExit) as left:
            cli.run("push", [PATH, "--hub", "ada/clip", "--send"])
    said = capsys.readouterr().err
    assert left.value.code == 1
    assert said.startswith("trivium push: field '--hub': the hub refuses: ")
    assert TOKEN not in said
