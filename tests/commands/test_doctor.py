import re
import shutil
import subprocess
import sys
from collections import namedtuple
from functools import cache
from pathlib import Path

import pytest

from trivium.commands import cli, doctor, plan
from trivium.commands.plan import plan_files

ROOT = Path(__file__).parents[2]
PLANNED = cache(plan_files)


@pytest.fixture
def findings(monkeypatch):
    monkeypatch.setattr(doctor, "_first_line", lambda *command: f"{command[0]} 1.0")
    monkeypatch.setattr(plan, "plan_files", PLANNED)

    def look(root=ROOT, scale="pilot"):
        return {finding.name: finding for finding in (*doctor.examine(root), *doctor.examine_scale(root, scale))}

    return look


@pytest.mark.parametrize(
    ("told", "state"),
    [
        ("vendor_id : GenuineIntel\nflags : avx2 avx512f avx512dq avx512bw avx512vl", "lacks"),
        ("vendor_id : GenuineIntel\nflags : fpu avx avx2 bmi", "lacks"),
        ("vendor_id\t: AuthenticAMD\ncpu family\t: 26\nmodel\t\t: 2\nflags : fpu avx avx2", "has"),
        ("vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 1\nflags : fpu avx avx2", "lacks"),
        (None, "lacks"),
    ],
)
def test_whether_the_bits_are_the_committed_ones(tmp_path, told, state):
    if told is not None:
        (tmp_path / "cpuinfo").write_text(told)
    finding = doctor._bits(tmp_path / "cpuinfo")
    assert finding.state == state
    assert ("among each other" in finding.meaning) == ("avx512f" in (told or ""))
    assert ("run.portable: x86" in finding.meaning) == (state == "lacks" and " avx2" in (told or ""))
    assert ("that is expected" in finding.meaning) == (state == "lacks")


@pytest.fixture
def project(tmp_path):
    """A folder with what `doctor` reads of the project."""
    for name in ("dvc.yaml", "params.yaml", "scales/paper.yaml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def test_command_runs_and_never_shows_a_token_or_a_password():
    environment = {"HF_TOKEN": "hf_hidden", "PATH": "/usr/bin:/bin"}
    environment |= dict.fromkeys(("MLFLOW_TRACKING_URI", "HF_ENDPOINT"), "http://me:passw0rd@127.0.0.1:1")
    command = [sys.executable, "-m", "trivium", "doctor", "--scale", "pilot"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
    assert "HF_TOKEN           set" in done.stdout
    for secret in ("hf_hidden", "passw0rd"):
        assert secret not in done.stdout + done.stderr
    assert done.returncode == ("needed and missing" in done.stderr)


@pytest.mark.parametrize(
    ("words", "state", "last"),
    [
        ([], "has", "real data: make doctor S=pilot"),
        (["--scale", "pilot"], "has", "so can make scale S=pilot"),
        (["--scale", "pilot"], "lacks", "S=pilot cannot: no GPU"),
    ],
)
def test_the_last_line_says_what_can_run(monkeypatch, capsys, words, state, last):
    monkeypatch.setattr(doctor, "examine", lambda root: [doctor.Finding("git", "has", "1.0")])
    monkeypatch.setattr(
        doctor, "examine_scale", lambda root, scale: [doctor.Finding(f"S={scale}", state, "", "no GPU")]
    )
    cli.run("doctor", words)
    assert capsys.readouterr().out.splitlines()[-1] == f"the sample world can run here: make repro; {last}"


def test_without_a_scale_it_says_within_seconds_what_the_sample_needs(monkeypatch):
    monkeypatch.setattr(plan, "plan_files", lambda *_: pytest.fail("a plan takes seconds"))
    assert {"git", "memory", "same bits"} < {finding.name for finding in doctor.examine(ROOT)}
    assert doctor.PATIENCE < 5


def test_absent_token_says_what_it_costs(findings, monkeypatch):
    monkeypatch.delenv("HF_TOKEN", raising=False)
    finding = findings()["HF_TOKEN"]
    assert (finding.state, finding.result) == ("lacks", "not set")
    assert "gated" in finding.meaning


@pytest.mark.parametrize(("driver", "state"), [("570.133.20", "lacks"), ("580.65.06", "has"), ("595", "has")])
def test_a_driver_is_compared_with_the_cuda_of_torch(driver, state, findings, monkeypatch, tmp_path):
    (tmp_path / "version.py").write_text("cuda: Optional[str] = '13.2'\n")
    find = doctor.importlib.util.find_spec
    torch = namedtuple("Spec", "origin")(str(tmp_path / "__init__.py"))
    monkeypatch.setattr(doctor.importlib.util, "find_spec", lambda name: torch if name == "torch" else find(name))
    monkeypatch.setattr(doctor, "_first_line", lambda *_: f"NVIDIA H100, 80 GiB, {driver}")
    found = findings()
    assert found["GPU"].state == "has"
    assert found["CUDA in torch"].state == state
    if state == "lacks":
        told = r"driver 570.133.20 is older than 580, which CUDA 13.2 needs: .* on the processor, .* \d+ hours"
        assert re.match(told, found["CUDA in torch"].meaning)
        assert found["S=pilot"].meaning.startswith("no GPU")
        assert "scale pilot in some" in found["CUDA in torch"].meaning


def test_a_scale_wants_a_gpu_and_room(findings, monkeypatch):
    planned = plan_files(ROOT / "params.yaml", ROOT / "dvc.yaml", ROOT / "scales/paper.yaml")
    costs = [cost for cost in planned if not cost.is_apart]
    disk, memory = sum(cost.cells * cost.disk for cost in costs), max(cost.memory for cost in costs)
    monkeypatch.setattr(doctor, "_gpu", lambda: (doctor.Finding("GPU", "has", "one"), ""))
    monkeypatch.setattr(doctor, "free_space", lambda _: (disk + 1) * 1e9)
    monkeypatch.setattr(doctor.psutil, "virtual_memory", lambda: namedtuple("Memory", "total")((memory + 1) * 2**30))
    found = findings(scale="paper")["S=paper"]
    assert (found.state, found.meaning) == ("has", "")
    assert f"{disk:.0f} GB of disk, {memory:.0f} GiB of memory" in found.result
    monkeypatch.setattr(doctor, "_gpu", lambda: (doctor.Finding("GPU", "lacks", "none"), ""))
    monkeypatch.setattr(doctor, "free_space", lambda _: (disk - 1) * 1e9)
    found = findings(scale="paper")["S=paper"]
    assert found.state == "lacks"
    assert found.meaning.startswith("no GPU and too little disk: `make plan S=paper`")


def test_missing_programs(findings, monkeypatch):
    monkeypatch.setattr(doctor, "_first_line", lambda *_: "")
    monkeypatch.setattr(doctor, "find_uv", lambda: None)  # a checkout may have its own, in .uv
    found = findings()
    assert found["git"].state == "needs"
    assert found["uv"].state == "needs"
    assert found["GPU"].state == "lacks"
    assert "in-painting" not in found


def test_broken_parameters_end_in_one_message(project):
    (project / "params.yaml").write_text("world: [")
    done = subprocess.run(
        [sys.executable, "-m", "trivium", "doctor", "--scale", "paper"], capture_output=True, text=True, cwd=project, env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}, check=False
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith(f"trivium doctor: {project / 'params.yaml'}: not YAML")
