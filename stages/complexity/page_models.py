"""Stage `complexity-page_models`. Table 1 and Figure 2 on the page."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from pyarrow import csv
from pydantic import Field

from trivium.core.parameters import Parameters
from trivium.core.stage import Context, run_stage
from trivium.core.tables import read_table
from trivium.page.common import write_part
from trivium.page.complexity.material import read_answered, read_found, read_published, weak_models
from trivium.page.complexity.models import figure_2_html, table_1_html
from trivium.page.complexity.readers import MEASURES, cuts, leaks, replies, trainings
from trivium.page.thorough import read_thorough

FIGURE_2 = "rouge_l"  # drawn in this measure, whichever is analysed


class ModelsPageParameters(Parameters):
    """Section `complexity.page.models`."""

    elsewhere: ClassVar = {
        "world": "world.calor",
        "sample_world": "complexity.world",
        "readers": "complexity.finetune.models",
        "seeds": "complexity.finetune.seeds",
        "prompted": "complexity.prompt.models",
        "measure": "complexity.validate.measure",
        "risk": "complexity.validate.risk",
        "weak_exact": "complexity.page.weak_exact",
    }
    world: str = Field(description="Where the evaluation texts come from")
    sample_world: dict[str, Any] = Field(description="The sample world")
    readers: dict[str, dict[str, Any]] = Field(description="Models that are fine-tuned")
    seeds: list[int] = Field(description="Of their trainings")
    prompted: dict[str, dict[str, Any]] = Field(description="Models that are prompted")
    measure: str = Field(description="That is analysed")
    risk: float = Field(gt=0, lt=1, description="Of the analysis")
    weak_exact: float = Field(ge=0, le=1, description="Share of exactly right answers below which a model is weak")
    confidence: float = Field(gt=0, lt=1, description="Of Figure 2's intervals")
    resamples: int = Field(ge=1, description="Bootstrap draws of texts for each frame and model")
    seed: int = Field(ge=0, description="Of the bootstrap")


def main(
    parameters: ModelsPageParameters,
    context: Context,
    *,
    scores: Path = Path("data/complexity/scores.parquet"),
    factors: Path = Path("data/complexity/factors.parquet"),
    judged: Path = Path("metrics/complexity/frame_judgements.csv"),
    found: Sequence[Path] = (
        Path("metrics/complexity/score.json"),
        Path("metrics/complexity/judgements.json"),
        Path("metrics/complexity/prompt.json"),
        Path("metrics/complexity/world.json"),
    ),
    folder: Path = Path("metrics/complexity"),
    published: Path = Path("tests/published/complexity.yaml"),
    thorough: Path = Path("metrics/thorough/complexity.json"),
    out: Path = Path("metrics/report/parts/complexity/models.json"),
) -> dict[str, float]:
    """Render both.

    `folder` holds what trainings and answers counted, `judged` are the frames' human judgements, and `thorough` is what
    `make thorough` found.
    """
    printed, metrics = read_published(published), read_found(found)
    readers, asked = parameters.readers, parameters.prompted
    known = read_answered(scores, printed, readers, asked)
    sample = parameters.world == "sample"
    told = [*cuts(folder, known.first), *replies(asked, metrics["prompt"])]
    table_1 = table_1_html(
        known.kinds,
        metrics["score"],
        metrics["judgements"],
        printed,
        {model: settings["kind"] for model, settings in readers.items()} | dict.fromkeys(asked, "prompted"),
        known.labels,
        weak=weak_models(known, readers, metrics["score"], parameters.weak_exact),
        trained=trainings(folder, known.first),
        seeds=len(parameters.seeds),
        weak_exact=parameters.weak_exact,
        measure=MEASURES[parameters.measure],
        other_measure=parameters.measure != FIGURE_2,
        replies=[(known.labels[model], *rest) for model, *rest in told],
        leaks=leaks(metrics["world"]),
        sample_seed=parameters.sample_world["seed"] if sample else None,
        thorough=read_thorough(thorough, "score", parameters.sample_world, sample=sample),
    )
    figure_2 = figure_2_html(
        known.rows,
        read_table(factors),
        known.models,
        metrics["score"],
        csv.read_csv(judged).to_pylist(),
        known.labels,
        confidence=parameters.confidence,
        resamples=parameters.resamples,
        seed=parameters.seed,
        risk=parameters.risk,
    )
    write_part(out, parameters.world, {"table-1": table_1, "figure-2": figure_2})
    return {"models": float(len(known.models))}


if __name__ == "__main__":
    run_stage(main, "complexity.page.models", ModelsPageParameters, metrics="metrics/complexity/page_models.json")
