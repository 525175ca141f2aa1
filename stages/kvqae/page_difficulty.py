"""Stage `kvqae-page_difficulty`. What makes questions hard, on the page."""

from pathlib import Path
from typing import Any, ClassVar

from pyarrow import csv
from pydantic import Field

from trivium.core.parameters import Parameters
from trivium.core.stage import Context, run_stage
from trivium.core.tables import read_json
from trivium.page.common import write_part
from trivium.page.kvqae.reading import difficulty_html


class DifficultyPageParameters(Parameters):
    """Section `kvqae.page.difficulty`."""

    elsewhere: ClassVar = {
        "world": "world.kvqae",
        "statistics": "kvqae.statistics",
        "of_effects": "kvqae.difficulty",
    }
    world: str = Field(description="Where the data comes from")
    statistics: dict[str, Any] = Field(description="What tables share")
    of_effects: dict[str, Any] = Field(description="What this has of its own")


def main(
    parameters: DifficultyPageParameters,
    context: Context,
    *,
    difficulty: Path = Path("metrics/kvqae/difficulty.csv"),
    difficulty_metrics: Path = Path("metrics/kvqae/difficulty.json"),
    out: Path = Path("metrics/report/parts/kvqae/difficulty.json"),
) -> None:
    """Render the effects of stage `difficulty`."""
    confidence = (parameters.statistics | parameters.of_effects)["confidence"]
    html = difficulty_html(csv.read_csv(difficulty).to_pylist(), read_json(difficulty_metrics), confidence)
    write_part(out, parameters.world, {"difficulty": html})


if __name__ == "__main__":
    run_stage(main, "kvqae.page.difficulty", DifficultyPageParameters)
