"""Names of models: what tables have columns of is no name; and no prompted model that ran is left out."""

import csv

import pytest

from tests.stages.complexity.test_partition import SCORES, run, world  # noqa: F401 - a fixture
from trivium.complexity.scoring.systems import RESERVED, prompted
from trivium.core.errors import BadInput
from trivium.formats.answer_files import write_predictions


def test_reserved_names_are_the_columns_that_stand_beside_models(world):  # noqa: F811
    _, rows = run(world)
    models = {model for model, kind, _ in SCORES if kind != "baseline"}
    with (world / "frames.csv").open(encoding="utf-8") as lines:
        columns = set(csv.DictReader(lines).fieldnames)
    assert columns - models == set(RESERVED)
    assert {row["model"] for row in rows} - models <= set(RESERVED)


def test_a_prompted_model_that_ran_must_be_scored(tmp_path):
    write_predictions(tmp_path / "gpt.jsonl", {"q": "Ypres"})
    (tmp_path / "prompts.json").write_text("{}")
    assert [system.model for system in prompted(tmp_path, ["mixtral", "gpt"], ["q"])] == ["gpt"]
    write_predictions(tmp_path / "mistral.jsonl", {"q": "Ypres"})
    message = r"mistral\.jsonl: field 'complexity\.prompt\.models': answers of a prompted model that is not scored"
    with pytest.raises(BadInput, match=message + r"; got 'mistral'; .* \(choices: mixtral, gpt\)"):
        prompted(tmp_path, ["mixtral", "gpt"], ["q"])
