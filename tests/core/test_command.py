"""The command that writes `code.yaml`, in this process and on a made-up pipeline."""

import pytest

from stages import code as command
from stages.code import changed_stages, main
from trivium.core.code.digest import Code, stage_parts, write_code
from trivium.core.errors import BadInput

FILES = {
    "stages/__init__.py": "",
    "stages/one.py": "X = 1\n",
    "stages/two.py": "import stages.one\n",
    "dvc.yaml": """
stages:
  code: {cmd: python -m stages.one}
  one: {cmd: python -m stages.one}
  two: {foreach: [a, b], do: {cmd: 'python -m stages.two ${item}'}}
  shell: {cmd: echo}
""",
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "code_root", lambda: tmp_path)
    return tmp_path


def ended(capsys, *arguments):
    """(exit code, what was printed, what was said of errors)."""
    with pytest.raises(SystemExit) as end:
        main(arguments)
    return end.value.code, *capsys.readouterr()


def test_changed_stages_are_those_that_differ_were_added_or_removed(project, capsys):
    assert changed_stages(project, project) == ["one", "two@a", "two@b"]
    write_code(project, project)
    assert ended(capsys, "--check") == (0, "no stage's code has changed\n", "")
    (project / "stages/two.py").write_text("")
    (project / "dvc.yaml").write_text(FILES["dvc.yaml"].replace("one: {", "new: {").replace("[a, b]", "[a]"))
    before = (project / "code.yaml").read_text()
    assert ended(capsys, "--check") == (1, "new\none\ntwo@a\ntwo@b\n", "")
    assert (project / "code.yaml").read_text() == before


def test_why_explains_a_stage_or_all_its_cells(project, capsys):
    code, said, _ = ended(capsys, "--why", "two")
    assert code == 0
    assert [line.split()[0] for line in said.splitlines() if line.startswith("two")] == ["two@a", "two@b"]
    assert said.count("\n  stages/__init__.py\n  stages/one.py\n  stages/two.py\n") == 2
    _, said, _ = ended(capsys, "--why", "two@b")
    assert said.startswith("two@b ")
    assert "two@a" not in said
    assert not (project / "code.yaml").exists()


def test_bad_input_is_one_line_and_exit_code_1(project, capsys):
    code, said, error = ended(capsys, "--why", "tw")
    assert (code, said) == (1, "")
    assert error == "code: no such stage that runs code of the project; got 'tw' (choices: one, two@a, two@b)\n"
    (project / "dvc.yaml").unlink()
    assert ended(capsys)[0] == 1
    with pytest.raises(BadInput, match=r"dvc\.yaml: no such"):
        stage_parts(project, Code(project))
