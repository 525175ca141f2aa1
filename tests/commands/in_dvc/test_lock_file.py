"""`dvc.lock` is written as DVC writes it, byte for byte, and what was cut off comes back."""

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
import yaml
from dvc.utils.serialize import dumps_yaml, loads_yaml

from tests import tiny_project
from tests.tiny_project import run
from trivium.commands.in_dvc.lock_file import _STAGE, HEAD, KEPT, heal

ROOT = Path(__file__).parents[3]
LONG = " && ".join(["true"] * 40)  # wrapped
GRAPH = {
    "stages": {
        "first": {"cmd": f"{LONG} && mkdir -p made && cat in.txt > made/a", "deps": ["in.txt"], "outs": ["made"]},
        "each": {
            "matrix": {"seed": [0, 1], "name": ["déjà", "b c"]},
            "cmd": "cp made/a '${item.name}-${item.seed}.txt'",
            "deps": ["made"],
            "params": ["sizes", "other"],
            "outs": ["${item.name}-${item.seed}.txt"],
        },
        "last": {"cmd": "echo '{\"x\": 1}' > m.json", "params": ["other"], "metrics": [{"m.json": {"cache": False}}]},
    }
}
PARAMS = {"sizes": {"rate": 2.0e-5, "clip": None, "layers": [0, 2], "text": "yes", "long": "w " * 60}, "other": 1.0}
DVC = ("dvc",)
# -S: without the packages' `.pth`, hence without ours.
UNTOUCHED = (sys.executable, "-S", "-c", f"import sys; sys.path.append({sysconfig.get_path('purelib')!r}); "
             "sys.argv[0] = 'dvc'; from dvc.cli import main; sys.exit(main())")  # fmt: skip


@pytest.fixture
def project(tmp_path, monkeypatch):
    files = {
        "dvc.yaml": yaml.safe_dump(GRAPH, sort_keys=False),
        "params.yaml": yaml.safe_dump(PARAMS),
        "in.txt": "1",
    }
    return tiny_project.start(tmp_path / "project", files, monkeypatch)


def locks(project, program):
    """`dvc.lock` after a first run, after a change, after one stage was taken out of it, and after it was lost."""
    lock, found = project / "dvc.lock", []
    for change in (None, "in.txt", "stage", "all"):
        if change == "in.txt":
            (project / "in.txt").write_text("2")
        elif change == "stage":
            tree = yaml.safe_load(lock.read_text())
            del tree["stages"]["first"]
            lock.write_text(dumps_yaml(tree))
        elif change == "all":
            lock.unlink()
        run(*program, "repro", "-q", folder=project)
        found.append(lock.read_text())
    return found


def test_the_lock_is_dvcs_own(project):
    ours = locks(project, DVC)
    assert run(*DVC, "status", folder=project).strip() == "Data and pipelines are up to date."
    (project / "dvc.lock").unlink()
    (project / "in.txt").write_text("1")
    (project / ".dvc" / "tmp" / KEPT).unlink()
    assert ours == locks(project, UNTOUCHED)
    assert (len(set(ours)), ours[3]) == (3, ours[1])  # the stage taken out is now the last one


def test_a_lock_with_more_in_it_is_left_to_dvc(project):
    run(*DVC, "repro", "-q", folder=project)
    lock = project / "dvc.lock"
    lock.write_text("datasets: []\n" + lock.read_text())
    (project / "in.txt").write_text("2")
    run(*DVC, "repro", "-q", folder=project)
    assert lock.read_text().startswith("datasets: []\n")
    assert run(*DVC, "status", folder=project).strip() == "Data and pipelines are up to date."


def test_every_stage_of_the_project_prints_as_it_stands():
    head, *blocks = _STAGE.split((ROOT / "dvc.lock").read_text(encoding="utf-8"))
    assert head == HEAD
    assert len(blocks) > 100
    assert [dumps_yaml({"stages": loads_yaml(block)}) for block in blocks] == [f"stages:\n{block}" for block in blocks]


@pytest.fixture
def built(project):
    """A project that ran; its lock is not committed."""
    run(*DVC, "repro", "-q", folder=project)
    return project


def test_wherever_the_lock_is_cut_it_comes_back(built):
    """Every line is cut before it, after its first character and before its end."""
    lock, kept = built / "dvc.lock", built / ".dvc" / "tmp" / KEPT
    whole = lock.read_text()
    ends = [place for place, letter in enumerate(whole) if letter == "\n"]
    for length in sorted({0, *ends, *(end + 1 for end in ends[:-1]), *(end + 2 for end in ends[:-1])}):
        lock.write_text(whole[:length])
        said = heal(lock, kept)
        assert lock.read_text() == whole, f"cut at {length}"
        assert said is not None
        assert "came back" in said


def test_dvc_itself_heals_and_says_so(built):
    lock = built / "dvc.lock"
    whole = lock.read_text()
    for left in ("", whole[: len(whole) // 2]):
        lock.write_text(left)
        assert "stages came back" in run(*DVC, "status", folder=built)
        assert lock.read_text() == whole
    run(*UNTOUCHED, "status", folder=built)
    lock.write_text("")
    assert "validation failed" in run(*UNTOUCHED, "status", folder=built, fails=True), "what users met"


@pytest.mark.parametrize("reader", [("params", "diff"), ("metrics", "show"), ("dag",), ("stage", "list")])
def test_who_does_not_hold_dvcs_lock_reads_what_was_healed_and_writes_nothing(built, reader):
    lock, kept = built / "dvc.lock", built / ".dvc" / "tmp" / KEPT
    whole = lock.read_text()
    lock.write_text(whole[: len(whole) // 2])
    assert "stages came back" in run(*DVC, *reader, folder=built)
    assert (lock.read_text(), kept.read_text()) == (whole[: len(whole) // 2], whole)
    newer = whole.replace("other: 1.0", "other: 2.0")
    lock.write_text(newer)  # a lane is about to write the copy
    assert "came back" not in run(*DVC, *reader, folder=built)
    assert (lock.read_text(), kept.read_text()) == (newer, whole)


def test_a_conflict_is_left_to_dvc_wherever_it_stands(built):
    lock, kept = built / "dvc.lock", built / ".dvc" / "tmp" / KEPT
    whole = lock.read_text()
    head, *blocks = _STAGE.split(whole)
    last = blocks[1].splitlines(keepends=True)
    conflict = ["<<<<<<< HEAD\n", last[1], "=======\n", "    cmd: another\n", ">>>>>>> other\n"]
    text = "".join([head, blocks[0], last[0], *conflict])
    lock.write_text(text)
    assert heal(lock, kept) is None
    assert (lock.read_text(), kept.read_text()) == (text, whole)
    said = run(*DVC, "status", folder=built, fails=True)
    assert "merge conflict" in said
    assert lock.read_text() == text


def test_a_lock_that_somebody_changed_is_left_alone(built):
    lock, kept = built / "dvc.lock", built / ".dvc" / "tmp" / KEPT
    whole = lock.read_text()
    blocks = _STAGE.split(whole)
    others = {
        "the first stage taken out": HEAD + "".join(blocks[2:]),
        "another order": HEAD + "".join(reversed(blocks[1:])),
        "a conflict": "<<<<<<< HEAD\n" + whole,
        "one more": whole + blocks[1].replace("  first:", "  more:"),
        "a last entry of its own": whole.replace("x: 1", "x: 2") if "x: 1" in whole else whole + "    more: 1\n",
    }
    for what, text in others.items():
        lock.write_text(text)
        assert heal(lock, kept) is None, what
        assert lock.read_text() == text
        lock.write_text(whole)
        heal(lock, kept)
    lock.unlink()
    assert heal(lock, kept) is None
    assert not lock.exists(), "who removes the whole file means it"


def test_an_older_version_that_git_knows_is_no_damage(built):
    lock, kept = built / "dvc.lock", built / ".dvc" / "tmp" / KEPT
    blocks = _STAGE.split(lock.read_text())
    older = HEAD + "".join(blocks[1:3])
    lock.write_text(older)
    run("git", "add", "dvc.lock", folder=built)
    assert heal(lock, kept) is None
    assert lock.read_text() == older
    assert kept.read_text() == older


def test_stages_that_the_graph_no_longer_has_stay_away(built):
    graph = yaml.safe_load((built / "dvc.yaml").read_text())
    del graph["stages"]["last"]
    (built / "dvc.yaml").write_text(yaml.safe_dump(graph, sort_keys=False))
    lock = built / "dvc.lock"
    whole = lock.read_text()
    shorter = whole[: whole.index("  last:")]
    lock.write_text(shorter)
    assert heal(lock, built / ".dvc" / "tmp" / KEPT) is None
    assert lock.read_text() == shorter


def test_a_file_of_another_revision_is_dvcs_own(built, tmp_path):
    run("git", "add", "-A", folder=built)
    run("git", "commit", "-q", "-m", "Built", folder=built)
    (built / "params.yaml").write_text(yaml.safe_dump(PARAMS | {"other": 2.0}))
    assert "other" in run(*DVC, "params", "diff", "HEAD", folder=built)
    assert subprocess.run(["git", "diff", "--quiet", "dvc.lock"], cwd=built).returncode == 0
