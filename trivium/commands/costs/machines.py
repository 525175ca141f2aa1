"""How long each stage takes on several machines, and what keeps it from being faster: `make plan M=8xA100`.

A stage that works by shards is spread over all machines (docs/cluster.md). The cells of a training run at once, each
as a task that has a GPU, or one core where there is none. Any other stage runs on one machine. Stages are counted one
after the other. What comes from the network comes no faster to several machines: one of them downloads.
"""

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trivium.commands.costs.row import MACHINE, Row
from trivium.core.errors import BadInput

# Teraflop a second, sustained in bf16: two fifths of what their makers state.
GPUS = {"A100": 125.0, "H100": 400.0, "H200": 400.0}
CORES_BESIDE_GPU = 16
SHARDS, TASKS = "‖", "¦"
_NAME = re.compile(r"([1-9]\d*)x(?:([1-9]\d*)cores|(\w+))")


@dataclass(frozen=True)
class Machines:
    """Equal machines.

    Attributes:
        name: as it was told.
        count: how many.
        cores: of each.
        gpu: teraflop a second of the one GPU that each has; 0: none.
    """

    name: str
    count: int
    cores: int
    gpu: float = 0.0


@dataclass(frozen=True)
class Hours:
    """What all cells of a stage take on some machines, by what they wait for: hours.

    Attributes:
        stage: its name.
        mark: see `mark_of`.
        at_once: how many of the machines it has at once.
        cores_at_once: how many of their cores.
    """

    stage: str
    mark: str
    at_once: int
    cores_at_once: int
    network: float
    gpus: float
    cores: float

    @property
    def total(self) -> float:
        """One after the other."""
        return self.network + self.gpus + self.cores

    def limit(self, machines: Machines) -> str:
        """What most of the time goes into, in words; nothing below four seconds."""
        if self.total < 0.001:
            return ""
        if self.network >= max(self.gpus, self.cores):
            return "network"
        what, many = ("GPU", self.at_once) if self.gpus >= self.cores else ("core", self.cores_at_once)
        one = machines.count > 1 and self.at_once == 1
        return f"{many} {what}{'s' if many > 1 else ''}" + (" of one machine" if one else "")


def read_machines(name: str) -> Machines:
    """What `8xA100` or `20x16cores` means; a machine with a GPU has `CORES_BESIDE_GPU` cores.

    Raises:
        BadInput: it means nothing.
    """
    found = _NAME.fullmatch(name)
    if found is None or (found[3] and found[3] not in GPUS):
        choices = [f"1x{gpu}" for gpu in GPUS] + ["20x16cores"]
        raise BadInput("no such machines", field="machines", got=name, choices=choices)
    if found[2]:
        return Machines(name, int(found[1]), int(found[2]))
    return Machines(name, int(found[1]), CORES_BESIDE_GPU, GPUS[found[3]])


def hours(stage: str, row: Row, cells: int, machines: Machines, *, mark: str) -> Hours:
    """What a stage takes.

    Args:
        stage: its name.
        row: what one of its cells takes.
        cells: how many it has.
        machines: where.
        mark: of the stage, see `mark_of`.
    """
    count = min(machines.count, {SHARDS: machines.count, TASKS: cells}.get(mark, 1))
    cores = machines.cores * count
    if mark == TASKS and machines.count > 1 and not machines.gpu:
        cores = min(cells, machines.cores * machines.count)
    beside_gpu = min(cores, (row.gpu_processes or cores) * count) if machines.gpu else cores
    rate = machines.gpu * count if machines.gpu else cores * MACHINE.core_teraflop_a_second
    computed = cells * row.teraflop / rate / 3600
    return Hours(
        stage,
        mark,
        count,
        cores,
        network=cells * (row.downloads / (MACHINE.network_mb_a_second * 3.6) + row.waiting),
        gpus=computed if machines.gpu else 0.0,
        cores=cells * row.core_hours / beside_gpu + (0.0 if machines.gpu else computed),
    )


def mark_of(definition: Mapping[str, Any], folder: Path) -> str:
    """How a stage uses many machines: `SHARDS`, `TASKS` where each of its cells is a task, or nothing.

    Its module, or one that it hands its context to, asks for `context.engine`, or hands the context to `run_task`.

    Args:
        definition: of the stage, in `dvc.yaml`.
        folder: that holds this file, and the stages.
    """
    asked = {name for module in modules_of(definition) for name in _asked(module, folder)}
    return SHARDS if "engine" in asked else TASKS if "run_task" in asked else ""


def modules_of(definition: Mapping[str, Any]) -> list[str]:
    """The modules that a stage's command runs, by the stage's definition in `dvc.yaml`."""
    command = str((definition.get("do") or definition).get("cmd", ""))
    return re.findall(r"-m\s+(stages[\w.]+)", command)


def _asked(module: str, folder: Path) -> Iterator[str]:
    """Names that a module asks the context for, with those of the modules that it hands it to, and `run_task`."""
    tree = ast.parse(folder.joinpath(*module.split(".")).with_suffix(".py").read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    origin = {alias.asname or alias.name: str(node.module) for node in imports for alias in node.names}
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="context"), attr=name):
                yield name
            case ast.Call(func=ast.Name(id=name)) if _is_handed_the_context(node):
                if name == "run_task":
                    yield name
                elif name in origin:
                    yield from _asked(origin[name], folder)


def _is_handed_the_context(call: ast.Call) -> bool:
    told = [*call.args, *(keyword.value for keyword in call.keywords)]
    return any(isinstance(each, ast.Name) and each.id == "context" for each in told)


def show_machines(
    kinds: Sequence[Machines], taken: Sequence[Sequence[Hours]], shown: Callable[[float], str]
) -> Iterator[str]:
    """A table with two columns a kind of machines, and what is slowest on each.

    Args:
        kinds: the machines.
        taken: of each kind, what each stage takes, in one order.
        shown: writes hours.
    """
    yield "{:32}".format("stage") + "".join(f"{kind.name:>14}  {'limited by':26}" for kind in kinds)
    for stages in zip(*taken, strict=True):
        name = f"{stages[0].stage} {stages[0].mark}"
        cells = (f"{shown(each.total):>14}  {each.limit(kind):26}" for each, kind in zip(stages, kinds, strict=True))
        yield f"{name:32}" + "".join(cells)
    yield "{:32}".format("total") + "".join(f"{shown(sum(each.total for each in own)):>14}  {'':26}" for own in taken)
    yield f"{SHARDS}: works by shards, on all machines at once; any other stage runs on one of them."
    yield f"{TASKS}: trains or asks a reader, its cells at once, each on a GPU, or on a core where there is none."
    for kind, own in zip(kinds, taken, strict=True):
        first = max(own, key=lambda each: each.total)
        share = 100 * first.total / (sum(each.total for each in own) or 1)
        yield (
            f"First bottleneck on {kind.name}: {first.stage}, {shown(first.total)}, {share:.0f} % of all, "
            f"limited by {first.limit(kind)}."
        )
