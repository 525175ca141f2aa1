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
    assert not any(json.loads((tmp_path / "rwlock").read_text()).values())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rwlock", "rwlock.lock"]


def test_dvc_goes_on_where_it_refused_every_run(tmp_path, monkeypatch):
    files = {"dvc.yaml": "stages:\n  a:\n    cmd: echo 1 > a\n    outs: [a]\n", ".gitignore": ""}
    folder = start(tmp_path / "project", files, monkeypatch)
    (folder / ".dvc" / "tmp" / "rwlock").write_text("")
    assert "starts again, empty" in run("dvc", "repro", folder=folder)
    assert (folder / "a").read_text() == "1\n"


@pytest.mark.parametrize("kind", ["write", "read"])
def test_who_runs_is_waited_for_and_who_does_not_is_not(tmp_path, kind):
    file = tmp_path / "rwlock"
    running = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    entry = {"cmd": "dvc repro", "pid": running.pid}
    text = json.dumps({kind: {"a": entry if kind == "write" else [entry]}})
    file.write_text(text)
    with pytest.raises(LockError, match="is busy"), lock(tmp_path, ["a"]):
        pass
    os.utime(file, (1e9, 1e9))  # long before that process came: its number was another one's then
    with lock(tmp_path, ["a"]):
        pass
    running.communicate()
    file.write_text(text)
    with lock(tmp_path, ["a"]):
        pass


def test_a_killed_process_holds_no_lock_before_its_end_is_asked_for(tmp_path):
    killed = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    killed.kill()
    os.waitid(os.P_PID, killed.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and is a zombie
    (tmp_path / "rwlock").write_text(json.dumps({"write": {"a": {"cmd": "dvc repro", "pid": killed.pid}}, "read": {}}))
    with lock(tmp_path, ["a"]):
        pass
    killed.wait()


def test_a_process_that_is_not_called_dvc_may_hold_a_lock(tmp_path):
    code = (
        "import sys; from dvc.fs import localfs; from dvc.rwlock import rwlock\n"
        "with rwlock(sys.argv[1], localfs, 'lanes', ['a'], ['b'], False): pass"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)


def test_readers_share_and_writers_do_not(tmp_path):
    with lock(tmp_path, [], ["a"]):
        found = json.loads((tmp_path / "rwlock").read_text())
    assert [info["pid"] for info in found["read"]["a"]] == [os.getpid()]
