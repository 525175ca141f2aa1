import os
import subprocess
import sys
from importlib import import_module

import pytest

from tests.tiny_project import start
from trivium.commands.cli import COMMANDS, main, require_project, run


def test_help_lists_every_command_and_imports_none():
    script = (
        "import sys\n"
        "from trivium.commands.cli import main\n"
        "main(['--help'])\n"
        "heavy = {'numpy', 'torch', 'yaml', 'pydantic', 'trivium.commands.plan'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for command, line in COMMANDS.items():
        assert f"  {command}" in done.stdout
        assert line in done.stdout


@pytest.mark.parametrize(
    ("command", "package", "wanted"),
    [
        ("kb", "torch", "`make setup` brings it, then `source .venv/bin/activate`"),
        ("kb", "facenet_pytorch", "`pip install --no-deps facenet-pytorch`"),
    ],
)
def test_a_package_that_is_not_installed_is_named_with_what_brings_it(command, package, wanted, monkeypatch, capsys):
    def missing(_):
        raise ModuleNotFoundError(f"No module named {package!r}", name=package)

    monkeypatch.setattr(import_module(f"trivium.commands.{command}"), "run", missing)
    with pytest.raises(SystemExit) as left:
        run(command, ["--out", "base"])
    assert left.value.code == 1
    assert capsys.readouterr().err == f"trivium {command}: {package} is missing: {wanted}\n"


def test_a_place_that_cannot_be_written_is_found_before_the_work(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").touch()
    monkeypatch.setattr(import_module("trivium.commands.kb"), "run", lambda _: pytest.fail("work"))
    for place in (str(tmp_path / "file" / "base"), "/proc/x"):
        with pytest.raises(SystemExit):
            run("kb", ["--out", place])
        assert f"field '--out': cannot be written; got '{place}'" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_an_interruption_is_one_line(monkeypatch, capsys):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(import_module("trivium.commands.kb"), "run", interrupted)
    with pytest.raises(SystemExit) as left:
        run("kb")
    assert left.value.code == 130
    assert capsys.readouterr().err.startswith("trivium kb: stopped; ")


@pytest.mark.parametrize(
    ("command", "file"),
    [
        ("repro", "dvc.yaml"),
        ("repro", "dvc.lock"),
        ("compare", "dvc.lock"),
        ("compare", "params.yaml"),
    ],
)
def test_a_conflict_of_git_is_a_message(command, file, tmp_path, monkeypatch, capsys):
    files = {"dvc.yaml": "stages: {a: {cmd: touch a, outs: [a]}}\n", "params.yaml": "world: {}\n"}
    folder = start(tmp_path, files, monkeypatch)
    (folder / file).write_text(f"{files.get(file, '')}\n<<<<<<< HEAD\na: 1\n=======\na: 2\n>>>>>>> other\n")
    with pytest.raises(SystemExit) as left:
        run(command, [])
    assert left.value.code == 1
    said = capsys.readouterr().err
    assert said.startswith(f"trivium {command}: ")
    assert file in said


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_explains_itself_outside_a_project(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as left:
        main([command, "--help"])
    assert left.value.code == 0
    assert f"usage: trivium {command} " in capsys.readouterr().out


def test_an_unknown_command_is_named_with_the_choices(capsys):
    with pytest.raises(SystemExit) as left:
        main(["plans"])
    assert left.value.code == 2
    assert "trivium: no such command; got 'plans' (choices: doctor, plan, " in capsys.readouterr().err


def test_outside_a_project_a_command_says_what_it_needs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        main(["ask", "who is this?"])
    said = capsys.readouterr().err
    assert "dvc.yaml: not a project of Trivium" in said
    for command, option in (("ask", "--kb"), ("odmap", "--set")):
        require_project(command, [f"{option}=somewhere"], tmp_path)
    assert "the folder that Git cloned" in said


def test_a_reader_who_has_seen_enough_gets_no_traceback():
    reads, writes = os.pipe()
    os.close(reads)
    command = [sys.executable, "-m", "trivium", "--help"]
    done = subprocess.run(command, stdout=writes, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writes)
    assert (done.returncode, done.stderr) == (1, "")
