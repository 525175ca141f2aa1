"""DVC reads a parameter file once; the place in DVC where that is done is still there."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from dvc.dependency import param
from dvc.fs import LocalFileSystem

from tests.tiny_project import run, start
from trivium.commands import dvc_memory
from trivium.commands.dvc_memory import remembered


def test_the_place_in_dvc_is_still_there():
    """What is replaced is a name of this module, which the reading of parameters goes through."""
    assert param.__name__ == dvc_memory.WATCHED
    assert "load_path" in param.read_param_file.__code__.co_names
    assert LocalFileSystem().protocol == "local"


def test_a_file_is_read_again_only_when_it_changed(tmp_path):
    file, reads = tmp_path / "params.yaml", []

    def load(path, fs, **options):
        reads.append(options)
        return Path(path).read_text()

    load_once, local = remembered(load), LocalFileSystem()
    file.write_text("a: 1")
    assert [load_once(str(file), local) for _ in range(3)] == ["a: 1"] * 3
    assert len(reads) == 1
    file.write_text("a: 22")
    assert load_once(str(file), local) == "a: 22"
    os.utime(file, ns=(1, 1))
    assert load_once(str(file), local) == "a: 22"
    assert len(reads) == 3
    load_once(str(file), object())
    load_once(str(file), local, encoding="utf-8")
    assert len(reads) == 5, "other file systems and other options are not remembered"


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """The module as `make setup` lays it down, found without a `.pth`."""
    shutil.copy(dvc_memory.__file__, tmp_path / "trivium_dvc.py")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path


def test_it_waits_for_dvc_and_goes(installed):
    code = (
        "import sys, trivium_dvc; assert 'dvc' not in sys.modules; import dvc.dependency.param as param;"
        "assert param.load_path.__module__ == 'trivium_dvc';"
        "assert not any(type(each).__name__ == 'Watch' for each in sys.meta_path)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_dvc_sees_changes_as_before(tmp_path, monkeypatch):
    stage = {"cmd": "cp params.yaml out-{0}", "params": "[a]", "outs": "[out-{0}]"}
    stages = "".join(
        f"  s{n}:\n" + "".join(f"    {key}: {value.format(n)}\n" for key, value in stage.items()) for n in (1, 2)
    )
    files = {"params.yaml": "a: 1\n", "dvc.yaml": f"stages:\n{stages}", ".gitignore": ""}
    folder = start(tmp_path / "project", files, monkeypatch)
    dvc = (sys.executable, "-c", "import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); import trivium_dvc; "
           "sys.argv[0] = 'dvc'; runpy.run_module('dvc', run_name='__main__')", str(tmp_path))  # fmt: skip
    shutil.copy(dvc_memory.__file__, tmp_path / "trivium_dvc.py")
    assert "Running stage 's2'" in run(*dvc, "repro", folder=folder)
    assert "up to date" in run(*dvc, "repro", folder=folder)
    (folder / "params.yaml").write_text("a: 2\n")
    assert "Running stage 's1'" in run(*dvc, "repro", folder=folder)
    assert (folder / "out-2").read_text() == "a: 2\n"
