"""Stage `complexity-page_factors`. What factors are and what they cost, on the page: Table 2 and what it says."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from pyarrow import csv
from pydantic import Field

from trivium.complexity.effects.factor_table import read_factors, read_names
from trivium.complexity.effects.regression import of_frames
from trivium.complexity.effects.sensitivity import Power
from trivium.complexity.scoring.score_table import read_scores
from trivium.core.parameters import Parameters
from trivium.core.stage import Context, run_stage
from trivium.page.common import write_part
from trivium.page.complexity.factors import forest_html, shares_html, table_2_html
from trivium.page.complexity.findings import findings_html, first_claim_html
from trivium.page.complexity.material import (
    read_answered,
    read_effects,
    read_found,
    read_published,
    read_questions_with_factors,
)
from trivium.page.complexity.paper_study import paper_study_html
from trivium.page.complexity.readers import MEASURES
from trivium.page.complexity.reasons import corpus


class FactorsPageParameters(Parameters):
    """Section `complexity.page.factors`."""

    elsewhere: ClassVar = {
        "world": "world.calor",
        "readers": "complexity.finetune.models",
        "prompted": "complexity.prompt.models",
        "measure": "complexity.validate.measure",
        "risk": "complexity.validate.risk",
        "confidence": "complexity.validate.confidence",
        "majority": "complexity.partition.majority",
        "simulated": "complexity.simulate.models",
    }
    world: str = Field(description="Where the evaluation texts come from")
    readers: dict[str, dict[str, Any]] = Field(description="Models that are fine-tuned")
    prompted: dict[str, dict[str, Any]] = Field(description="Models that are prompted")
    measure: Literal["rouge_l", "rouge_l_paper", "em", "f1"] = Field(description="That is analysed")
    risk: float = Field(gt=0, lt=1, description="Of the analysis")
    confidence: float = Field(gt=0, lt=1, description="Of its intervals")
    majority: float = Field(ge=0, lt=1, description="Share of the models that a factor must exceed to count")
    simulated: int = Field(ge=1, description="Models of a simulated table")


def main(
    parameters: FactorsPageParameters,
    context: Context,
    *,
    questions: Path = Path("data/complexity/raw/calor/questions.jsonl"),
    texts: Path = Path("data/complexity/raw/calor/frames/test.jsonl"),
    scores: Path = Path("data/complexity/scores.parquet"),
    factors: Path = Path("data/complexity/factors.parquet"),
    effects: Path = Path("data/complexity/effects.parquet"),
    powers: Path = Path("metrics/complexity/powers.csv"),
    found: Sequence[Path] = (
        Path("metrics/complexity/factors.json"),
        Path("metrics/complexity/validate.json"),
        Path("metrics/complexity/simulate.json"),
    ),
    published: Path = Path("tests/published/complexity.yaml"),
    out: Path = Path("metrics/report/parts/complexity/factors.json"),
) -> None:
    """Render the factors, Table 2, what it says, and all factors together."""
    printed, metrics = read_published(published), read_found(found)
    known = read_answered(scores, printed, parameters.readers, parameters.prompted)
    cells, names = read_effects(effects, known.models), read_names(factors)
    examples, table = read_questions_with_factors(questions, texts, factors)
    by_strength = [Power(**row) for row in csv.read_csv(powers).to_pylist()]
    coded = read_factors(factors)
    whole = [name for name, same in zip(coded.names, of_frames(coded.factors, coded.frames), strict=True) if same]
    tied = {name: metrics["factors"].get(f"{name}_balance") for name in whole}
    measure = MEASURES[parameters.measure]
    levels = {"risk": parameters.risk, "confidence": parameters.confidence}
    values = read_scores(scores, [each.id for each in examples], parameters.measure)
    sections = {
        "claim": first_claim_html(cells, names, known.labels, measure),
        "factors": shares_html(metrics["factors"], printed, names),
        "table-2": table_2_html(
            cells,
            printed,
            metrics["validate"],
            metrics["simulate"],
            parameters.simulated,
            names,
            known.labels,
            measure=measure,
            majority=parameters.majority,
            **levels,
        )
        + paper_study_html(by_strength, printed, names, risk=parameters.risk),
        "findings": findings_html(
            cells,
            printed,
            metrics["factors"],
            names,
            known.labels,
            corpus(examples, table, names, values),
            measure=measure,
            sample=parameters.world == "sample",
            **levels,
        ),
        "forest": forest_html(cells, known.labels, tied, measure=measure, confidence=parameters.confidence),
    }
    write_part(out, parameters.world, sections)


if __name__ == "__main__":
    run_stage(main, "complexity.page.factors", FactorsPageParameters)
