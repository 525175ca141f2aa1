"""What was not run is said in one line, with how often and why."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

from tests.conftest import skipped_line

ROOT = Path(__file__).parents[1]
TESTS = """
import pytest

@pytest.mark.slow
def test_slow(): raise AssertionError

@pytest.mark.slow
@pytest.mark.gpu
def test_both(): raise AssertionError

@pytest.mark.gpu
def test_gpu(): raise AssertionError

def test_it(): pass
"""


def report(reason):
    return SimpleNamespace(longrepr=("tests/test_a.py", 3, reason))


def test_what_was_skipped_stands_in_one_line_with_the_commonest_reason_first():
    reports = [report("Skipped: needs a GPU"), report("Skipped: no data,\nnowhere"), report("Skipped: needs a GPU")]
    assert skipped_line(reports, 0) == "not run: 2 × needs a GPU; 1 × no data, nowhere"


def test_slow_tests_that_were_left_out_are_counted():
    assert skipped_line([], 7) == "not run: 7 × slow: make test-all"
    assert skipped_line([report("Skipped: why")], 7) == "not run: 7 × slow: make test-all; 1 × why"


def test_nothing_is_said_where_all_was_run():
    assert skipped_line([], 0) == ""


def test_the_line_at_the_end(tmp_path):
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "test_a.py").write_text(TESTS, "utf-8")
    environment = os.environ | {"PYTHONPATH": str(ROOT), "CUDA_VISIBLE_DEVICES": ""}
    run = [sys.executable, "-m", "pytest", "-q", "-n", "1", "-m", "not slow", "test_a.py"]
    said = subprocess.run(run, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True).stdout
    assert "not run: 2 × slow: make test-all; 1 × gpu: needs a CUDA device\n" in said


def test_no_test_says_on_its_own_that_there_is_no_gpu():
    files = [file for file in Path("tests").rglob("test_*.py") if file.name != Path(__file__).name]
    assert [file for file in files if "not torch.cuda.is_available()" in file.read_text("utf-8")] == []
