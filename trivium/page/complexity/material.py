"""What the stages before left for complexity's page, read and put together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import yaml
from pydantic import Field

from trivium.complexity.effects.factor_table import read_names
from trivium.complexity.scoring.score_table import ScoreTable, read_scores
from trivium.errors import BadInput
from trivium.files.tables import read_json, read_table
from trivium.formats.frame_corpora import read_examples
from trivium.formats.framed_texts import Example
from trivium.harness.parameters import Parameters, read_parameters
from trivium.page.complexity.factors import Cells, cells
from trivium.page.complexity.models import order
from trivium.page.complexity.readers import FINETUNED, display_names, first_seeds, weakness

STAGES = (
    *("world", "prompt", "score", "judgements", "factors", "validate"),
    *("simulate", "frame_parser", "syntax", "partition"),
)


class ComplexityFragmentParameters(Parameters):
    """Section `complexity.fragment`."""

    examples: int = Field(ge=1, description="Questions in the example browser")
    margin: int = Field(
        default=400, ge=0, description="Characters of a long text before its first and after its last marked word"
    )
    answer_characters: int = Field(default=300, ge=1, description="Characters of an answer that the browser shows")
    weak_exact: float = Field(ge=0, le=1, description="Share of exactly right answers below which a model is weak")
    confidence: float = Field(gt=0, lt=1, description="Of Figure 2's intervals")
    resamples: int = Field(ge=1, description="Bootstrap draws of texts for each frame and model")
    seed: int = Field(ge=0, description="Of the draw of questions and of the bootstrap")


@dataclass(frozen=True)
class Material:
    """What the sections are made of.

    Attributes:
        section: `complexity` of params.yaml.
        world: source of the evaluation texts.
        printed: tests/published/complexity.yaml.
        folder, found: the stages' metrics, and those read, by stage.
        answered, table: rows of scores.parquet and factors.parquet.
        names: what each factor says.
        kinds: {model: kind}.
        ordered, models: as the page has them, with and without baselines.
        labels: what each model is called.
        effects: by model and factor.
        first: {fine-tuned model: its first seed}.
        weak: {model: why its scores say little}.
        examples: the questions, in the order of the factors.
        scores: of the measure that is analysed.
    """

    section: Mapping[str, Any]
    world: str
    printed: Mapping[str, Any]
    folder: Path
    found: Mapping[str, Mapping[str, float]]
    answered: pa.Table
    table: pa.Table
    names: Mapping[str, str]
    kinds: Mapping[str, str]
    ordered: Sequence[str]
    models: Sequence[str]
    labels: Mapping[str, str]
    effects: Cells
    first: Mapping[str, int]
    weak: Mapping[str, str]
    examples: Sequence[Example]
    scores: ScoreTable


def read_material(
    *, questions: Path, texts: Path, scores: Path, factors: Path, effects: Path, folder: Path, published: Path,
    used: Path, weak_exact: float,
) -> Material:  # fmt: skip
    """Read the stages' outputs (see the arguments of stage `complexity-fragment`).

    Raises:
        BadInput: effects of other models than the scores', or factors of other questions.
    """
    printed = yaml.safe_load(published.read_text(encoding="utf-8"))
    everything = read_parameters(used)
    section = everything["complexity"]
    found = {stage: read_json(folder / f"{stage}.json") for stage in STAGES}
    answered = read_table(scores, ["id", "model", "kind", "seed", "prediction", "rouge_l"])
    kinds = dict(zip(answered["model"].to_pylist(), answered["kind"].to_pylist(), strict=True))
    ordered = order(kinds, printed)
    models = [model for model in ordered if kinds[model] != "baseline"]
    by_model = cells(read_table(effects).to_pylist(), models)
    if set(by_model) != set(models):
        raise BadInput("effects of other models", file=effects, got=sorted(by_model), expected=", ".join(models))
    table, examples = read_table(factors), read_examples(questions, texts)
    ids = [each.id for each in examples]
    if ids != table["id"].to_pylist():
        raise BadInput("factors of other questions", file=factors, expected=f"the questions of {questions}, in order")
    first = {model: seed for model, seed in first_seeds(answered).items() if kinds[model] in FINETUNED}
    meant = {model for model in first if section["finetune"]["models"][model].get("weak", False)}
    reasons = {model: weakness(model, found["score"], weak_exact, meant=model in meant) for model in models}
    return Material(
        section=section,
        world=everything["world"]["calor"],
        printed=printed,
        folder=folder,
        found=found,
        answered=answered,
        table=table,
        names=read_names(factors),
        kinds=kinds,
        ordered=ordered,
        models=models,
        labels=display_names(section, printed, kinds),
        effects=by_model,
        first=first,
        weak={model: reason for model, reason in reasons.items() if reason is not None},
        examples=examples,
        scores=read_scores(scores, ids, section["validate"]["measure"]),
    )
