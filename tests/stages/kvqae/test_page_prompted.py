"""Stage kvqae-page_prompted: what a model behind an endpoint answered, escaped, with what is known of its training."""

from pathlib import Path

import pytest

from stages.kvqae.page_prompted import PromptedPageParameters, main
from tests.page.outline import Outline
from trivium.core.tables import read_json, write_json

MEASURED = {"questions": 250.0, "em": 0.125, "f1": 0.25, "contains": 0.5, "refused": 2.0, "prompt_tokens": 9000.0,
            "completion_tokens": 700.0}  # fmt: skip


@pytest.mark.parametrize(
    ("sees", "known", "said"),
    [("both", "", "sees the question and passages and the picture."), ("picture", "On all splits.", "On all splits.")],
)
def test_its_row(tmp_path: Path, sees: str, known: str, said: str) -> None:
    reader = {"label": "My <VLM>", "model": "a/b", "sees": sees, "known_training": known}
    write_json(tmp_path / "answers/reader.json", reader)
    write_json(tmp_path / "measured.json", MEASURED)
    paths = {"answered": tmp_path / "answers", "measured": tmp_path / "measured.json", "out": tmp_path / "part.json"}
    main(PromptedPageParameters(world="sample"), None, **paths)
    part = read_json(tmp_path / "part.json")
    assert part["world"] == "sample"
    html = part["sections"]["prompted"]
    assert Outline(html).rows[1] == ["12.5", "25.0", "50.0", "2", "9000", "700"]
    assert "My &lt;VLM&gt;" in html
    assert said in " ".join(html.split())
    assert ("It has probably seen these questions" in html) == bool(known)
