"""The analysis of any set on what the graph made: the docs' example, and the stage's own page."""

from tests.commands.test_difficulty import pasted
from trivium.core.tables import read_json
from trivium.page.difficulty import FILES


def test_the_docs_example_runs_on_what_the_graph_made(clone):
    said = clone.run("sh", "-c", f"python {' '.join(pasted())}")
    assert "Page: difficulty/index.html" in said
    by_command = read_json(clone.folder / "difficulty" / "difficulty.json")
    by_stage = clone.folder / "metrics" / "complexity" / "difficulty" / "evaluation"
    assert {path.name for path in by_stage.iterdir()} == set(FILES)
    found = read_json(by_stage / "difficulty.json")
    assert found["models"].keys() == by_command["models"].keys()
    for model, values in found["models"].items():
        assert values == by_command["models"][model]
