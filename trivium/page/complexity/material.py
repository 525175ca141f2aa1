"""What the stages before left for complexity's sections, and what these say of each model beside its scores."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv

from trivium.complexity.effects.analysed_tables import read_names
from trivium.complexity.factors.registry import FACTORS
from trivium.core.registry import member_names
from trivium.core.tables import read_json, read_table
from trivium.formats.frame_corpora import read_examples
from trivium.formats.framed_texts import Example

Metrics = Mapping[str, float]
Effect = Mapping[str, Any]  # one row of effects.parquet
BASELINES = {
    "best_overlap_sentence": "Sentence with most words of the question",
    "random_span": "Random span, as long as an answer",
}
MEASURES = {
    "rouge_l_paper": "ROUGE-L in the paper’s setting",
    "rouge_l": "Unicode-aware ROUGE-L",
    "em": "EM",
    "f1": "F1",
}
FINETUNED = member_names("trivium.complexity.readers.kinds")
_REPLIES = {
    "unwrapped": "taken out of quotation marks or the label of the prompt",
    "talked": "not words of the text: talk, scored as it is",
    "cut": "cut at the longest answer",
    "empty": "empty",
    "refused": "refused, scored as no answer",
}
_CUTS = {
    "contexts_cut": "about a text whose end did not fit into the prompt",
    "answers_behind_cut": "whose reference answer lies behind that cut, in part at least: not to be answered",
    "not_ended": "answers cut at the longest answer",
}


@dataclass(frozen=True)
class Material:
    """What complexity's sections are made of, read as far as they ask for it.

    Attributes:
        used: section `complexity` of the parameters.
        sample: whether the examples are the sample world's.
        data, measured: folders of the stages' outputs and metrics.
        published: tests/published/complexity.yaml.
    """

    used: Mapping[str, Any]
    sample: bool
    data: Path
    measured: Path
    published: Mapping[str, Any]

    def metrics(self, stage: str) -> Metrics:
        """The metrics of a stage."""
        found: Metrics = read_json(self.measured / f"{stage}.json")
        return found

    def rows(self, name: str) -> list[dict[str, Any]]:
        """The rows of a table among the metrics."""
        return csv.read_csv(self.measured / f"{name}.csv").to_pylist()

    @cached_property
    def scores(self) -> pa.Table:
        """Answers and their scores, of all models and seeds."""
        return read_table(
            self.data / "scores.parquet", ["id", "model", "kind", "seed", "prediction", "rouge_l", "rouge_l_paper"]
        )

    @cached_property
    def kinds(self) -> dict[str, str]:
        """{model with scores: its kind}."""
        return dict(zip(self.scores["model"].to_pylist(), self.scores["kind"].to_pylist(), strict=True))

    @cached_property
    def models(self) -> list[str]:
        """Models without baselines, in the order of the page."""
        return [model for model in order(self.kinds, self.published) if self.kinds[model] != "baseline"]

    @cached_property
    def labels(self) -> dict[str, str]:
        """What each model is called on the page: its `label` in params.yaml, else the paper's name, else its own."""
        known = {model: row["label"] for model, row in self.published["table_1"]["rows"].items()} | BASELINES
        for section in ("finetune", "prompt"):
            known |= {model: settings["label"] for model, settings in self.used[section]["models"].items()}
        named = {model: known.get(model, model) for model in [*known, *self.kinds]}
        times = Counter(named.values())
        return {model: name if times[name] == 1 else f"{name} ({model})" for model, name in named.items()}

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
    def weak(self) -> dict[str, str]:
        """{model: why its scores say little}."""
        meant = {model for model in self.trained if self.used["finetune"]["models"][model].get("weak", False)}
        score, exact = self.metrics("score"), self.used["page"]["weak_exact"]
        reasons = {model: weakness(model, score, exact, meant=model in meant) for model in self.models}
        return {model: reason for model, reason in reasons.items() if reason}

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
        found: dict[str, dict[str, Effect]] = defaultdict(dict)
        for row in read_table(self.data / "effects.parquet").to_pylist():
            found[row["model"]][row["factor"]] = row
        return {model: found[model] for model in self.models}

    @property
    def measure(self) -> str:
        """The score that is analysed, in words."""
        return MEASURES[self.used["validate"]["measure"]]

    @property
    def risk(self) -> float:
        """Of every test."""
        return float(self.used["validate"]["risk"])

    @property
    def confidence(self) -> float:
        """Of the intervals of δ."""
        return float(self.used["validate"]["confidence"])

    def printed_shares(self) -> dict[str, float]:
        """The paper's share of yes, %, of each of our factors that the paper has."""
        return self._by_factor(self.published["table_2"]["shares"])

    def printed_deltas(self) -> dict[str, dict[str, float]]:
        """{model of the paper: {factor of ours: its δ}}; a factor that the paper does not have is left out."""
        return {model: self._by_factor(row) for model, row in self.published["table_2"]["rows"].items()}

    def _by_factor(self, row: Iterable[float]) -> dict[str, float]:
        values = dict(zip(self.published["table_2"]["factors"], row, strict=True))
        named = {factor: FACTORS[factor].published for factor in self.names}
        return {factor: values[name] for factor, name in named.items() if name is not None}


def order(kinds: Mapping[str, str], published: Mapping[str, Any]) -> list[str]:
    """Models as Table 1 has them, then others, then baselines; `kinds` gives each model's kind."""
    rows = [*published["table_1"]["rows"], *kinds]
    return sorted(kinds, key=lambda model: (kinds[model] == "baseline", rows.index(model)))


def weakness(model: str, metrics: Metrics, exact: float, *, meant: bool) -> str:
    """Why a model's scores say little; empty where they do not.

    A model is weak when its gain over the best-overlap sentence may be 0, when its own answers do as well at other
    questions with the same element, when fewer than `exact` of its answers are exactly right, or when params.yaml says
    so (`meant`).
    """
    reasons = []
    if metrics.get(f"{model}_over_baseline_low", 1) <= 0:
        reasons.append("not clearly above the sentence with most words of the question")
    if metrics.get(f"{model}_shuffled_rouge_l", 0) >= metrics[f"{model}_rouge_l_low"]:
        reasons.append("no better than its own answers shuffled: it guesses, it does not read")
    if metrics[f"{model}_em"] < exact:
        reasons.append(f"only {100 * metrics[f'{model}_em']:.0f} % exactly right")
    if meant:
        reasons.append("a small configuration, there to exercise the path: params.yaml calls it weak")
    return "; ".join(reasons)


def training_of(found: Metrics) -> str:
    """The size of a reader and how long it was trained, from the metrics of stage finetune."""
    size = _count(found["parameters"])
    if found["parameters_trained"] < found["parameters"]:
        size = f"{_count(found['parameters_trained'])} of {size}"
    return f"{size} parameters, {found['steps']:.0f} steps = {found['epochs']:.1f} epochs"


def _count(parameters: float) -> str:
    if parameters >= 1e9:
        return f"{parameters / 1e9:.1f} B"
    return f"{parameters / 1e6:.1f} M" if parameters >= 1e5 else f"{parameters / 1e3:.0f} k"


def unusual_answers(of: Material) -> list[tuple[str, int, list[tuple[str, int]]]]:
    """(model, questions asked, how many answers were unusual in which way), of readers that met some and of prompts."""
    told = []
    for model, seed in of.trained.items():
        found = of.metrics(f"answer_{model}_{seed}")
        if counts := [(text, int(found[name])) for name, text in _CUTS.items() if found[name]]:
            told.append((model, int(found["questions"]), counts))
    prompted = of.metrics("prompt")
    for model in of.used["prompt"]["models"]:
        if prompted[f"{model}_run"]:
            counts = [(text, int(prompted[f"{model}_{kind}"])) for kind, text in _REPLIES.items()]
            told.append((model, int(prompted[f"{model}_questions"]), counts))
    return told
