"""Stage `headline`. The few numbers that keep `dvc exp show` readable."""

from pathlib import Path

from trivium.harness.parameters import Parameters
from trivium.harness.stage import Context, run_stage
from trivium.page.headline import headline


class HeadlineParameters(Parameters):
    """Section `headline`: nothing to choose."""


def main(parameters: HeadlineParameters, context: Context, *, folder: Path) -> dict[str, float]:
    """Collect the headline from the folder that holds the stages' metrics files."""
    return headline(folder)


if __name__ == "__main__":
    run_stage(main, "headline", HeadlineParameters)
