"""`make plan S=paper`: say what each stage downloads and costs at a scale, before anything starts.

    trivium plan --scale scales/paper.yaml
    trivium plan --scale scales/paper.yaml --machines 1xH200 8xA100 20x16cores

It also says when the first tables are ready. With --machines it prints the hours of each stage on these machines, and
what each stage waits for. The stages are those of `dvc.yaml`; what they take is estimated in `trivium/commands/costs`.
"""

import argparse
import math
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import networkx as nx

from trivium.commands.costs.machines import Hours, hours, mark_of, read_machines, show_machines
from trivium.commands.costs.project import stage_costs
from trivium.commands.costs.row import MACHINE, Machine, Row
from trivium.commands.scale import merge
from trivium.commands.stage_models import Used
from trivium.core.errors import BadInput
from trivium.core.parameters import read_parameters
from trivium.page.contents import stage_of
from trivium.sources.disk import free_space


@dataclass(frozen=True)
class Cost:
    """What a stage takes, all its cells together.

    Attributes:
        downloads, disk: GB; `disk` counts outputs and what is there on the way.
        memory: GiB at the most.
        with_gpu, without: hours.
        known: False when `costs/` has no row for the stage.
        apart: it runs only when it is asked for by name: the construction, where the questions are real.
    """

    stage: str
    cells: int
    downloads: float = 0.0
    disk: float = 0.0
    memory: float = 0.0
    with_gpu: float = 0.0
    without: float = 0.0
    known: bool = True
    apart: bool = False


def plan(
    graph: Mapping[str, Any], rows: Mapping[str, Row], used: Used, cores: int, machine: Machine = MACHINE
) -> Iterator[Cost]:
    """Cost of each stage of a DVC graph.

    Args:
        graph: `dvc.yaml`.
        rows: what one cell of each stage takes; a stage may have none.
        used: the parameters, which the graph's axes name.
        cores: of this machine.
        machine: its rates.
    """
    for stage, definition in graph["stages"].items():
        cells = math.prod(len(_axis(axis, used)) for axis in _axes(definition))
        row = rows.get(stage)
        if row is None:
            yield Cost(stage, cells, known=False)
            continue
        transfer = row.downloads / (machine.network_mb_a_second * 3.6) + row.waiting
        busy = row.core_hours / cores
        beside_gpu = row.core_hours / min(cores, row.gpu_processes or cores)
        yield Cost(
            stage,
            cells,
            downloads=cells * row.downloads,
            disk=cells * row.disk,
            memory=row.memory,
            with_gpu=cells * (transfer + beside_gpu + row.teraflop / machine.gpu_teraflop_a_second / 3600),
            without=cells * (transfer + busy + row.teraflop / (cores * machine.core_teraflop_a_second) / 3600),
        )


def plan_files(params: Path, graph: Path, scale: Path | None, cores: int) -> tuple[list[Cost], list[str]]:
    """Cost of each stage at a scale, and of the first tables, from the project's files.

    Args:
        params: `params.yaml`.
        graph: `dvc.yaml`.
        scale: merged over the parameters; None: as they are.
        cores: of this machine.

    Raises:
        BadInput: a file is not there or not YAML, or see `merge` and `plan`.
    """
    parameters = read_parameters(params)
    if scale:
        list(merge(parameters, read_parameters(scale), scale))
    used, stages = Used(parameters), read_parameters(graph)
    needs, real = needed_by(stages, used), used("world.kvqae") != "sample"
    apart = of_construction(needs) if real else set()
    costs = [replace(cost, apart=cost.stage in apart) for cost in plan(stages, stage_costs(used, cores), used, cores)]
    return costs, list(first_tables(needs, costs))


FIRST = {"kvqae-evaluate": "Tables 2 to 4 of KVQAE", "decorrelation-evaluate": "ODmAP and R@k of decorrelation"}


def machines_files(params: Path, graph: Path, scale: Path | None, names: Sequence[str]) -> list[str]:
    """What `plan --machines` prints: hours of what `make repro` runs, from the project's files.

    Args:
        params, graph, scale: as for `plan_files`.
        names: such as `8xA100` and `20x16cores`.

    Raises:
        BadInput: see `plan_files` and `read_machines`.
    """
    kinds = [read_machines(name) for name in names]
    taken: list[list[Hours]] = []
    stages = read_parameters(graph)["stages"]
    for kind in kinds:
        parameters = read_parameters(params)
        if scale:
            list(merge(parameters, read_parameters(scale), scale))
        rows = stage_costs(Used(parameters), kind.cores)
        costs = [cost for cost in plan_files(params, graph, scale, kind.cores)[0] if cost.known and not cost.apart]
        taken.append(
            [
                hours(
                    cost.stage, rows[cost.stage], cost.cells, kind,
                    mark=mark_of(stages[cost.stage], graph.parent),
                )
                for cost in costs
            ]
        )  # fmt: skip
    return list(show_machines(kinds, taken, _hours))


def of_construction(needs: nx.DiGraph) -> set[str]:
    """The stages that only the construction's section of the page needs, of a graph as `needed_by` makes it."""
    last = {cell for cell in needs if cell[0] == stage_of("kvqae", "construction")}
    own = last.union(*(nx.descendants(needs, cell) for cell in last))
    return {cell[0] for cell in own if all(other in own or other[0] == "report" for other in nx.ancestors(needs, cell))}


def first_tables(needs: nx.DiGraph, costs: Sequence[Cost]) -> Iterator[str]:
    """A line for each of `FIRST`: what it costs with all that it needs, which is all that runs before it.

    Args:
        needs: as `needed_by` makes it.
        costs: of its stages.
    """
    for stage, name in FIRST.items():
        if (stage, 0) in needs:
            wanted = Counter(name for name, _ in nx.descendants(needs, (stage, 0)) | {(stage, 0)})
            shares = [(cost, wanted[cost.stage] / cost.cells) for cost in costs if wanted[cost.stage]]
            downloads, disk, hours = (
                sum(share * getattr(cost, column) for cost, share in shares)
                for column in ("downloads", "disk", "with_gpu")
            )
            so_much = f"{downloads:.1f} GB of downloads, {disk:.1f} GB of disk and {_hours(hours)} with a GPU"
            yield f"{name}: after {so_much}."


def needed_by(graph: Mapping[str, Any], used: Used) -> nx.DiGraph:
    """The cells (stage, number) of `dvc.yaml`, with edges to those that write what they read.

    Args:
        graph: `dvc.yaml`.
        used: the parameters, which paths may name.
    """
    read: dict[tuple[str, int], set[str]] = {}
    written: dict[tuple[str, int], set[str]] = {}
    for name, definition in graph["stages"].items():
        stage = definition.get("do", definition)
        for number, cell in enumerate(_cells(definition, used)):
            read[name, number] = {_path(entry, cell, used) for entry in stage.get("deps", ())}
            outs = (entry for kind in ("outs", "metrics", "plots") for entry in stage.get(kind, ()))
            written[name, number] = {_path(entry, cell, used) for entry in outs}
    found = nx.DiGraph()
    found.add_nodes_from(read)
    for reader, needed in read.items():
        for writer, made in written.items():
            if reader != writer and any(_within(one, other) or _within(other, one) for one in needed for other in made):
                found.add_edge(reader, writer)
    return found


def _within(path: str, folder: str) -> bool:
    return f"{path}/".startswith(f"{folder}/")


def _cells(definition: Mapping[str, Any], used: Used) -> list[dict[str, Any]]:
    """What `item` and `key` stand for in each cell."""
    if "foreach" in definition:
        axis = _axis(definition["foreach"], used)
        if isinstance(axis, Mapping):
            return [{"key": key, "item": item} for key, item in axis.items()]
        return [{"item": item} for item in axis]
    matrix = {name: _axis(axis, used) for name, axis in definition.get("matrix", {}).items()}
    return [{"item": dict(zip(matrix, values, strict=True))} for values in product(*matrix.values())]


def _path(entry: Any, cell: Mapping[str, Any], used: Used) -> str:
    """A path without variables."""

    def value(match: re.Match[str]) -> str:
        name, *places = re.findall(r"[^.\[\]]+", match[1])
        if name not in cell:
            dotted, *places = re.findall(r"[^\[\]]+", match[1])
            node = used(dotted)
        else:
            node = cell[name]
        for place in places:
            if isinstance(node, Mapping) and place not in node:
                raise BadInput("a cell lacks a setting; a scale changes cells that the parameters have",
                               field=str(cell.get("key", match[1])), got=dict(node), expected=place)  # fmt: skip
            node = node[int(place) if isinstance(node, list) else place]
        return str(node)

    return re.sub(r"\$\{([^}]*)\}", value, next(iter(entry)) if isinstance(entry, Mapping) else entry)


def _axes(definition: Mapping[str, Any]) -> list[Any]:
    return [definition["foreach"]] if "foreach" in definition else list(definition.get("matrix", {}).values())


def _axis(axis: Any, used: Used) -> Any:
    """The cells along an axis: written out, or `${section.key}`."""
    if isinstance(axis, str):
        return used(axis.strip("${} ").removeprefix("param."))
    return axis


def show(costs: list[Cost], free: float, cores: int) -> Iterator[str]:
    """The table, its total, and whether it fits on this disk (`free` in GB)."""
    head = ("stage", "downloads", "disk", "memory", "with a GPU", f"{cores} cores only")
    yield "{:32}{:>12}{:>12}{:>12}{:>14}{:>16}".format(*head)
    for cost in costs:
        name = cost.stage + (f" × {cost.cells}" if cost.cells > 1 else "") + (" *" if cost.apart else "")
        cells = [f"{cost.downloads:.1f} GB", f"{cost.disk:.1f} GB", f"{cost.memory:.0f} GiB"]
        cells += [_hours(cost.with_gpu), _hours(cost.without)]
        yield f"{name:32}" + ("no estimate" if not cost.known else "{:>12}{:>12}{:>12}{:>14}{:>16}".format(*cells))
    run = [cost for cost in costs if not cost.apart]
    if len(run) < len(costs):
        yield _sum("*: by make repro P=construction", [cost for cost in costs if cost.apart])
    yield _sum("total (memory: the most)", run)
    needed = sum(cost.disk for cost in run)
    yield f"free on this disk: {free:.0f} GB" + ("" if needed <= free else f", {needed - free:.0f} GB too few")
    yield "Outputs count once: DVC links them to its cache where the disk can (.dvc/config), elsewhere it copies them."
    yield "Estimates, right within a factor of two or three: how they are made stands in trivium/commands/costs."


def _sum(name: str, costs: Sequence[Cost]) -> str:
    total = [f"{sum(cost.downloads for cost in costs):.1f} GB", f"{sum(cost.disk for cost in costs):.1f} GB"]
    total += [f"{max(cost.memory for cost in costs):.0f} GiB"]
    total += [_hours(sum(cost.with_gpu for cost in costs)), _hours(sum(cost.without for cost in costs))]
    return "{:32}{:>12}{:>12}{:>12}{:>14}{:>16}".format(name, *total)


def _hours(hours: float) -> str:
    return f"{hours * 60:.1f} min" if hours < 1 else f"{hours:.1f} h"


def parser() -> argparse.ArgumentParser:
    """What the command takes."""
    made = argparse.ArgumentParser(
        prog="trivium plan", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument(
        "--scale",
        type=Path,
        help="a file of scales/ to merge over the parameters (default: the parameters as they are)",
    )
    made.add_argument(
        "--machines",
        nargs="+",
        metavar="NxKIND",
        help="give the hours on these machines, such as 1xH200 8xA100 20x16cores",
    )
    made.add_argument("--params", type=Path, default=Path("params.yaml"), help="file of parameters (%(default)s)")
    made.add_argument("--graph", type=Path, default=Path("dvc.yaml"), help="file of stages (%(default)s)")
    return made


def main(argv: Sequence[str] | None = None) -> None:
    """Print the plan."""
    arguments = parser().parse_args(argv)
    cores = os.cpu_count() or 1
    try:
        if arguments.machines:
            told = machines_files(arguments.params, arguments.graph, arguments.scale, arguments.machines)
            print("\n".join(told))
            return
        costs, first = plan_files(arguments.params, arguments.graph, arguments.scale, cores)
    except BadInput as error:
        print(error, file=sys.stderr)
        raise SystemExit(1) from None
    print("\n".join([*show(costs, free_space(Path.cwd()) / 1e9, cores), *first]))


if __name__ == "__main__":
    main()
