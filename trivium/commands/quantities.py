"""The quantities that `plan.yaml` counts with, and the values of its sums of products."""

import re
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

import yaml

from trivium.core.errors import BadInput
from trivium.decorrelation.models.kind import KINDS
from trivium.decorrelation.painting.filling import FILLINGS
from trivium.sources.pins import Pins

ESTIMATES: Mapping[str, Any] = yaml.safe_load(Path(__file__).with_name("plan.yaml").read_text(encoding="utf-8"))
SOURCES = ("sample", "hub", "local")


class Quantities:
    """Values of the sums of products in `plan.yaml`.

    Args:
        parameters: with the scale merged in.

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
            if chosen not in (choices := tuple(dict.fromkeys((*columns, *SOURCES)))) or chosen == "part":
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
        node: Any = self.parameters
        for part in key.split("."):
            node = node.get(part) if isinstance(node, Mapping) else None
        return node

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
        return {
            "fetched_readers_gb": sum(sources[name].bytes for name in models if name in sources) / 1e9,
            "fetched_reader": fmean(float(ESTIMATES["readers"][name]) for name in trained),
            **({"parser": 1e5} if is_linear else {}),
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
