"""`make plan S=paper`: say what each stage downloads and costs at a scale, before anything starts.

    trivium plan --scale paper

The stages are those of `dvc.yaml`; what they take is estimated in `trivium/commands/plan.yaml`. Marks tell which stages
a Ray cluster spreads over its machines (docs/cluster.md): ‖ works by shards, ¦ trains or asks its cells at once.
"""

import re
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from trivium.commands.scale import merge, scale_file
from trivium.core.code.digest import read_stages
from trivium.core.engine import count_cores
from trivium.core.errors import BadInput
from trivium.core.lock import value_in
from trivium.core.parameters import read_beside, read_parameters
from trivium.decorrelation.models.kind import KINDS
from trivium.decorrelation.painting.filling import FILLINGS
from trivium.sources.brought import free_space
from trivium.sources.pins import Pins

ESTIMATES: Mapping[str, Any] = read_beside(__file__, "plan.yaml")
SOURCES = ("sample", "hub", "local")
MARKS = {"shards": " ‖", "tasks": " ¦", "": ""}
LINE = "{:34}{:>12}{:>12}{:>12}{:>14}{:>16}"


@dataclass(frozen=True)
class Cost:
    """What one cell of a stage takes on the average, as `plan.yaml` says it.

    Attributes:
        is_known: False when `plan.yaml` has nothing about the stage.
        is_apart: it runs only when it is asked for by name: the construction, where the questions are real.
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
    is_known: bool = True
    is_apart: bool = False

    def hours(self, cores: int, gpu: float) -> float:
        """Hours of all cells on a machine with a GPU of `gpu` teraflop a second, 0 for none."""
        rates = ESTIMATES["rates"]
        busy = min(cores, self.gpu_processes) if gpu and self.gpu_processes else cores
        network = self.downloads / (rates["network"] * 3.6) + self.waiting
        return self.cells * (network + self.teraflop / (gpu or cores * rates["core"]) / 3600 + self.core_hours / busy)


def plan_files(params: Path, graph: Path, scale: Path | None) -> list[Cost]:
    """The cost of each stage of a `dvc.yaml` at a scale, which is merged over the parameters; None: as they are.

    Raises:
        BadInput: a file is not there or cannot be read, or see `merge` and `Quantities`.
    """
    parameters = read_parameters(params)
    if scale:
        list(merge(parameters, read_parameters(scale), scale))
    cells = Counter(name.partition("@")[0] for name, *_ in read_stages(graph.parent, parameters))
    quantities = Quantities(parameters)
    is_apart = quantities.parameter("world.kvqae") != "sample" and quantities.parameter("kvqae.dataset") != "rebuilt"
    apart = ESTIMATES["construction"] if is_apart else ()
    costs = []
    for stage in read_parameters(graph)["stages"]:
        row = ESTIMATES["stages"].get(stage, {} if "-page_" in stage else None)
        columns: dict[str, Any] = {
            name: value if name == "spread" else quantities.value(value, cells[stage])
            for name, value in (row or {}).items()
        }
        costs.append(Cost(stage, cells[stage], is_known=row is not None, is_apart=stage in apart, **columns))
    return costs


class Quantities:
    """Values of the sums of products in `plan.yaml`, of parameters with the scale merged in.

    Raises:
        BadInput: a source in `world` is none of `SOURCES`.
    """

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self.parameters = parameters
        self.names: dict[str, Any] = dict(ESTIMATES["always"])
        parts = {
            "kvqae": self.parameter("kvqae.world.base"),
            "coco": self.parameter("decorrelation.world.pictures") == "test",
        }
        for source, columns in ESTIMATES["quantities"].items():
            chosen = self.parameter(f"world.{source}")
            if chosen not in (choices := [name for name in dict.fromkeys((*columns, *SOURCES)) if name != "part"]):
                raise BadInput("unknown source", field=f"world.{source}", got=chosen, choices=choices)
            self.names |= columns.get(chosen if chosen != "local" else "hub", columns["hub"])
            if chosen != "sample" and parts.get(source):
                self.names |= columns["part"]
            if chosen == "local":
                self.names |= columns.get("local", {})
        self.names["sweep_passages"] = max(self.parameter("kvqae.read.sweep_passages"))
        self.names |= self._complexity() | self._decorrelation()

    def parameter(self, key: str) -> Any:
        """The value at a dotted key of the parameters; None where there is none."""
        return value_in(self.parameters, key)

    def value(self, text: Any, cells: int = 1) -> float:
        """The value of a sum of products, of a stage with so many cells.

        Raises:
            BadInput: it names what is neither a quantity nor a parameter.
        """
        if isinstance(text, list):  # the first that is not null
            text = next(term for term in text if self.parameter(term) is not None or term == text[-1])
        total = 0.0
        for term in str(text).split(" + "):
            product = 1.0
            for sign, word in zip(*[iter(f"* {term}".split())] * 2, strict=True):
                factor = self._factor(word, cells)
                product = product * factor if sign == "*" else product / factor
            total += product
        return total

    def _factor(self, word: str, cells: int) -> float:
        if re.match(r"-?\d", word):
            return float(word)
        if word == "cells":
            return cells
        if word in self.names:
            return self.value(self.names[word])
        value = self.parameter(word)
        if value is None:
            raise BadInput("no such parameter", field=word)
        if isinstance(value, list | Mapping):
            return len(value)
        return 1.0 if isinstance(value, str) else float(value)

    def _complexity(self) -> dict[str, float]:
        """Quantities of the readers that are fetched and trained, and of the frame parser."""
        models, trained = (self.parameter(f"complexity.{key}") for key in ("base_models.models", "finetune.run"))
        sources = Pins().sources
        is_linear = self.parameter("complexity.frame_parser.kind") == "linear"
        return ({"parser": 1e5} if is_linear else {}) | {
            "fetched_readers_gb": sum(sources[name].bytes for name in models if name in sources) / 1e9,
            "fetched_reader": fmean(float(ESTIMATES["readers"][name]) for name in trained),
        }

    def _decorrelation(self) -> dict[str, float]:
        """Quantities of decorrelation, averaged over the cells of its paintings and trainings."""
        section, real = self.parameters["decorrelation"], self.parameter("world.decorrelation_models") != "sample"
        fillings = [FILLINGS[painting["filling"]] for painting in section["paintings"].values()]
        shown, queries = self.value("shown"), 3 * self.value("test_pictures")  # a test picture is painted several times
        everything = shown == self.value("pictures")
        of_shown = 7 / 8 if everything else queries / shown
        smaller = 0.8 if self.parameter("decorrelation.inpaint.picture_format") == "webp" else 1.0
        cells = section["cells"]
        teraflop = {kind: KINDS[kind].teraflop if real else 2e-5 for kind in ("clip", *section["train"]["models"])}
        trainings = [
            cell.get("steps", 1)
            * section["train"]["models"][cell["model"]]["steps"]
            * section["train"]["models"][cell["model"]]["batch_size"]
            * teraflop[cell["model"]]
            * 3
            for name, cell in cells.items()
            if "_zero_shot_" not in name
        ]
        models = sum(ESTIMATES["models_gb"][name] for name in section["base_models"]["models"])
        return {
            "painted": queries + shown / 2 if everything else queries,
            "painted_gb": of_shown * self.value("picture_gb") * 465 / 162 * smaller,
            "painting_teraflop": fmean(filling.teraflop for filling in fillings),
            "painting_seconds": fmean(filling.core_seconds for filling in fillings),
            "training_teraflop": sum(trainings) / len(cells),
            "matching_teraflop": fmean(teraflop[cell["model"]] for cell in cells.values()),
            "clip_teraflop": teraflop["clip"],
            "blips": sum(cell["model"] == "blip" for cell in cells.values()),
            "matchers_gb": models * self.value("matchers_fetched"),
        }


def show(costs: Sequence[Cost], free: float, cores: int) -> Iterator[str]:
    """The table, its total, and whether it fits on this disk (`free` in GB)."""
    yield LINE.format("stage", "downloads", "disk", "memory", "with a GPU", f"{cores} cores only")
    for cost in costs:
        name = cost.stage + (f" × {cost.cells}" if cost.cells > 1 else "") + MARKS[cost.spread] + " *" * cost.is_apart
        yield _line(name, [cost], cores) if cost.is_known else f"{name:34}no estimate"
    run = [cost for cost in costs if not cost.is_apart]
    if len(run) < len(costs):
        yield _line("*: by make repro P=construction", [cost for cost in costs if cost.is_apart], cores)
    yield _line("total (memory: the most)", run, cores)
    needed = sum(cost.cells * cost.disk for cost in run)
    yield f"free on this disk: {free:.0f} GB" + ("" if needed <= free else f", {needed - free:.0f} GB too few")
    yield "Outputs count once: DVC links them to its cache where the disk can (.dvc/config), elsewhere it copies them."
    yield "Estimates, right within a factor of two or three: how they are made stands in trivium/commands/plan.yaml."
    yield "Files of your own (`local`) are not looked at: they count as many and as large as the public ones."


def _line(name: str, costs: Sequence[Cost], cores: int) -> str:
    hours = [sum(cost.hours(cores, gpu) for cost in costs) for gpu in (ESTIMATES["rates"]["gpu"], 0)]
    gigabytes = [sum(cost.cells * getattr(cost, column) for cost in costs) for column in ("downloads", "disk")]
    texts = [f"{value:.1f} GB" for value in gigabytes] + [f"{max(cost.memory for cost in costs):.0f} GiB"]
    texts += [f"{time * 60:.1f} min" if time < 1 else f"{time:.1f} h" for time in hours]
    return LINE.format(name, *texts)


def options(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    text = "a scale to merge over the parameters: a name in scales/, such as paper, or a file (default: as they are)"
    parser.add_argument("--scale", help=text)


def run(arguments: Namespace) -> None:
    """Print the plan."""
    scale = scale_file(arguments.scale) if arguments.scale else None
    costs = plan_files(Path("params.yaml"), Path("dvc.yaml"), scale)
    print("\n".join(show(costs, free_space(Path.cwd()) / 1e9, count_cores())))
