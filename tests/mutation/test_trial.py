"""Mutants of a small tree: those that its tests notice are killed, the others are not, and the tree stays as it is."""

import argparse
import json
import subprocess
import sys
from dataclasses import replace

import pytest

from tests.mutation import trial
from tests.mutation.__main__ import go_on
from tests.mutation.mutants import Mutant, digest, mutants
from tests.mutation.progress import read_progress
from tests.mutation.trial import KILLED, NO_PYTHON, SURVIVED, TIMEOUT, UNTESTED, Trials

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="trials are forked")

COUNT = '''"""Counting."""

START = int(10 / 2)


def count(to: int, *, unused: int = 7) -> int:
    """How many steps."""
    steps = 0
    while steps < to:
        steps += 1
    return steps
'''
TEST = """from trivium.measures.count import START, count

def test_count():
    assert (START, count(3)) == (5, 3)
"""


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A repository with a module that is tested, and one that is not."""
    monkeypatch.setattr(trial, "LEAST", 1.0)
    monkeypatch.setattr(trial, "TIMES", 1.0)
    files = {
        "trivium/measures/count.py": COUNT,
        "trivium/measures/alone.py": "ONE = 1\n",
        "tests/measures/test_count.py": TEST,
        "pyproject.toml": '[tool.pytest.ini_options]\nmarkers = ["slow", "real", "gpu", "browser"]\n',
        **{f"{folder}/__init__.py": "" for folder in ("trivium", "trivium/measures", "tests", "tests/measures")},
    }
    for name, text in files.items():
        (tmp_path / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tree" / name).write_text(text)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path / "tree", check=True)
    return tmp_path / "tree"


def trials_of(tree, tmp_path, name="scratch"):
    return Trials(tree, tmp_path / name, tmp_path / "times.json", packages=())


def mutant(operator: str, occurrence: int = 0, module: str = "count", text: str = COUNT) -> Mutant:
    found = [one for there in mutants(f"trivium/measures/{module}.py", text).values() for one in there]
    return next(one for one in found if (one.operator, one.occurrence) == (operator, occurrence))


def test_each_verdict_is_what_the_tests_say(tree, tmp_path):
    trials = trials_of(tree, tmp_path)
    count = "trivium/measures/count.py"
    noticed = trials.test(mutant("ReplaceComparisonOperator_Lt_LtE"))
    assert (noticed.name, noticed.by) == (KILLED, "tests/measures/test_count.py::test_count")
    assert trials.test(mutant("NumberReplacer", 4)).name == SURVIVED  # unused: int = 8
    assert trials.test(mutant("ReplaceBinaryOperator_Div_Mod")).name == KILLED
    assert trials.test(mutant("ReplaceComparisonOperator_Lt_NotEq")).name == SURVIVED
    assert trials.test(mutant("ReplaceComparisonOperator_Lt_GtE")).name == KILLED
    assert trials.test(mutant("NumberReplacer", 9)).name == TIMEOUT  # steps += 0
    assert trials.test(mutant("NumberReplacer", 3)).name == KILLED  # START = int(10 / 1)
    assert trials.test(mutant("ReplaceBinaryOperator_Mul_Add")).name == NO_PYTHON  # def count(to, +, unused)
    assert trials.test(mutant("NumberReplacer", 0, "alone", "ONE = 1\n")).name == UNTESTED
    assert (trials.tree / count).read_text() == (tree / count).read_text() == COUNT


def test_an_error_at_import_and_a_crash_are_noticed(tree, tmp_path):
    broken = COUNT.replace("int(10 / 2)", "int(10 / 1) if 1 else __import__('os').abort()")
    (tree / "trivium/measures/count.py").write_text(broken)
    (tree / "tests/measures/test_count.py").write_text(TEST.replace("START", "count").replace("(5, 3)", "(count, 3)"))
    trials = trials_of(tree, tmp_path)
    divided = mutant("NumberReplacer", 3, text=broken)  # 10 / 0
    assert trials.test(divided) == trial.Verdict(KILLED, "the import")
    assert trials.test(mutant("NumberReplacer", 5, text=broken)).name == KILLED  # if 0


def test_tests_that_fail_without_a_mutant_are_no_verdict(tree, tmp_path):
    (tree / "tests/measures/test_count.py").write_text(TEST.replace("(5, 3)", "(5, 4)"))
    with pytest.raises(RuntimeError, match=r"unchanged code: tests/measures/test_count.py::test_count"):
        trials_of(tree, tmp_path).test(mutant("NumberReplacer", 4))


def test_what_was_tried_is_not_tried_again_until_its_tests_change(tree, tmp_path, monkeypatch):
    (tree / "trivium/measures/alone.py").write_text("")
    near, far = [], []

    def test(trials, mutant, asked_far):
        (far if asked_far else near).append(mutant)
        return trial.Verdict(KILLED if mutant.line < 8 else SURVIVED)

    def tried(count, name, near_only=False):
        given = argparse.Namespace(seed=0, mutants=count, rooms=["measures"], progress=progress, near=near_only)
        return go_on(trials_of(tree, tmp_path, name), given)

    monkeypatch.setattr(Trials, "test", test)
    progress = tmp_path / "progress.jsonl"
    first = tried(4, "first", near_only=True)
    assert [one.mutant for one in first] == near
    assert far == []
    progress.write_text(progress.read_text() + '[["trivium/')  # it was killed here
    again = tried(7, "again")
    assert [replace(one, far=False) for one in again[:4]] == first
    assert [one.mutant for one in again] == near
    assert {one.mutant.key: one for one in again} == read_progress(progress)
    survivors = [one.mutant for one in again if one.verdict == SURVIVED]
    assert 0 < len(survivors) < 7
    assert far == survivors
    assert [one.mutant for one in again if one.far] == survivors
    (tree / "tests/measures/test_count.py").write_text(TEST + "\n")
    tried(7, "tests")
    assert near[7:] == far[len(survivors) :] == survivors
    with pytest.raises(ValueError, match="are all there are"):
        tried(1000, "all")
    assert digest(COUNT) == near[0].source


def test_far_tests_are_asked_of_what_survives(tree, tmp_path):
    (tree / "tests/other").mkdir()
    (tree / "tests/other/__init__.py").touch()
    (tree / "tests/other/test_uses.py").write_text(TEST)
    trials = trials_of(tree, tmp_path)
    unused, unequal = mutant("NumberReplacer", 4), mutant("ReplaceComparisonOperator_Lt_LtE")
    assert [trials.test(unused, far) for far in (False, True)] == [trial.Verdict(SURVIVED)] * 2
    assert trials.test(unequal, True) == trial.Verdict(KILLED, "tests/other/test_uses.py::test_count")


def test_a_test_that_fails_now_and_then_must_fail_twice(tree, tmp_path, monkeypatch):
    monkeypatch.setattr(trial, "CLOCKED", -1.0)
    once = f"\n\ndef test_once():\n    from pathlib import Path\n    left = Path({str(tmp_path)!r}, 'left')\n    assert not left.exists(), left.unlink()\n"
    (tree / "tests/measures/test_count.py").write_text(TEST + once)
    trials = trials_of(tree, tmp_path)
    (tmp_path / "left").touch()
    assert trials.test(mutant("NumberReplacer", 4)).name == SURVIVED
    assert not (tmp_path / "left").exists()
    (tmp_path / "left").touch()
    assert trials.test(mutant("NumberReplacer", 4)).name == SURVIVED
    assert not (tmp_path / "left").exists()
    assert trials.test(mutant("ReplaceComparisonOperator_Lt_LtE")).name == KILLED


def test_slow_tests_are_asked_of_what_quick_ones_let_survive(tree, tmp_path, monkeypatch):
    slow = "import time\n\n\n@pytest.fixture\ndef late():\n    time.sleep(0.6)\n\n\ndef test_unused(late):\n    assert count.__kwdefaults__ == {'unused': 7}\n"
    (tree / "tests/measures/test_count.py").write_text("import pytest\n" + slow + TEST)
    monkeypatch.setattr(trial, "QUICK", 0.5)
    trials = trials_of(tree, tmp_path)
    assert trials.test(mutant("NumberReplacer", 4)).name == SURVIVED
    assert trials.test(mutant("NumberReplacer", 4), far=True).by.endswith("::test_unused")
    assert trials.test(mutant("ReplaceComparisonOperator_Lt_LtE")).by.endswith("::test_count")


def test_the_quickest_test_is_asked_first_and_times_are_kept(tree, tmp_path, monkeypatch):
    late = "import time\n\n\ndef test_late():\n    time.sleep(0.3)\n    assert START == 5\n\n\n"
    (tree / "tests/measures/test_count.py").write_text(late + TEST)
    assert trials_of(tree, tmp_path).test(mutant("NumberReplacer", 2)).by.endswith("::test_count")
    kept = (tmp_path / "times.json").read_text()
    ((_, seconds),) = json.loads(kept).items()
    assert {name.partition("::")[2]: clock >= 0.3 for name, (clock, _) in seconds.items()} == {
        "test_late": True,
        "test_count": False,
    }
    monkeypatch.setattr(trial, "Stopwatch", None)  # nothing is measured again
    assert trials_of(tree, tmp_path, "again").test(mutant("NumberReplacer", 2)).name == KILLED
