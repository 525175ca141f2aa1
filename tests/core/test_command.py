"""The command that writes `code.yaml`, in this process and on a made-up pipeline."""

import pytest

from stages import code as command
from stages.code import main
from trivium.core.code.digest import Code, stage_parts
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


def test_why_explains_a_stage_or_all_its_cells(project, capsys):
    main(["--why", "two"])
    said = capsys.readouterr().out
    assert [line.split()[0] for line in said.splitlines() if line.startswith("two")] == ["two@a", "two@b"]
    assert said.count("\n  stages/__init__.py\n  stages/one.py\n  stages/two.py\n") == 2
    main(["--why", "two@b"])
    said = capsys.readouterr().out
    assert said.startswith("two@b ")
    assert "two@a" not in said
    assert not (project / "code.yaml").exists()


def test_bad_input_is_one_line_and_exit_code_1(project, capsys):
    with pytest.raises(SystemExit, match="1"):
        main(["--why", "tw"])
    assert (
        capsys.readouterr().err
        == "code: no such stage that runs code of the project; got 'tw' (choices: one, two@a, two@b)\n"
    )
    (project / "dvc.yaml").unlink()
    with pytest.raises(SystemExit, match="1"):
        main([])
    with pytest.raises(BadInput, match=r"dvc\.yaml: no such"):
        stage_parts(project, Code(project))
