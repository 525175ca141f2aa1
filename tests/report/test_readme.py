from pathlib import Path

import yaml

from stages.report.readme import filled
from stages.tables import write_json

TEXT = "a\n<!-- headline -->\nold\n<!-- /headline -->\nb\n<!-- stages -->\n<!-- /stages -->\n<!-- bench -->\n<!-- /bench -->\nc\n"


def test_parts_are_renewed_and_the_rest_stays(tmp_path):
    write_json(tmp_path / "metrics/headline.json", {"kvqae_em_text": 0.25, "kvqae_bm25_mrr": 0.12345})
    write_json(tmp_path / "metrics/bench/fusion.json", {"times_faster": 60.0, "best": [1, 2]})
    (tmp_path / "dvc.yaml").write_text("stages:\n  toy: {desc: Toys}\n")
    text = filled(TEXT, tmp_path)
    assert "old" not in text
    for line in (
        "| **KVQAE**: passages by BM25, MRR | 0.123 |",
        "| answers from text alone, EM | 0.25 |",
        "| `toy` | Toys |",
        "| fusion | times faster | 60 |",
    ):
        assert line in text.splitlines()
    assert text.startswith("a\n")
    assert text.endswith("c\n")
    assert filled(text, tmp_path) == text


def test_readme_lists_every_stage():
    root = Path(__file__).parents[2]
    readme = (root / "README.md").read_text()
    stages = yaml.safe_load((root / "dvc.yaml").read_text())["stages"]
    assert [name for name in stages if f"| `{name}` |" not in readme] == []
