"""DVC's list of readers and writers: what a kill leaves of it stops nobody."""

import json
import os
import subprocess
import sys

import pytest
from dvc import rwlock
from dvc.fs import localfs
from dvc.lock import LockError

from tests.tiny_project import run, start

BROKEN = ["", "{", '{"write": {"a"', "[]", '{"write": 1}', "\x00" * 50]


def lock(folder, write, read=()):
    return rwlock.rwlock(str(folder), localfs, "dvc repro", list(read), list(write), False)


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_list_is_begun_again(tmp_path, text, caplog):
    (tmp_path / "rwlock").write_text(text)
    with lock(tmp_path, ["a"]):
        assert json.loads((tmp_path / "rwlock").read_text())["write"]["a"]["pid"] == os.getpid()
    assert "broken off by a kill" in caplog.text
    assert json.loads((tmp_path / "rwlock").read_text()) == {}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rwlock", "rwlock.lock"]


def test_dvc_goes_on_where_it_refused_every_run(tmp_path, monkeypatch):
    files = {"dvc.yaml": "stages:\n  a:\n    cmd: echo 1 > a\n    outs: [a]\n", ".gitignore": ""}
    folder = start(tmp_path / "project", files, monkeypatch)
    (folder / ".dvc" / "tmp" / "rwlock").write_text("")
    assert "starts again, empty" in run("dvc", "repro", folder=folder)
    assert (folder / "a").read_text() == "1\n"


def test_who_runs_is_waited_for_and_who_does_not_is_not(tmp_path):
    running = subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.stdin.read()", "dvc repro"], stdin=subprocess.PIPE
    )
    other = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    entry = {"cmd": "dvc repro"}
    try:
        for pid, busy in ((running.pid, True), (other.pid, False)):
            for kind in ({"write": {"a": entry | {"pid": pid}}}, {"read": {"a": [entry | {"pid": pid}]}}):
                (tmp_path / "rwlock").write_text(json.dumps(kind))
                if busy:
                    with pytest.raises(LockError, match="is busy"), lock(tmp_path, ["a"]):
                        pass
                else:  # its number was another program's once
                    with lock(tmp_path, ["a"]):
                        pass
    finally:
        for process in (running, other):
            process.communicate()
    (tmp_path / "rwlock").write_text(json.dumps({"write": {"a": entry | {"pid": running.pid}}}))
    with lock(tmp_path, ["a"]):
        pass


def test_readers_share_and_writers_do_not(tmp_path):
    with lock(tmp_path, [], ["a"]):
        found = json.loads((tmp_path / "rwlock").read_text())
    assert [info["pid"] for info in found["read"]["a"]] == [os.getpid()]
