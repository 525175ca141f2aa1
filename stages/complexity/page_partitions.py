"""Stage `complexity-page_partitions`. The evaluation set from easiest to hardest, on the page, and its frames."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from pyarrow import csv
from pydantic import Field

from trivium.complexity.effects.factor_table import read_names
from trivium.core.parameters import Parameters
from trivium.core.stage import Context, run_stage
from trivium.page.common import write_part
from trivium.page.complexity.factors import held_for_most
from trivium.page.complexity.material import read_answered, read_found, read_published, weak_models
from trivium.page.complexity.partitions import illustrations_html, partitions_html
from trivium.page.complexity.readers import MEASURES


class PartitionsPageParameters(Parameters):
    """Section `complexity.page.partitions`."""

    elsewhere: ClassVar = {
        "world": "world.calor",
        "readers": "complexity.finetune.models",
        "prompted": "complexity.prompt.models",
        "measure": "complexity.partition.measure",
        "majority": "complexity.partition.majority",
        "weak_exact": "complexity.page.weak_exact",
    }
    world: str = Field(description="Where the evaluation texts come from")
    readers: dict[str, dict[str, Any]] = Field(description="Models that are fine-tuned")
    prompted: dict[str, dict[str, Any]] = Field(description="Models that are prompted")
    measure: str = Field(description="Of the partitions")
    majority: float = Field(ge=0, lt=1, description="Share of the models that a factor must exceed to count")
    weak_exact: float = Field(ge=0, le=1, description="Share of exactly right answers below which a model is weak")


def main(
    parameters: PartitionsPageParameters,
    context: Context,
    *,
    scores: Path = Path("data/complexity/scores.parquet"),
    factors: Path = Path("data/complexity/factors.parquet"),
    partitions: Path = Path("metrics/complexity/partitions.csv"),
    frames: Path = Path("metrics/complexity/illustrations.csv"),
    found: Sequence[Path] = (
        Path("metrics/complexity/score.json"),
        Path("metrics/complexity/validate.json"),
        Path("metrics/complexity/partition.json"),
    ),
    published: Path = Path("tests/published/complexity.yaml"),
    out: Path = Path("metrics/report/parts/complexity/partitions.json"),
) -> dict[str, float]:
    """Render both files of stage partition; the metrics say how many factors count for a majority of the models."""
    printed, metrics = read_published(published), read_found(found)
    known = read_answered(scores, printed, parameters.readers, parameters.prompted)
    weak = weak_models(known, parameters.readers, metrics["score"], parameters.weak_exact)
    names, measure, partition = read_names(factors), MEASURES[parameters.measure], metrics["partition"]
    sections = {
        "partitions": partitions_html(
            csv.read_csv(partitions).to_pylist(),
            known.models,
            partition,
            names,
            known.labels,
            measure=measure,
            majority=parameters.majority,
            weak=list(weak),
        ),
        "illustrations": illustrations_html(csv.read_csv(frames).to_pylist(), known.models, printed, measure=measure),
    }
    write_part(out, parameters.world, sections)
    return {
        "factors_validated": 0.0 if partition["fallback"] else partition["factors"],
        "factors_found": float(held_for_most(metrics["validate"], names, "found", parameters.majority)),
    }


if __name__ == "__main__":
    run_stage(
        main, "complexity.page.partitions", PartitionsPageParameters, metrics="metrics/complexity/page_partitions.json"
    )
