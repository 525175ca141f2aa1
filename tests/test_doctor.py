import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import pytest

from stages import doctor

ROOT = Path(__file__).parents[1]


@pytest.fixture
def findings(monkeypatch):
    monkeypatch.setattr(doctor, "_first_line", lambda *command: f"{command[0]} 1.0")

    def look(root=ROOT):
        return {finding.name: finding for finding in doctor.examine(root)}

    return look


def test_command_runs_and_never_shows_a_token():
    done = subprocess.run(
        [sys.executable, "-m", "stages.doctor"], capture_output=True, text=True, cwd=ROOT, env={"HF_TOKEN": "hf_hidden", "PATH": "/usr/bin:/bin"}, check=False
    )  # fmt: skip
    assert "HF_TOKEN           set" in done.stdout
    assert "hf_hidden" not in done.stdout + done.stderr
    assert done.returncode == ("needed and missing" in done.stdout)


def test_absent_token_says_what_it_costs(findings, monkeypatch):
    monkeypatch.delenv("HF_TOKEN", raising=False)
    finding = findings()["HF_TOKEN"]
    assert (finding.state, finding.found) == ("lacks", "not set")
    assert "gated" in finding.meaning


def test_no_gpu_is_a_lack_not_an_error(findings, monkeypatch):
    monkeypatch.setattr(doctor, "_first_line", lambda *_: "")
    found = findings()
    assert found["GPU"].state == "lacks"
    assert "sample runs on the processor" in found["GPU"].meaning


@pytest.mark.parametrize(("free", "state"), [(1e9, "needs"), (50e9, "lacks"), (10e12, "has")])
def test_disk_is_judged_by_scale(free, state, findings, monkeypatch):
    monkeypatch.setattr(doctor, "free_space", lambda _: free)
    assert findings()["disk"].state == state


@pytest.mark.parametrize(("total", "state"), [(4 * 2**30, "needs"), (16 * 2**30, "lacks"), (256 * 2**30, "has")])
def test_memory_is_judged_by_scale(total, state, findings, monkeypatch):
    monkeypatch.setattr(doctor.psutil, "virtual_memory", lambda: namedtuple("Memory", "total")(total))
    assert findings()["memory"].state == state


def test_missing_program_and_package(findings, monkeypatch, tmp_path):
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["numpy>=2", "no-such-package[extra]>=1"]')
    monkeypatch.setattr(doctor.shutil, "which", lambda _: None)
    monkeypatch.setattr(doctor, "find_uv", lambda: None)  # a checkout may have its own, in .uv
    found = findings(tmp_path)
    assert found["packages"].state == "needs"
    assert found["packages"].found == "missing: no-such-package"
    assert found["git"].state == "needs"
    assert found["chromium"].state == "lacks"
    assert found["uv"].state == "needs"
    assert "in-painting" not in found


def test_environment_of_in_painting_may_be_made_later(findings, monkeypatch):
    def uv(command, **_):
        assert "--offline" in command  # a look must not start a download
        return subprocess.CompletedProcess(command, state)

    monkeypatch.setattr(doctor, "find_uv", lambda: Path("uv"))
    monkeypatch.setattr(doctor.subprocess, "run", uv)
    state = 0
    assert findings()["in-painting"].state == "has"
    state = 1
    found = findings()["in-painting"]
    assert (found.state, found.found) == ("lacks", "no environment")
    assert "make setup" in found.meaning


def test_remote_is_read_from_both_configurations(findings, tmp_path):
    (tmp_path / "pyproject.toml").write_text("[project]\ndependencies = []")
    assert findings(tmp_path)["DVC remote"].state == "lacks"
    (tmp_path / ".dvc").mkdir()
    (tmp_path / ".dvc" / "config").write_text(
        "[core]\n    remote = store\n['remote \"store\"']\n    url = s3://bucket\n"
    )
    (tmp_path / ".dvc" / "config.local").write_text("['remote \"mine\"']\n    url = /somewhere\n")
    assert findings(tmp_path)["DVC remote"].found == "store, mine"
