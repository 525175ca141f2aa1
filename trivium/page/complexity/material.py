"""What the stages before left for complexity's parts of the page; each part reads only what it shows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import yaml

from trivium.core.errors import BadInput
from trivium.core.tables import read_json, read_table
from trivium.formats.frame_corpora import read_examples
from trivium.formats.framed_texts import Example
from trivium.page.complexity.factors import Cells, cells
from trivium.page.complexity.models import order
from trivium.page.complexity.readers import FINETUNED, display_names, first_seeds, weakness

Found = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Answered:
    """Who answered.

    Attributes:
        rows: of scores.parquet.
        kinds: {model: kind}.
        ordered, models: as the page has them, with and without baselines.
        labels: what each model is called.
        first: {fine-tuned model: its first seed}.
    """

    rows: pa.Table
    kinds: Mapping[str, str]
    ordered: Sequence[str]
    models: Sequence[str]
    labels: Mapping[str, str]
    first: Mapping[str, int]


def read_published(path: Path) -> dict[str, Any]:
    """The paper's numbers, tests/published/complexity.yaml."""
    printed: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return printed


def read_found(files: Iterable[Path]) -> Found:
    """The metrics of stages, from files named as they are."""
    return {path.stem: read_json(path) for path in files}


def read_answered(
    scores: Path, printed: Mapping[str, Any], readers: Mapping[str, Any], asked: Mapping[str, Any]
) -> Answered:
    """Read who answered.

    Args:
        scores: of stage score.
        printed: the paper's numbers.
        readers, asked: `finetune.models` and `prompt.models` of complexity's parameters, which name them.
    """
    rows = read_table(scores, ["id", "model", "kind", "seed", "prediction", "rouge_l"])
    kinds = dict(zip(rows["model"].to_pylist(), rows["kind"].to_pylist(), strict=True))
    ordered = order(kinds, printed)
    return Answered(
        rows=rows,
        kinds=kinds,
        ordered=ordered,
        models=[model for model in ordered if kinds[model] != "baseline"],
        labels=display_names({"finetune": {"models": readers}, "prompt": {"models": asked}}, printed, kinds),
        first={model: seed for model, seed in first_seeds(rows).items() if kinds[model] in FINETUNED},
    )


def weak_models(
    answered: Answered, readers: Mapping[str, Any], score: Mapping[str, float], weak_exact: float
) -> dict[str, str]:
    """{model: why its scores say little}; see `weakness`."""
    meant = {model for model in answered.first if readers[model].get("weak", False)}
    reasons = {model: weakness(model, score, weak_exact, meant=model in meant) for model in answered.models}
    return {model: reason for model, reason in reasons.items() if reason is not None}


def read_effects(effects: Path, models: Sequence[str]) -> Cells:
    """The effects by model and factor.

    Raises:
        BadInput: they are of other models.
    """
    found = cells(read_table(effects).to_pylist(), models)
    if set(found) != set(models):
        raise BadInput("effects of other models", file=effects, got=sorted(found), expected=", ".join(models))
    return found


def read_questions_with_factors(questions: Path, texts: Path, factors: Path) -> tuple[Sequence[Example], pa.Table]:
    """The questions, and their table of factors, in the same order.

    Raises:
        BadInput: the factors are of other questions.
    """
    table, examples = read_table(factors), read_examples(questions, texts)
    if [each.id for each in examples] != table["id"].to_pylist():
        raise BadInput("factors of other questions", file=factors, expected=f"the questions of {questions}, in order")
    return examples, table
