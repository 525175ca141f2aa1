"""`make plan S=paper`: say what each stage downloads and costs at a scale, before anything starts.

    trivium plan --scale paper
    trivium plan --scale paper --machines 1xH200 8xA100 20x16cores

It also says when the first tables are ready. With --machines it prints the hours of each stage on these machines, and
what each stage waits for: a stage that works by shards is spread over all of them (docs/cluster.md), the cells of a
training run at once, any other stage runs on one machine, one after the other, and downloads come no faster to several.
The stages are those of `dvc.yaml`; what they take is estimated in `trivium/commands/plan.yaml`.
"""

import json
import os
import re
import tempfile
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx as nx

from trivium.commands.quantities import ESTIMATES, Quantities
from trivium.commands.scale import merge, scale_file
from trivium.core.errors import BadInput
from trivium.core.parameters import read_parameters
from trivium.sources.disk import free_space

CORES_BESIDE_GPU = 16
MARKS = {"shards": "‖", "tasks": "¦", "": ""}
NUMBERS = ("downloads", "disk", "memory", "teraflop", "core_hours", "waiting", "gpu_processes")


@dataclass(frozen=True)
class Cost:
    """What one cell of a stage takes on the average, as `plan.yaml` says it.

    Attributes:
        known: False when `plan.yaml` has nothing about the stage.
        apart: it runs only when it is asked for by name: the construction, where the questions are real.
    """

    stage: str
    cells: int
    downloads: float = 0.0
    disk: float = 0.0
    memory: float = 1.0
    teraflop: float = 0.0
    core_hours: float = 0.0
    waiting: float = 0.0
    gpu_processes: float = 0.0
    spread: str = ""
    known: bool = True
    apart: bool = False


@dataclass(frozen=True)
class Machines:
    """Equal machines; `gpu`: teraflop a second of the one GPU that each has, 0 for none."""

    name: str
    count: int
    cores: int
    gpu: float = 0.0

    def hours(self, cost: Cost) -> dict[str, float]:
        """Hours of all cells of a stage, by what they wait for: the network, GPUs or cores."""
        rates = ESTIMATES["rates"]
        count, cores = self._at_once(cost)
        computed = cost.cells * cost.teraflop / (self.gpu * count or cores * rates["core"]) / 3600
        busy = min(cores, cost.gpu_processes * count) if self.gpu and cost.gpu_processes else cores
        return {
            "network": cost.cells * (cost.downloads / (rates["network"] * 3.6) + cost.waiting),
            "GPU": computed if self.gpu else 0.0,
            "core": cost.cells * cost.core_hours / busy + (0.0 if self.gpu else computed),
        }

    def total(self, *costs: Cost) -> float:
        """Hours of stages one after the other."""
        return sum(sum(self.hours(cost).values()) for cost in costs)

    def limit(self, cost: Cost) -> str:
        """What most of a stage's time goes into, in words; nothing below four seconds."""
        hours = self.hours(cost)
        if sum(hours.values()) < 0.001:
            return ""
        what = max(hours, key=lambda name: hours[name])
        if what == "network":
            return what
        count, cores = self._at_once(cost)
        number = count if what == "GPU" else cores
        one = " of one machine" if self.count > 1 and count == 1 else ""
        return f"{number} {what}{'s' if number > 1 else ''}{one}"

    def _at_once(self, cost: Cost) -> tuple[int, int]:
        """How many of the machines a stage has at once, and how many of their cores."""
        count = min(self.count, {"shards": self.count, "tasks": cost.cells}.get(cost.spread, 1))
        if cost.spread == "tasks" and self.count > 1 and not self.gpu:
            return count, min(cost.cells, self.cores * self.count)
        return count, self.cores * count


def read_machines(name: str) -> Machines:
    """Read what `8xA100` or `20x16cores` means; a machine with a GPU has `CORES_BESIDE_GPU` cores.

    Raises:
        BadInput: it means nothing.
    """
    gpus = ESTIMATES["gpus"]
    parts = re.fullmatch(rf"([1-9]\d*)x(?:([1-9]\d*)cores|({'|'.join(gpus)}))", name)
    if parts is None:
        choices = [*(f"1x{gpu}" for gpu in gpus), "20x16cores"]
        raise BadInput("no such machines", field="machines", got=name, choices=choices)
    if parts[2]:
        return Machines(name, int(parts[1]), int(parts[2]))
    return Machines(name, int(parts[1]), CORES_BESIDE_GPU, gpus[parts[3]])


def plan_files(params: Path, graph: Path, scale: Path | None) -> tuple[list[Cost], list[str]]:
    """Cost of each stage at a scale, and a sentence for each of the first tables, from the project's files.

    Args:
        params: `params.yaml`.
        graph: `dvc.yaml`.
        scale: merged over the parameters; None: as they are.

    Raises:
        BadInput: a file is not there, not YAML or not what DVC reads, or see `merge` and `Quantities`.
    """
    parameters = read_parameters(params)
    if scale:
        list(merge(parameters, read_parameters(scale), scale))
    needs = read_graph(graph, parameters)
    cells = Counter(name.partition("@")[0] for name in needs)
    quantities, apart = Quantities(parameters), ESTIMATES["apart"]
    own: set[str] = set()
    if parameters["world"]["kvqae"] != "sample" and apart in needs:
        below = {apart, *nx.descendants(needs, apart)}
        last = {"report", *nx.ancestors(needs, "report")}
        own = {name for name in below if nx.ancestors(needs, name) <= below | last}
    costs = []
    for stage in read_parameters(graph)["stages"]:
        row = ESTIMATES["stages"].get(stage, {} if "-page_" in stage else None)
        numbers: dict[str, Any] = {
            name: quantities.value(row[name], cells[stage]) for name in NUMBERS if name in (row or ())
        }
        spread = (row or {}).get("spread", "")
        costs.append(Cost(stage, cells[stage], known=row is not None, spread=spread, apart=stage in own, **numbers))
    return costs, [_first(name, stage, needs, costs) for stage, name in ESTIMATES["first"].items() if stage in needs]


def read_graph(graph: Path, parameters: Mapping[str, Any]) -> nx.DiGraph:
    """Have DVC read its stages with other parameters than those that lie there.

    Returns:
        The names of all cells, `stage@key`, with edges to those whose outputs they read.

    Raises:
        BadInput: DVC refuses them, as when a scale leaves a setting of a cell open.
    """
    from dvc.exceptions import DvcException
    from dvc.repo import Repo

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / ".dvc").mkdir()
        (Path(folder) / ".dvc" / "config").write_text("[core]\n    no_scm = true\n", encoding="utf-8")
        (Path(folder) / "dvc.yaml").write_bytes(graph.read_bytes())
        (Path(folder) / "params.yaml").write_text(json.dumps(parameters), encoding="utf-8")
        try:
            stages = Repo(folder).index.graph
        except DvcException as error:
            raise BadInput(f"DVC cannot read the graph: {error}", file=graph) from None
    return nx.relabel_nodes(stages, lambda stage: stage.name)


def _first(name: str, stage: str, needs: nx.DiGraph, costs: Sequence[Cost]) -> str:
    """What a table costs with all that it needs, which is all that runs before it."""
    wanted = Counter(cell.partition("@")[0] for cell in {stage, *nx.descendants(needs, stage)})
    machines = Machines("", 1, os.cpu_count() or 1, ESTIMATES["rates"]["gpu"])
    downloads, disk = (
        sum(wanted[cost.stage] * getattr(cost, name) for cost in costs) for name in ("downloads", "disk")
    )
    hours = sum(wanted[cost.stage] / cost.cells * machines.total(cost) for cost in costs if wanted[cost.stage])
    return f"{name}: after {downloads:.1f} GB of downloads, {disk:.1f} GB of disk and {_hours(hours)} with a GPU."


LINE = "{:32}{:>12}{:>12}{:>12}{:>14}{:>16}"


def show(costs: Sequence[Cost], free: float, cores: int) -> Iterator[str]:
    """The table, its total, and whether it fits on this disk (`free` in GB)."""
    yield LINE.format("stage", "downloads", "disk", "memory", "with a GPU", f"{cores} cores only")
    for cost in costs:
        name = cost.stage + (f" × {cost.cells}" if cost.cells > 1 else "") + (" *" if cost.apart else "")
        yield _line(name, [cost], cores) if cost.known else f"{name:32}no estimate"
    run = [cost for cost in costs if not cost.apart]
    if len(run) < len(costs):
        yield _line("*: by make repro P=construction", [cost for cost in costs if cost.apart], cores)
    yield _line("total (memory: the most)", run, cores)
    needed = sum(cost.cells * cost.disk for cost in run)
    yield f"free on this disk: {free:.0f} GB" + ("" if needed <= free else f", {needed - free:.0f} GB too few")
    yield "Outputs count once: DVC links them to its cache where the disk can (.dvc/config), elsewhere it copies them."
    yield "Estimates, right within a factor of two or three: how they are made stands in trivium/commands/plan.yaml."


def _line(name: str, costs: Sequence[Cost], cores: int) -> str:
    here = [Machines("", 1, cores, gpu) for gpu in (ESTIMATES["rates"]["gpu"], 0)]
    hours = [machines.total(*costs) for machines in here]
    gigabytes = [sum(cost.cells * getattr(cost, column) for cost in costs) for column in ("downloads", "disk")]
    texts = [f"{value:.1f} GB" for value in gigabytes] + [f"{max(cost.memory for cost in costs):.0f} GiB"]
    return LINE.format(name, *texts, *map(_hours, hours))


def _hours(hours: float) -> str:
    return f"{hours * 60:.1f} min" if hours < 1 else f"{hours:.1f} h"


def show_machines(kinds: Sequence[Machines], costs: Sequence[Cost]) -> Iterator[str]:
    """A table with two columns a kind of machines, and what is slowest on each."""
    hours = [[kind.total(cost) for cost in costs] for kind in kinds]
    yield f"{'stage':32}" + "".join(f"{kind.name:>14}  {'limited by':26}" for kind in kinds)
    for row, cost in enumerate(costs):
        texts = (f"{_hours(own[row]):>14}  {kind.limit(cost):26}" for kind, own in zip(kinds, hours, strict=True))
        yield f"{cost.stage + ' ' + MARKS[cost.spread]:32}" + "".join(texts)
    yield f"{'total':32}" + "".join(f"{_hours(sum(own)):>14}  {'':26}" for own in hours)
    yield f"{MARKS['shards']}: works by shards, on all machines at once; any other stage runs on one of them."
    yield f"{MARKS['tasks']}: trains or asks a reader, its cells at once, each on a GPU, or on a core if there is none."
    for kind, own in zip(kinds, hours, strict=True):
        slowest = max(range(len(own)), key=own.__getitem__)
        share = 100 * own[slowest] / (sum(own) or 1)
        told = f"{_hours(own[slowest])}, {share:.0f} % of all, limited by {kind.limit(costs[slowest])}."
        yield f"First bottleneck on {kind.name}: {costs[slowest].stage}, {told}"


def options(parser: ArgumentParser) -> None:
    """What the command takes."""
    told = "a scale to merge over the parameters: a name in scales/, such as paper, or a file (default: as they are)"
    parser.add_argument("--scale", help=told)
    told = "give the hours on these machines, such as 1xH200 8xA100 20x16cores"
    parser.add_argument("--machines", nargs="+", metavar="NxKIND", help=told)


def run(arguments: Namespace) -> None:
    """Print the plan."""
    kinds = [read_machines(name) for name in arguments.machines or ()]
    scale = scale_file(arguments.scale) if arguments.scale else None
    costs, first = plan_files(Path("params.yaml"), Path("dvc.yaml"), scale)
    if kinds:
        lines = list(show_machines(kinds, [cost for cost in costs if cost.known and not cost.apart]))
    else:
        lines = [*show(costs, free_space(Path.cwd()) / 1e9, os.cpu_count() or 1), *first]
    print("\n".join(lines))
