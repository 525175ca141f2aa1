"""`make plan S=paper`: what each stage downloads and costs at a scale, before anything starts.

    trivium plan --scale scales/paper.yaml

The stages come from `dvc.yaml`, formulae from `costs.yaml` beside this file. A formula is arithmetic over the
quantities of the world (`passages`, `kb_images`, …), `cores`, the parameters (`kvqae.dpr_pretrain.batch_size`) and the
functions of `FUNCTIONS`.
"""

import argparse
import ast
import math
import operator
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trivium.commands.scale import merge
from trivium.errors import BadInput
from trivium.harness.parameters import read_parameters
from trivium.sources.disk import free_space

COSTS = Path(__file__).with_name("costs.yaml")
COLUMNS = ("downloads", "disk", "memory", "teraflop", "core_hours", "gpu_processes")
OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "min": min,
    "max": max,
    "len": len,
    "sum": sum,
    "known": lambda value, otherwise: otherwise if value is None else value,
}


@dataclass(frozen=True)
class Cost:
    """What a stage takes, all its cells together.

    Attributes:
        downloads, disk: GB; `disk` counts outputs and what is there on the way.
        memory: GiB at the most.
        with_gpu, without: hours.
        known: False when `costs.yaml` has no row for the stage.
    """

    stage: str
    cells: int
    downloads: float = 0.0
    disk: float = 0.0
    memory: float = 0.0
    with_gpu: float = 0.0
    without: float = 0.0
    known: bool = True


def evaluate(formula: str | float, names: Mapping[str, Any], where: str) -> Any:
    """Value of a formula.

    Raises:
        BadInput: something other than arithmetic, or a name that is neither a quantity nor a parameter.
    """

    def value(node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=int() | float() as number):
                return number
            case ast.BinOp(left, symbol, right) if type(symbol) in OPERATORS:
                return OPERATORS[type(symbol)](value(left), value(right))
            case ast.Name(name):
                return _look_up(names, [name], where)
            case ast.Attribute():
                return _look_up(names, ast.unparse(node).split("."), where)
            case ast.Call(ast.Name(name), arguments, []) if name in FUNCTIONS:
                return FUNCTIONS[name](*map(value, arguments))
        raise BadInput("not a formula", field=where, got=ast.unparse(node), choices=[*FUNCTIONS, "+ - * / **"])

    try:
        tree = ast.parse(str(formula), mode="eval").body
    except SyntaxError as error:
        raise BadInput(f"not a formula: {error.msg}", field=where, got=formula) from None
    return value(tree)


def _look_up(names: Mapping[str, Any], path: list[str], where: str) -> Any:
    node: Any = names
    for key in path:
        if not isinstance(node, Mapping) or key not in node:
            choices = sorted(node) if isinstance(node, Mapping) else None
            raise BadInput("unknown name in a formula", field=where, got=".".join(path), choices=choices)
        node = node[key]
    return node


def plan(
    graph: Mapping[str, Any], costs: Mapping[str, Any], parameters: Mapping[str, Any], cores: int
) -> Iterator[Cost]:
    """Cost of each stage of a DVC graph.

    Args:
        graph: `dvc.yaml`.
        costs: `costs.yaml`: `machine` (rates), `worlds` (quantities by the value of `world.<source>`), `stages`.
        parameters: `params.yaml`, with the scale merged in.
        cores: of this machine.

    Raises:
        BadInput: `world.<source>` is none of its worlds, or see `evaluate`.
    """
    machine = costs["machine"]
    names = {**parameters, **_quantities(costs, parameters), "cores": cores}
    for stage, definition in graph["stages"].items():
        cells = math.prod(len(_axis(axis, parameters)) for axis in _axes(definition))
        row = costs["stages"].get(stage)
        if row is None:
            yield Cost(stage, cells, known=False)
            continue
        one = {name: float(evaluate(row.get(name, 0), names, f"{stage}.{name}")) for name in COLUMNS}
        transfer = one["downloads"] / (machine["network_mb_a_second"] * 3.6)
        busy = one["core_hours"] / cores
        beside_gpu = one["core_hours"] / min(cores, one["gpu_processes"] or cores)
        yield Cost(
            stage,
            cells,
            downloads=cells * one["downloads"],
            disk=cells * one["disk"],
            memory=one["memory"],
            with_gpu=cells * (transfer + beside_gpu + one["teraflop"] / machine["gpu_teraflop_a_second"] / 3600),
            without=cells * (transfer + busy + one["teraflop"] / (cores * machine["core_teraflop_a_second"]) / 3600),
        )


def plan_files(params: Path, graph: Path, scale: Path | None, cores: int) -> list[Cost]:
    """Cost of each stage at a scale, from the project's files.

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
    return list(plan(read_parameters(graph), read_parameters(COSTS), parameters, cores))


def _quantities(costs: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The quantities of every source's world; files of one's own are as large as those of the hub."""
    values: dict[str, Any] = {}
    for source, worlds in costs["worlds"].items():
        chosen = parameters.get("world", {}).get(source)
        if chosen not in (*worlds, "local"):
            raise BadInput("unknown source", field=f"world.{source}", got=chosen, choices=[*worlds, "local"])
        chosen = "hub" if chosen == "local" else chosen
        for name, formula in worlds[chosen].items():  # a later one may use an earlier one
            values[name] = evaluate(formula, {**parameters, **values}, f"worlds.{source}.{chosen}.{name}")
    return values


def _axes(definition: Mapping[str, Any]) -> list[Any]:
    return [definition["foreach"]] if "foreach" in definition else list(definition.get("matrix", {}).values())


def _axis(axis: Any, parameters: Mapping[str, Any]) -> Any:
    """The cells along an axis: written out, or `${section.key}`."""
    if isinstance(axis, str):
        return _look_up(parameters, axis.strip("${} ").removeprefix("param.").split("."), "dvc.yaml")
    return axis


def show(costs: list[Cost], free: float, cores: int) -> Iterator[str]:
    """The table, its total, and whether it fits on this disk (`free` in GB)."""
    head = ("stage", "downloads", "disk", "memory", "with a GPU", f"{cores} cores only")
    yield "{:32}{:>12}{:>12}{:>12}{:>14}{:>16}".format(*head)
    for cost in costs:
        name = cost.stage + (f" × {cost.cells}" if cost.cells > 1 else "")
        cells = [f"{cost.downloads:.1f} GB", f"{cost.disk:.1f} GB", f"{cost.memory:.0f} GiB"]
        cells += [_hours(cost.with_gpu), _hours(cost.without)]
        yield f"{name:32}" + ("no estimate" if not cost.known else "{:>12}{:>12}{:>12}{:>14}{:>16}".format(*cells))
    total = [f"{sum(cost.downloads for cost in costs):.1f} GB", f"{sum(cost.disk for cost in costs):.1f} GB"]
    total += [f"{max(cost.memory for cost in costs):.0f} GiB"]
    total += [_hours(sum(cost.with_gpu for cost in costs)), _hours(sum(cost.without for cost in costs))]
    yield "{:32}{:>12}{:>12}{:>12}{:>14}{:>16}".format("total (memory: the most)", *total)
    needed = sum(cost.disk for cost in costs)
    yield f"free on this disk: {free:.0f} GB" + ("" if needed <= free else f", {needed - free:.0f} GB too few")
    yield "Estimates, right within a factor of two or three: how they are made stands in trivium/commands/costs.yaml."


def _hours(hours: float) -> str:
    return f"{hours * 60:.1f} min" if hours < 1 else f"{hours:.1f} h"


def main(argv: Sequence[str] | None = None) -> None:
    """Print the plan."""
    parser = argparse.ArgumentParser(prog="trivium plan", description=__doc__)
    parser.add_argument("--scale", type=Path, help="merged over the parameters; none: as they are")
    parser.add_argument("--params", type=Path, default=Path("params.yaml"))
    parser.add_argument("--graph", type=Path, default=Path("dvc.yaml"))
    arguments = parser.parse_args(argv)
    cores = os.cpu_count() or 1
    try:
        costs = plan_files(arguments.params, arguments.graph, arguments.scale, cores)
    except BadInput as error:
        print(error, file=sys.stderr)
        raise SystemExit(1) from None
    print("\n".join(show(costs, free_space(Path.cwd()) / 1e9, cores)))


if __name__ == "__main__":
    main()
