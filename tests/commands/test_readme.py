from pathlib import Path

import yaml

from trivium.commands.readme import SYSTEMS, filled, real_table
from trivium.files.tables import write_json

REAL = "<!-- real -->\n<!-- /real -->\nc\n"
PIAF = {
    "date": "2026-01-02",
    "commit": "0123456789abcdef",
    "questions": 30,
    "trained_questions": 20,
    "asked_questions": 10,
    "asked_articles": 4,
    "mangled_references": 0.4321,
    "wrong_offset_answers": 2,
    "wrong_offset_ids": ["p1", "p2"],
}
TEXT = (
    "a\n<!-- headline -->\nold\n<!-- /headline -->\nb\n<!-- stages -->\n<!-- /stages -->\n<!-- bench -->\n<!-- /bench -->\n"
    + REAL
)


def test_parts_are_renewed_and_the_rest_stays(tmp_path):
    write_json(tmp_path / "metrics/headline.json", {"kvqae_em_text": 0.25, "kvqae_bm25_mrr": 0.12345})
    bench = {"times_faster": 60.0, "best": [1, 2], "peak_mib": 155.1, "peak_mib_ten_times_the_queries": 845.9}
    write_json(tmp_path / "metrics/bench/fusion.json", bench | {"numpy_mib": 3000})
    (tmp_path / "dvc.yaml").write_text("stages:\n  toy: {desc: Toys}\n")
    text = filled(TEXT, tmp_path)
    assert "old" not in text
    for line in (
        "| **KVQAE**: passages by BM25, MRR | 0.123 |",
        "| answers from text alone, EM | 0.25 |",
        "| `toy` | Toys |",
        "| fusion | times faster | 60 |",
        "| fusion | ours | 155 | 846 (queries) |",
        "| fusion | numpy | 3000 | – |",
    ):
        assert line in text.splitlines()
    assert text.startswith("a\n")
    assert text.endswith("c\n")
    assert filled(text, tmp_path) == text


def test_what_real_questions_gave_is_dated(tmp_path):
    assert real_table(tmp_path) == "Not measured yet: `make real`."
    scores = {f"{system}_{name}": 0.1 for system in SYSTEMS for name in ("em", "f1", "rouge_l", "rouge_l_paper")} | {
        "reader_em": 0.25
    }
    write_json(tmp_path / "metrics/real/piaf.json", PIAF | scores)
    text = real_table(tmp_path)
    assert "Measured on 2026-01-02 at commit 0123456789ab" in text
    assert "| 0.250 | 0.100 | 0.100 | 0.100 |" in text
    assert "43.2 %" in text
    assert "beats that sentence in EM." in text
    assert "offset: 2, of the questions\np1, p2." in text


def test_readme_lists_every_stage():
    root = Path(__file__).parents[2]
    readme = (root / "README.md").read_text()
    stages = yaml.safe_load((root / "dvc.yaml").read_text())["stages"]
    assert [name for name in stages if f"| `{name}` |" not in readme] == []
