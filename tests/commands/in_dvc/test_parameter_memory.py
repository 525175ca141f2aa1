"""DVC reads a parameter file once, and again when it changed."""

import os
from pathlib import Path

import dpath
import pytest
from dvc.dependency import param
from dvc.fs import LocalFileSystem

from tests.tiny_project import run, start
from trivium.commands.in_dvc.parameter_memory import by_keys, remembered


def test_parameters_are_read_through_what_is_replaced():
    assert {"load_path", "dpath", "get"} <= {*param.read_param_file.__code__.co_names}
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


def test_dvc_sees_changes_as_before(tmp_path, monkeypatch):
    stage = {"cmd": "cp params.yaml out-{0}", "params": "[a]", "outs": "[out-{0}]"}
    stages = "".join(
        f"  s{n}:\n" + "".join(f"    {key}: {value.format(n)}\n" for key, value in stage.items()) for n in (1, 2)
    )
    files = {"params.yaml": "a: 1\n", "dvc.yaml": f"stages:\n{stages}", ".gitignore": ""}
    folder = start(tmp_path / "project", files, monkeypatch)
    assert "Running stage 's2'" in run("dvc", "repro", folder=folder)
    assert "up to date" in run("dvc", "repro", folder=folder)
    (folder / "params.yaml").write_text("a: 2\n")
    assert "Running stage 's1'" in run("dvc", "repro", folder=folder)
    assert (folder / "out-2").read_text() == "a: 2\n"


VALUES = {"a": {"b": {"c": 1, "d": [2, {"e": 3}]}, "none": None, "empty": {}}, "a.b": 4, "x": 5, "7": 6, 8: 7}


THERE = ("a", "a.b", "a.b.c", "a.b.d", "a.none", "a.empty", "x", "7", "8", "a.b.d.0", "a.b.d.1.e", "a.*.c", "?")
NOT_THERE = ("y", "a.y", "a.b.c.y", "a.b.d.2", "")


@pytest.mark.parametrize("name", [*THERE, *NOT_THERE])
def test_a_parameter_is_found_or_missed_as_by_dvc(name):
    def asked(get):
        try:
            return get(VALUES, name, separator=".")
        except (KeyError, IndexError, ValueError) as error:
            return type(error)

    assert asked(by_keys(dpath.get)) == asked(dpath.get)
