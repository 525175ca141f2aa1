import re
import shutil
import subprocess
import sys
from collections import namedtuple
from functools import cache
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from trivium.commands import brought, doctor, plan
from trivium.commands.plan import plan_files
from trivium.core.errors import BadInput
from trivium.core.image_shards import write_images
from trivium.core.parameters import used_values
from trivium.kvqae.rerankers.local_features import write_list
from trivium.kvqae.rerankers.rrt_parameters import leave_out
from trivium.vision import onnx_session

ROOT = Path(__file__).parents[2]
PLANNED = cache(plan_files)


@pytest.fixture
def findings(monkeypatch):
    for name in ("_first_line", "_answer"):
        monkeypatch.setattr(doctor, name, lambda *command: f"{command[0]} 1.0")
    monkeypatch.setattr(onnx_session, "check_gpu", lambda: None)
    monkeypatch.setattr(plan, "plan_files", PLANNED)

    def look(root=ROOT, scale="pilot"):
        return {finding.name: finding for finding in (*doctor.examine(root), *doctor.examine_scale(root, scale))}

    return look


@pytest.mark.parametrize(
    ("told", "state"),
    [
        ("vendor_id : GenuineIntel\nflags : avx2 avx512f avx512dq avx512bw avx512vl", "has"),
        ("vendor_id : GenuineIntel\nflags : fpu avx avx2 bmi", "lacks"),
        ("vendor_id : AuthenticAMD\nflags : fpu avx avx2", "lacks"),
        (None, "lacks"),
    ],
)
def test_whether_the_bits_are_the_committed_ones(tmp_path, told, state):
    if told is not None:
        (tmp_path / "cpuinfo").write_text(told)
    finding = doctor._bits(tmp_path / "cpuinfo")
    assert finding.state == state
    assert ("run.portable: x86" in finding.meaning) == ("AMD" in finding.found)
    assert ("that is expected" in finding.meaning) == (state == "lacks")


@pytest.fixture
def project(tmp_path):
    """A folder with what `doctor` reads of the project, and no package needed."""
    for name in ("dvc.yaml", "params.yaml", "scales/paper.yaml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "pyproject.toml").write_text("[project]\ndependencies = []")
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


def test_without_a_scale_it_says_within_seconds_what_the_sample_needs(monkeypatch):
    monkeypatch.setattr(plan, "plan_files", lambda *_: pytest.fail("a plan takes seconds"))
    assert {"packages", "memory", "same bits"} < {finding.name for finding in doctor.examine(ROOT)}
    assert doctor.PATIENCE < 5


def test_absent_token_says_what_it_costs(findings, monkeypatch):
    monkeypatch.delenv("HF_TOKEN", raising=False)
    finding = findings()["HF_TOKEN"]
    assert (finding.state, finding.found) == ("lacks", "not set")
    assert "gated" in finding.meaning


@pytest.mark.parametrize(("driver", "state"), [("570.133.20", "lacks"), ("580.65.06", "has"), ("595", "has")])
def test_a_driver_is_compared_with_the_cuda_of_torch(driver, state, findings, monkeypatch, tmp_path):
    (tmp_path / "version.py").write_text("cuda: Optional[str] = '13.2'\n")
    find = doctor.importlib.util.find_spec
    torch = namedtuple("Spec", "origin")(str(tmp_path / "__init__.py"))
    monkeypatch.setattr(doctor.importlib.util, "find_spec", lambda name: torch if name == "torch" else find(name))
    monkeypatch.setattr(doctor, "_answer", lambda *_: f"NVIDIA H100, 80 GiB, {driver}")
    found = findings()
    assert found["GPU"].state == "has"
    assert found["CUDA in torch"].state == state
    if state == "lacks":
        told = r"driver 570.133.20 is older than 580, which CUDA 13.2 needs: .* on the processor, .* \d+ hours"
        assert re.match(told, found["CUDA in torch"].meaning)
        assert found["S=pilot"].meaning.startswith("no GPU")
        assert "scale pilot in some" in found["CUDA in torch"].meaning


def test_a_driver_that_does_not_answer_is_not_taken_for_none(findings, monkeypatch):
    def hang(*command):
        raise subprocess.TimeoutExpired(command, 30)

    monkeypatch.setattr(doctor, "_answer", hang)
    assert findings()["GPU"].found == "nvidia-smi gave no answer in 4 s"


def test_onnx_runtime_is_tried_where_there_is_a_gpu(findings, monkeypatch):
    def fail():
        raise BadInput("ONNX Runtime cannot use the GPU: libcurand.so.10: cannot open shared object file")

    monkeypatch.setattr(onnx_session, "check_gpu", fail)
    lacking = findings()["ONNX Runtime"]
    assert lacking.state == "lacks"
    assert "kvqae-image_features stops: ONNX Runtime cannot use the GPU: libcurand.so.10" in lacking.meaning
    monkeypatch.setattr(onnx_session, "check_gpu", lambda: None)
    assert findings()["ONNX Runtime"].state == "has"
    monkeypatch.setattr(doctor, "_answer", lambda *_: "")
    assert "ONNX Runtime" not in findings()


def test_a_scale_wants_a_gpu_and_room(findings, monkeypatch):
    planned, _ = plan_files(ROOT / "params.yaml", ROOT / "dvc.yaml", ROOT / "scales/paper.yaml")
    costs = [cost for cost in planned if not cost.apart]
    disk, memory = sum(cost.cells * cost.disk for cost in costs), max(cost.memory for cost in costs)
    monkeypatch.setattr(doctor, "_gpu", lambda: (doctor.Finding("GPU", "has", "one"), ""))
    monkeypatch.setattr(doctor, "free_space", lambda _: (disk + 1) * 1e9)
    monkeypatch.setattr(doctor.psutil, "virtual_memory", lambda: namedtuple("Memory", "total")((memory + 1) * 2**30))
    found = findings(scale="paper")["S=paper"]
    assert (found.state, found.meaning) == ("has", "")
    assert f"{disk:.0f} GB of disk, {memory:.0f} GiB of memory" in found.found
    monkeypatch.setattr(doctor, "_gpu", lambda: (doctor.Finding("GPU", "lacks", "none"), ""))
    monkeypatch.setattr(doctor, "free_space", lambda _: (disk - 1) * 1e9)
    found = findings(scale="paper")["S=paper"]
    assert found.state == "lacks"
    assert found.meaning.startswith("no GPU and too little disk: `make plan S=paper`")


def test_missing_program_and_package(findings, monkeypatch, project):
    (project / "pyproject.toml").write_text(
        '[project]\ndependencies = ["numpy>=2"]\n[project.optional-dependencies]\n'
        'kvqae = ["trivium[graph]", "no-such-package[extra]>=1"]\nmteb = ["another-one"]'
    )
    monkeypatch.setattr(doctor.shutil, "which", lambda _: None)
    monkeypatch.setattr(doctor, "find_uv", lambda: None)  # a checkout may have its own, in .uv
    found = findings(project)
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


def test_spacys_pipeline_is_looked_for(findings, project, monkeypatch):
    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(brought, "installed", missing)
    lacking = findings(project)["spaCy"]
    assert (lacking.state, lacking.found) == ("lacks", "no en_core_web_lg")
    assert lacking.meaning.startswith("the sample trains its own; at scales workstation and paper kvqae-mention_model")
    assert "-m spacy download en_core_web_lg" in lacking.meaning
    params = project / "params.yaml"
    params.write_text(params.read_text().replace("model: trained}", "model: en_core_web_md}"))
    assert "kvqae-mention_model stops; `" in findings(project)["spaCy"].meaning
    monkeypatch.setattr(brought, "installed", lambda name: "3.8.0")
    held = findings(project)["spaCy"]
    assert (held.state, held.found, held.meaning) == ("has", "en_core_web_md 3.8.0", "")


def test_delgs_files_are_counted_over_what_rrt_compares(findings, project):
    lacking = findings(project)["DELG"]
    assert (lacking.state, lacking.found) == ("lacks", "not known which images need features")
    assert lacking.meaning.startswith("kvqae-local_features lists them")
    dataset = used_values(project / "params.yaml", "kvqae.dataset")
    write_images(project / "data/kvqae/raw/images/kb", [(f"{name}.jpg", b"") for name in "abcd"])
    write_images(project / "data/kvqae" / dataset / "images/questions", [("q.jpg", b"")])
    write_list(project / "data/kvqae/compared_images/kb.txt", ["a.jpg", "b.jpg", "c.jpg", "nowhere.jpg"])
    write_list(project / "data/kvqae/compared_images/questions.txt", ["q.jpg"])
    delg = project / "brought/kvqae_models/delg"
    for file in ("kb/a.delg_global", "kb/a.delg_local", "kb/b.delg_global", "kb/d.delg_global", "kb/d.delg_local"):
        (delg / file).parent.mkdir(parents=True, exist_ok=True)
        (delg / file).touch()
    lacking = findings(project)["DELG"]
    assert lacking.found == "no files in brought/kvqae_models/delg for 2 of 3 images of kb, 1 of 1 images of questions"
    assert lacking.meaning.startswith("`python -m trivium delg` asks for them")
    (delg / "questions").mkdir()
    for file in ("kb/b.delg_local", "kb/c.delg_global", "kb/c.delg_local", "questions/q.delg_global"):
        (delg / file).touch()
    assert findings(project)["DELG"].found == "no files in brought/kvqae_models/delg for 1 of 1 images of questions"
    (delg / "questions/q.delg_local").touch()
    held = findings(project)["DELG"]
    assert (held.state, held.meaning) == ("has", "")
    leave_out(project / "models/kvqae/rrt")
    assert "dvc repro -f -s kvqae-rrt" in findings(project)["DELG"].meaning


def test_broken_parameters_end_in_one_message(project):
    (project / "params.yaml").write_text("world: [")
    done = subprocess.run(
        [sys.executable, "-m", "trivium", "doctor", "--scale", "paper"], capture_output=True, text=True, cwd=project, env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}, check=False
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith(f"trivium doctor: {project / 'params.yaml'}: not YAML")
