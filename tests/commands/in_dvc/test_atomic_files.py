"""DVC's files are the old or the new ones, never half."""

import os
import subprocess
import sys

import pytest
import yaml
from dvc.fs import LocalFileSystem
from dvc.utils.serialize import dump_yaml, modify_yaml

from trivium.commands.in_dvc.atomic_files import write

KILLED = """
import os, sys
from dvc.utils.serialize import modify_yaml

fsync = os.fsync

def die(file):
    fsync(file)
    os._exit(9)

os.fsync = die
with modify_yaml(sys.argv[1]) as data:
    data["b"] = 2
"""


def test_yaml_is_written_in_one_step_and_read_as_before(tmp_path):
    file = tmp_path / "a.yaml"
    dump_yaml(file, {"a": "é"})
    os.link(file, tmp_path / "before")
    for key, fs in {"b": None, "c": LocalFileSystem()}.items():
        with modify_yaml(str(file), fs=fs) as data:
            data[key] = 1
    assert yaml.safe_load(file.read_text(encoding="utf-8")) == {"a": "é", "b": 1, "c": 1}
    assert (tmp_path / "before").read_text(encoding="utf-8") == "a: é\n", "another file took its name"
    assert set(tmp_path.iterdir()) == {file, tmp_path / "before"}


def test_a_kill_before_the_new_file_is_there_leaves_the_old_one(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text("a: 1\n")
    assert subprocess.run([sys.executable, "-c", KILLED, str(file)]).returncode == 9
    assert file.read_text() == "a: 1\n"
    [left] = set(tmp_path.iterdir()) - {file}
    assert left.read_text() == "a: 1\nb: 2\n"
    write(file, "a: 3\n")
    assert list(tmp_path.iterdir()) == [file], "the next writer clears away"


def test_what_another_one_is_writing_stays(tmp_path):
    file = tmp_path / "a.yaml"
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        beside = tmp_path / f".a.yaml.{other.pid}.partial"
        beside.write_text("b: 1\n")
        write(file, "a: 1\n")
        assert beside.exists()
        os.utime(beside, (1e9, 1e9))  # long before that process came: its number was another one's then
        write(file, "a: 2\n")
        assert list(tmp_path.iterdir()) == [file]
        other.communicate()


def test_what_cannot_be_printed_leaves_the_old_file(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text("a: 1\n")
    with pytest.raises(Exception, match="cannot represent"):
        dump_yaml(file, {"a": object()})
    assert file.read_text() == "a: 1\n"


def test_mode_and_links_stay(tmp_path):
    file, link = tmp_path / "a.yaml", tmp_path / "link.yaml"
    file.write_text("")
    file.chmod(0o640)
    link.symlink_to(file)
    write(link, "a: 1\n")
    assert link.is_symlink()
    assert file.read_text() == "a: 1\n"
    assert file.stat().st_mode & 0o777 == 0o640
