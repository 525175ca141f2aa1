import errno
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from trivium.core import atomic, tables
from trivium.core.errors import BadInput


@pytest.mark.parametrize("folder", [False, True])
def test_a_failed_write_leaves_the_old_target_and_nothing_else(tmp_path, folder):
    target = tmp_path / "target"

    def write(text):
        with atomic.write_atomically(target) as temporary:
            if folder:
                temporary.mkdir()
            file = temporary / "file" if folder else temporary
            file.write_text(text)
            if text == "bad":
                raise OSError(errno.ENOSPC, "disk full")

    write("good")
    with pytest.raises(OSError, match="No space left on device.*target"):
        write("bad")
    assert (target / "file" if folder else target).read_text() == "good"
    assert list(tmp_path.iterdir()) == [target]
    write("better")
    assert (target / "file" if folder else target).read_text() == "better"


@pytest.mark.parametrize("folder", [False, True])
def test_a_file_that_dvc_has_linked_to_its_cache_is_replaced(tmp_path, folder):
    """A hard link shares its bytes: written in place, the cache would hold them under the digest of the old ones."""
    target = tmp_path / "target"
    file = target / "file" if folder else target
    for text in ("old", "new"):
        with atomic.write_atomically(target) as temporary:
            if folder:
                temporary.mkdir()
            (temporary / "file" if folder else temporary).write_text(text)
        if text == "old":
            (tmp_path / "cached").hardlink_to(file)
            file.chmod(0o444)
    assert file.read_text() == "new"
    assert (tmp_path / "cached").read_text() == "old"
    assert file.stat().st_mode & 0o200


def test_what_a_killed_writer_left_is_removed_by_the_next(tmp_path):
    (tmp_path / ".a.json.12345678.partial.json").write_text("half")
    (tmp_path / ".b.json.12345678.partial.json").write_text("of another target")
    tables.write_json(tmp_path / "a.json", 1)
    assert sorted(file.name for file in tmp_path.iterdir()) == [".b.json.12345678.partial.json", "a.json"]


KILLED_WHILE_REMOVING = """
import os, signal, sys
from pathlib import Path
from trivium.core.atomic import remove_folder, write_atomically

target = Path(sys.argv[1])

def kill(event, arguments):
    if event == "os.remove":  # after the first file
        global removed
        removed += 1
        if removed == 2:
            os.kill(os.getpid(), signal.SIGKILL)

removed = 0
sys.addaudithook(kill)
if sys.argv[2] == "replace":
    with write_atomically(target) as beside:
        beside.mkdir()
        for name in "abc":
            (beside / name).write_text("new")
else:
    remove_folder(target)
"""


@pytest.mark.parametrize(("how", "there"), [("replace", ["new"] * 3), ("remove", None)])
def test_a_kill_while_an_old_folder_is_removed_leaves_no_half_of_it(tmp_path, how, there):
    target = tmp_path / "target"
    target.mkdir()
    for name in "abc":
        (target / name).write_text("old")
    done = subprocess.run(
        [sys.executable, "-c", KILLED_WHILE_REMOVING, str(target), how], cwd=Path(__file__).parents[2], check=False
    )
    assert done.returncode == -signal.SIGKILL
    assert len(list(tmp_path.glob(".target.*.partial/*"))) == 2, "the kill came at another time"
    assert ([file.read_text() for file in target.iterdir()] if target.exists() else None) == there
    with atomic.write_atomically(target) as temporary:
        temporary.mkdir()
    assert list(tmp_path.iterdir()) == [target]


def test_bad_input_names_the_target_and_never_the_passing_file(tmp_path):
    def write():
        with atomic.write_atomically(tmp_path / "target") as temporary:
            temporary.mkdir()
            (temporary / "a.json").write_text("[")
            tables.read_json(temporary / "a.json")

    with pytest.raises(BadInput, match=f"^{re.escape(str(tmp_path / 'target' / 'a.json'))}:1: not JSON"):
        write()
    assert not list(tmp_path.iterdir())
