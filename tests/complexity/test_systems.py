"""Names of models: what tables have columns of is no name."""

import csv

from tests.stages.complexity.test_partition import SCORES, run, world  # noqa: F401 - a fixture
from trivium.complexity.systems import RESERVED


def test_reserved_names_are_the_columns_that_stand_beside_models(world):  # noqa: F811
    _, rows = run(world)
    models = {model for model, kind, _ in SCORES if kind != "baseline"}
    with (world / "frames.csv").open(encoding="utf-8") as lines:
        columns = set(csv.DictReader(lines).fieldnames)
    assert columns - models == set(RESERVED)
    assert {row["model"] for row in rows} - models <= set(RESERVED)
