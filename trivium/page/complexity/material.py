"""The outputs of earlier stages that complexity's sections show."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
    scores: pa.Table  # answers and their scores, of all models and seeds
    factors: pa.Table  # a row an example: its text, frame, and yes or no for every factor
    examples: Sequence[Example]  # in the order of `factors`
    names: Mapping[str, str]  # factor → what it says
    kinds: dict[str, str]  # model with scores → its kind
    models: Sequence[str]  # without baselines, in the order of the page
    labels: Mapping[str, str]  # model → its label in params.yaml, else the paper's name, else its own
    first_seeds: Mapping[str, int]  # -1 where a model has none
    effects: Mapping[str, Mapping[str, Effect]]  # by model, in the order of the page, and factor
    printed_deltas: Mapping[str, Mapping[str, float]]  # model of the paper → factor → its δ
    printed_shares: Mapping[str, float]  # factor → the paper's share of yes, %
    measure: str  # the score that is analysed, in words
    partition_measure: str  # that by which examples are cut into partitions
    risk: float  # of every test

    def metrics(self, stage: str) -> Metrics:
        """The metrics of a stage."""
        metrics: Metrics = read_json(self.measured / f"{stage}.json")
        return metrics

    def rows(self, name: str) -> list[dict[str, Any]]:
        """The rows of a table among the metrics."""
        return csv.read_csv(self.measured / f"{name}.csv").to_pylist()

    def held_for_most(self, verdict: str) -> int:
        """How many factors have a verdict of stage validate in more than `partition.majority` of the models."""
        metrics, majority = self.metrics("validate"), self.used["partition"]["majority"]
        return sum(metrics[f"{factor}_{verdict}"] > majority * metrics["models"] for factor in self.names)

    @property
    def trained(self) -> dict[str, int]:
        """{fine-tuned model: its first seed}."""
        return {model: self.first_seeds[model] for model, kind in self.kinds.items() if kind in FINETUNED}


def order_models(kinds: Mapping[str, str], published: Mapping[str, Any]) -> list[str]:
    """Models as the paper's Table 1 has them, then others, then baselines."""
    rows = [*published["table_1"]["rows"], *kinds]
    return sorted(kinds, key=lambda model: (kinds[model] == "baseline", rows.index(model)))


def read_material(
    used: Mapping[str, Any], sample: bool, data: Path, measured: Path, published: Mapping[str, Any]
) -> Material:
    """Read the tables in `data`, and give names to models and factors."""
    columns = ["id", "model", "kind", "seed", "prediction", "rouge_l", "rouge_l_paper"]
    scores, raw = read_table(data / "scores.parquet", columns), data / "raw" / "calor"
    kinds = dict(zip(scores["model"].to_pylist(), scores["kind"].to_pylist(), strict=True))
    models = [model for model in order_models(kinds, published) if kinds[model] != "baseline"]
    first = scores.group_by("model").aggregate([("seed", "min")])
    labels = {model: row["label"] for model, row in published["table_1"]["rows"].items()} | LABELS["baselines"]
    for section in ("finetune", "prompt"):
        labels |= {model: settings["label"] for model, settings in used[section]["models"].items()}
    named = {model: labels.get(model, model) for model in [*labels, *kinds]}
    times = Counter(named.values())
    effects: dict[str, dict[str, Effect]] = defaultdict(dict)
    for row in read_table(data / "effects.parquet").to_pylist():
        effects[row["model"]][row["factor"]] = row
    printed = published["table_2"]
    factors = printed["factors"]
    return Material(
        used, sample, data, measured, published,
        scores=scores,
        factors=read_table(data / "factors.parquet"),
        examples=read_examples(raw / "questions.jsonl", raw / "frames" / "test.jsonl"),
        names=read_names(data / "factors.parquet"),
        kinds=kinds,
        models=models,
        labels={model: name if times[name] == 1 else f"{name} ({model})" for model, name in named.items()},
        first_seeds=dict(zip(first["model"].to_pylist(), first["seed_min"].to_pylist(), strict=True)),
        effects={model: effects[model] for model in models},
        printed_deltas={model: dict(zip(factors, row, strict=True)) for model, row in printed["rows"].items()},
        printed_shares=dict(zip(factors, printed["shares"], strict=True)),
        measure=LABELS["measures"][used["validate"]["measure"]],
        partition_measure=LABELS["measures"][used["partition"]["measure"]],
        risk=used["validate"]["risk"],
    )  # fmt: skip
