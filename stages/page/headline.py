"""Stage `headline`. The few numbers that keep `dvc exp show` readable, and ODmAP of each training, for `dvc plots`."""

from pathlib import Path

from trivium.core.parameters import Parameters
from trivium.core.stage import stage
from trivium.core.tables import read_json, write_csv
from trivium.page.headline import ODMAP_COLUMNS, headline, odmap_by_seed


@stage("headline", metrics="metrics/headline.json")
def main(
    parameters: Parameters,
    *,
    folder: Path = Path("metrics"),
    out_odmap: Path = Path("metrics/odmap.csv"),
) -> dict[str, float]:
    """Collect both from the folder that holds the stages' metrics files."""
    evaluated = folder / "decorrelation" / "evaluate.json"
    write_csv(out_odmap, ODMAP_COLUMNS, odmap_by_seed(read_json(evaluated)) if evaluated.exists() else ())
    return headline(folder)
