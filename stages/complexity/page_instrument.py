"""Stage `complexity-page_instrument`. What the analysis rests on: simulations, and whether models agree."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from pyarrow import csv
from pydantic import Field

from trivium.complexity.effects.factor_table import read_names
from trivium.complexity.effects.sensitivity import Power
from trivium.core.parameters import Parameters
from trivium.core.stage import Context, run_stage
from trivium.page.common import write_part
from trivium.page.complexity.instrument import agreement_html, planted, sensitivity_html, simulation_html
from trivium.page.complexity.material import read_answered, read_found, read_published


class InstrumentPageParameters(Parameters):
    """Section `complexity.page.instrument`."""

    elsewhere: ClassVar = {
        "world": "world.calor",
        "readers": "complexity.finetune.models",
        "prompted": "complexity.prompt.models",
        "simulate": "complexity.simulate",
        "risk": "complexity.validate.risk",
    }
    world: str = Field(description="Where the evaluation texts come from")
    readers: dict[str, dict[str, Any]] = Field(description="Models that are fine-tuned")
    prompted: dict[str, dict[str, Any]] = Field(description="Models that are prompted")
    simulate: dict[str, Any] = Field(description="What was planted")
    risk: float = Field(description="The stated error rate of every test")


def main(
    parameters: InstrumentPageParameters,
    context: Context,
    *,
    scores: Path = Path("data/complexity/scores.parquet"),
    factors: Path = Path("data/complexity/factors.parquet"),
    agreement: Path = Path("metrics/complexity/agreement.csv"),
    powers: Path = Path("metrics/complexity/powers.csv"),
    found: Sequence[Path] = (Path("metrics/complexity/simulate.json"), Path("metrics/complexity/validate.json")),
    published: Path = Path("tests/published/complexity.yaml"),
    out: Path = Path("metrics/report/parts/complexity/instrument.json"),
) -> dict[str, float]:
    """Render both; the metrics say how strong the planted effects are (see `planted`)."""
    printed, metrics = read_published(published), read_found(found)
    known = read_answered(scores, printed, parameters.readers, parameters.prompted)
    pairs = csv.read_csv(agreement).to_pylist()
    names = read_names(factors)
    simulated = simulation_html(metrics["simulate"], parameters.simulate | {"risk": parameters.risk}, names, printed)
    by_strength = [Power(**row) for row in csv.read_csv(powers).to_pylist()]
    sections = {
        "instrument": simulated + sensitivity_html(by_strength, parameters.simulate, names),
        "agreement": agreement_html(pairs, known.models, metrics["validate"], known.labels),
    }
    write_part(out, parameters.world, sections)
    return planted(parameters.simulate, printed)


if __name__ == "__main__":
    run_stage(
        main, "complexity.page.instrument", InstrumentPageParameters, metrics="metrics/complexity/page_instrument.json"
    )
