"""`make doctor`: say what this machine has, what it lacks, and what each lack means.

    trivium doctor
    trivium doctor --scale paper

Without a scale it says within seconds whether the sample world can run here; with one, what that scale and the real
data need besides. It changes nothing. The exit status is 1 only if something is missing that the sample world needs.
"""

import importlib.util
import os
import re
import subprocess
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import psutil

from trivium.core.arithmetic import has_avx512
from trivium.core.engine import count_cores
from trivium.core.errors import BadInput
from trivium.core.parameters import read_parameters, used_values, value_at
from trivium.decorrelation.painting.inpainter import WORKER, find_uv
from trivium.sources.brought import free_space
from trivium.sources.pins import REQUESTED, Pins

if TYPE_CHECKING:
    from trivium.commands.plan import Cost

State = Literal["has", "lacks", "needs"]
MARKS: dict[State, str] = {"has": "ok", "lacks": "--", "needs": "!!"}
SAMPLE_DISK, SAMPLE_MEMORY = 10, 6  # GB, GiB
PATIENCE = 4  # seconds: nvidia-smi wakes a GPU that sleeps
DRIVERS = {"11": 450, "12": 525, "13": 580}  # by CUDA's major version, the oldest driver on Linux that runs it
OTHER_BITS = (
    "numbers differ from the committed ones in their last places, those of trained models by points, so that a verdict "
    "of this run may, too; `git status` shows it: that is expected. Compare with your own run: `dvc exp save -n "
    "baseline` after `make repro`"
)
STOPS = {
    "fquad": "complexity-world and all that follows it stop",
    "calor": "complexity-world and all that follows it stop",
    "flickr30k": "decorrelation-world@flickr30k and all that follows it stop",
}
# Needed beside the files that requested.yaml can pin.
PHOTOGRAPHS = {"flickr30k": ("images/",)}
# May be absent, and what does not work then.
OPTIONAL = {("calor", "syntax.conllu"): "complexity.syntax.parser cannot be conllu"}


class Finding(NamedTuple):
    """A line of `trivium doctor`: `has` it, `lacks` it (something works less well or not), or `needs` it."""

    name: str
    state: State
    result: str
    meaning: str = ""


def judge(name: str, is_there: bool, result: str, meaning: str, *, needed: bool = False) -> Finding:
    """A finding whose meaning is shown only where something is missing."""
    return Finding(name, "has", result) if is_there else Finding(name, "needs" if needed else "lacks", result, meaning)


def examine(root: Path) -> Iterator[Finding]:
    """Look for what the sample world needs, most basic first."""
    version = _first_line("git", "--version")
    yield judge("git", bool(version), version or "not found", "DVC and experiments need it", needed=True)
    yield from _inpainting()
    disk, memory = free_space(root) / 1e9, psutil.virtual_memory().total / 2**30
    meaning = "the sample world needs {} {}"
    yield judge("disk", disk >= SAMPLE_DISK, f"{disk:.0f} GB free", meaning.format(SAMPLE_DISK, "GB"), needed=True)
    enough = memory >= SAMPLE_MEMORY
    yield judge("memory", enough, f"{memory:.0f} GiB", meaning.format(SAMPLE_MEMORY, "GiB"), needed=True)
    yield Finding("cores", "has", str(count_cores()))
    yield _bits(Path("/proc/cpuinfo"))
    yield _gpu()[0]


def examine_scale(root: Path, scale: str) -> Iterator[Finding]:
    """Look for what a scale (a name in scales/, or a file) and real data need besides."""
    from trivium.commands.plan import plan_files
    from trivium.commands.scale import scale_file

    costs = plan_files(root / "params.yaml", root / "dvc.yaml", scale_file(scale))
    costs = [cost for cost in costs if not cost.is_apart]
    gpu, driver = _gpu()
    cuda = _cuda(driver, costs, scale)
    downloads, disk = (sum(cost.cells * getattr(cost, column) for cost in costs) for column in ("downloads", "disk"))
    memory = max(cost.memory for cost in costs)
    lacks = {
        "no GPU": not gpu.state == cuda.state == "has",
        "too little disk": disk > free_space(root) / 1e9,
        "too little memory": memory > psutil.virtual_memory().total / 2**30,
    }
    lacking = [name for name, is_lacking in lacks.items() if is_lacking]
    result = f"{downloads:.0f} GB of downloads, {disk:.0f} GB of disk, {memory:.0f} GiB of memory"
    yield judge(f"S={scale}", not lacking, result, f"{' and '.join(lacking)}: `make plan S={scale}` says what takes it")
    yield cuda
    is_set = bool(os.environ.get("HF_TOKEN"))
    yield judge("HF_TOKEN", is_set, "set" if is_set else "not set", "gated repositories of the hub cannot be fetched")
    parameters = root / "params.yaml"
    yield from examine_requested(root, read_parameters(parameters))
    brought = used_values(parameters, "world.local.kvqae_models")
    has_extractor = (root / brought / "rrt/extractor/extractor.json").is_file()
    has_features = has_extractor or any((root / brought).glob("delg/*/*.delg_global"))
    needed = "RRT is left out with world.kvqae: hub; `python -m trivium delg` asks for them (docs/kvqae-formats.md)"
    yield judge("DELG", has_features, f"{'' if has_features else 'no '}features in {brought}", needed)


def examine_requested(root: Path, parameters: Mapping[str, Any]) -> Iterator[Finding]:
    """Look for sets that are given on request only: what the user's folders hold, and what a lack means.

    Raises:
        BadInput: a set has no folder in `world.local`.
    """
    for name, source in Pins(REQUESTED).sources.items():
        folder = value_at(parameters, root / "params.yaml", f"world.local.{name}")
        files = (*(source.files or ()), *PHOTOGRAPHS.get(name, ()))
        absent = [file for file in files if not _is_there(root / folder, file)]
        if missing := [file for file in absent if (name, file) not in OPTIONAL]:
            meaning = f"where world.{name} is local, as at scale paper, {STOPS[name]}"
            meaning += f"; ask at {source.page or source.url or ''}"
            yield Finding(f"request: {name}", "lacks", f"{folder} lacks {', '.join(missing)}", meaning)
        else:
            present = ", ".join(file for file in files if (name, file) not in OPTIONAL)
            meaning = "; ".join(f"no {file}: {OPTIONAL[name, file]}" for file in absent)
            yield Finding(f"request: {name}", "has", f"{folder} holds {present}", meaning)


def _is_there(folder: Path, file: str) -> bool:
    path = folder / file
    if file.endswith("/"):
        return path.is_dir() and any(path.iterdir())
    # Annotated texts may come as FrameNet's XML, in a folder of the split's name.
    return path.is_file() or (path.parent.name == "frames" and any(path.with_suffix("").glob("*.xml")))


def _bits(processor: Path) -> Finding:
    """Whether this processor gives the committed numbers to the bit, see docs/reproducibility.md."""
    cpuinfo = processor.read_text(encoding="utf-8") if processor.exists() else ""
    if re.search(r"vendor_id\s*: AuthenticAMD\ncpu family\s*: 26\n", cpuinfo):
        return Finding("same bits", "has", "AMD of Zen 5: the sample's run gives the committed bits")
    alike = "Intel processors with AVX-512 have the same bits among each other; " if has_avx512(cpuinfo) else ""
    everywhere = "; run.portable: x86 gives the same bits on Intel and AMD" if " avx2" in cpuinfo else ""
    return Finding(
        "same bits", "lacks", "the committed numbers are of an AMD EPYC (Zen 5)", alike + OTHER_BITS + everywhere
    )


def _inpainting() -> Iterator[Finding]:
    """Look for uv and for in-painting's own environment, which uv makes and keeps in its cache."""
    uv = find_uv()
    if uv is None:
        yield Finding("uv", "needs", "not found", "in-painting's own environment needs it; `make setup` brings it")
        return
    yield Finding("uv", "has", _first_line(str(uv), "--version"))
    check = [str(uv), "sync", "--frozen", "--check", "--offline", "--quiet", "--script", str(WORKER)]
    is_made = subprocess.run(check, capture_output=True, check=False).returncode == 0
    meaning = "`make setup` makes it, or else the first stage that in-paints"
    yield judge("in-painting", is_made, "environment made" if is_made else "no environment", meaning)


def _gpu() -> tuple[Finding, str]:
    """Look for a GPU by `nvidia-smi`; returns also the driver's version, empty where there is none."""
    listed = _first_line("nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader")
    if not listed:
        meaning = "the sample runs on the processor; real data wants one: `make doctor S=workstation`"
        return Finding("GPU", "lacks", f"none, or no driver that answers in {PATIENCE} s", meaning), ""
    gpu = Finding("GPU", "has", f"{listed} (driver last)", f"where stages use it, {OTHER_BITS}")
    return gpu, listed.rpartition(", ")[2]


def _cuda(driver: str, costs: "list[Cost]", scale: str) -> Finding:
    """Compare the CUDA that torch was built for, read from its files, with the driver's version ("": there is none)."""
    from trivium.commands.plan import ESTIMATES

    name, spec = "CUDA in torch", importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return Finding(name, "needs", "no torch", "run `make setup`")
    text = Path(spec.origin).with_name("version.py").read_text(encoding="utf-8")
    cuda = re.search(r"^cuda.*= '(.+)'", text, re.MULTILINE)
    if cuda is None:
        meaning = "the GPU stays unused; reinstall the locked build" * bool(driver)
        return Finding(name, "lacks", "built without", meaning)
    least = DRIVERS.get(cuda[1].partition(".")[0])
    if not driver or least is None or not driver.split(".")[0].isdigit() or int(driver.split(".")[0]) >= least:
        return Finding(name, "has", cuda[1])
    gpu, cpu = (sum(cost.hours(count_cores(), rate) for cost in costs) for rate in (ESTIMATES["rates"]["gpu"], 0))
    meaning = f"driver {driver} is older than {least}, which CUDA {cuda[1]} needs: torch sees no GPU and computes on "
    meaning += f"the processor, scale {scale} in some {cpu:.0f} hours in place of {gpu:.0f}; install a newer driver"
    return Finding(name, "lacks", f"{cuda[1]}, not for this driver", meaning)


def _first_line(*command: str) -> str:
    """The first line that a program prints; empty when it is missing, fails or does not answer."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return next(iter(done.stdout.splitlines()), "").strip()


def options(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--scale", help="a name in scales/, such as paper: what it and real data need besides")


def run(arguments: Namespace) -> None:
    """Print the findings."""
    missing, rest = [], "real data: make doctor S=pilot"
    for finding in (*examine(Path.cwd()), *(examine_scale(Path.cwd(), arguments.scale) if arguments.scale else ())):
        print(f"{MARKS[finding.state]}  {finding.name:18} {finding.result}")
        if finding.meaning:
            print(f"{'':22}→ {finding.meaning}")
        missing += [finding.name] * (finding.state == "needs")
        if finding.name == f"S={arguments.scale}":
            fits = finding.state == "has"
            rest = f"so can make scale {finding.name}" if fits else f"{finding.name} cannot: {finding.meaning}"
    if missing:
        raise BadInput(f"needed and missing: {', '.join(missing)}")
    print(f"\nthe sample world can run here: make repro; {rest}")
