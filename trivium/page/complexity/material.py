"""The outputs of earlier stages that complexity's sections show, read only when a template asks for them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv

from trivium.complexity.effects.analysed_tables import read_names
from trivium.core.parameters import read_beside
from trivium.core.registry import member_names
from trivium.core.tables import read_json, read_table
from trivium.formats.frame_corpora import read_examples
from trivium.formats.framed_texts import Example

Metrics = Mapping[str, float]
Effect = Mapping[str, Any]  # one row of effects.parquet
LABELS = read_beside(__file__, "labels.yaml")
FINETUNED = member_names("trivium.complexity.readers.kinds")


@dataclass(frozen=True)
class Material:
    """The outputs and metrics of complexity's stages."""

    used: Mapping[str, Any]  # section `complexity` of the parameters
    sample: bool  # whether the examples are the sample world's
    data: Path  # of the stages' outputs
    measured: Path  # of their metrics
    published: Mapping[str, Any]  # tests/published/complexity.yaml

    def metrics(self, stage: str) -> Metrics:
        """The metrics of a stage."""
        metrics: Metrics = read_json(self.measured / f"{stage}.json")
        return metrics

    def rows(self, name: str) -> list[dict[str, Any]]:
        """The rows of a table among the metrics."""
        return csv.read_csv(self.measured / f"{name}.csv").to_pylist()

    def in_words(self, stage: str) -> str:
        """The score that a stage works with."""
        return str(LABELS["measures"][self.used[stage]["measure"]])

    def held_for_most(self, verdict: str) -> int:
        """How many factors have a verdict of stage validate in more than `partition.majority` of the models."""
        metrics, majority = self.metrics("validate"), self.used["partition"]["majority"]
        return sum(metrics[f"{factor}_{verdict}"] > majority * metrics["models"] for factor in self.names)

    @cached_property
    def scores(self) -> pa.Table:
        """Answers and their scores, of all models and seeds."""
        columns = ["id", "model", "kind", "seed", "prediction", "rouge_l", "rouge_l_paper"]
        return read_table(self.data / "scores.parquet", columns)

    @cached_property
    def kinds(self) -> dict[str, str]:
        """{model with scores: its kind}."""
        return dict(zip(self.scores["model"].to_pylist(), self.scores["kind"].to_pylist(), strict=True))

    def order(self, kinds: Mapping[str, str]) -> list[str]:
        """Models as the paper's Table 1 has them, then others, then baselines."""
        rows = [*self.published["table_1"]["rows"], *kinds]
        return sorted(kinds, key=lambda model: (kinds[model] == "baseline", rows.index(model)))

    @cached_property
    def models(self) -> list[str]:
        """Models without baselines, in the order of the page."""
        return [model for model in self.order(self.kinds) if self.kinds[model] != "baseline"]

    @cached_property
    def labels(self) -> dict[str, str]:
        """What each model is called on the page: its `label` in params.yaml, else the paper's name, else its own."""
        labels = {model: row["label"] for model, row in self.published["table_1"]["rows"].items()} | LABELS["baselines"]
        for section in ("finetune", "prompt"):
            labels |= {model: settings["label"] for model, settings in self.used[section]["models"].items()}
        named = {model: labels.get(model, model) for model in [*labels, *self.kinds]}
        times = Counter(named.values())
        return {model: name if times[name] == 1 else f"{name} ({model})" for model, name in named.items()}

    @property
    def called(self) -> list[str]:
        """The labels of `models`."""
        return [self.labels[model] for model in self.models]

    @cached_property
    def first_seeds(self) -> dict[str, int]:
        """{model: its first seed, -1 where it has none}."""
        first = self.scores.group_by("model").aggregate([("seed", "min")])
        return dict(zip(first["model"].to_pylist(), first["seed_min"].to_pylist(), strict=True))

    @cached_property
    def trained(self) -> dict[str, int]:
        """{fine-tuned model: its first seed}."""
        return {model: self.first_seeds[model] for model, kind in self.kinds.items() if kind in FINETUNED}

    @cached_property
    def names(self) -> dict[str, str]:
        """{factor: what it says}."""
        return read_names(self.data / "factors.parquet")

    @cached_property
    def factors(self) -> pa.Table:
        """A row an example: its text, frame, and yes or no for every factor."""
        return read_table(self.data / "factors.parquet")

    @cached_property
    def examples(self) -> Sequence[Example]:
        """The evaluation set, in the order of `factors`."""
        raw = self.data / "raw" / "calor"
        return read_examples(raw / "questions.jsonl", raw / "frames" / "test.jsonl")

    @cached_property
    def effects(self) -> dict[str, dict[str, Effect]]:
        """The effects by model, in the order of the page, and factor."""
        effects: dict[str, dict[str, Effect]] = defaultdict(dict)
        for row in read_table(self.data / "effects.parquet").to_pylist():
            effects[row["model"]][row["factor"]] = row
        return {model: effects[model] for model in self.models}

    @property
    def measure(self) -> str:
        """The score that is analysed, in words."""
        return self.in_words("validate")

    @property
    def risk(self) -> float:
        """Of every test."""
        return float(self.used["validate"]["risk"])

    @property
    def printed_shares(self) -> dict[str, float]:
        """The paper's share of yes, %, of each of our factors that the paper has."""
        return self._by_factor(self.published["table_2"]["shares"])

    @property
    def printed_deltas(self) -> dict[str, dict[str, float]]:
        """{model of the paper: {factor of ours: its δ}}; a factor that the paper does not have is left out."""
        return {model: self._by_factor(row) for model, row in self.published["table_2"]["rows"].items()}

    def _by_factor(self, row: Iterable[float]) -> dict[str, float]:
        values = dict(zip(self.published["table_2"]["factors"], row, strict=True))
        return {factor: values[factor] for factor in self.names if factor in values}
