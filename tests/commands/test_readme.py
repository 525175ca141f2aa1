import subprocess
from pathlib import Path

import pytest
import yaml

from trivium.commands.readme import PAGES, PARTS, SYSTEMS, bench_table, filled, findings_table, frames_table, real_table
from trivium.files.tables import write_json

ROOT = Path(__file__).parents[2]

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
    assert "| race |" not in text
    assert text.startswith("a\n")
    assert text.endswith("c\n")
    assert filled(text, tmp_path) == text


def test_races_stand_beside_their_peers_and_the_limit(tmp_path):
    race = {"seconds": 0.5, "popular": "ranx", "popular_ratio": 0.01, "expert": "NumPy", "expert_ratio": 1.25}
    race |= {"limit_seconds": 0.04, "limit": "arithmetic", "why": "ties cost"}
    write_json(
        tmp_path / "metrics/bench/fusion.json", {"races": {"9 questions": race, "1 question": race | {"why": ""}}}
    )
    lines = bench_table(tmp_path).splitlines()
    assert "| fusion: 9 questions | 0.5 | ranx: 0.01 | NumPy: 1.25 | 0.04 (arithmetic) | ties cost |" in lines
    assert "| fusion: 1 question | 0.5 | ranx: 0.01 | NumPy: 1.25 | 0.04 (arithmetic) | – |" in lines


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


def test_what_real_frames_gave_is_dated(tmp_path):
    assert frames_table(tmp_path) == "Not measured yet: `make real`."
    about = {"date": "2026-01-02", "commit": "0123456789abcdef", "sentences": 30, "annotated": 20, "frames": 15}
    scores = {"baseline_trigger": 0.5, "linear_trigger": 0.75, "linear_element": 0.25}
    around = {
        f"{name}_{end}": value + by for name, value in scores.items() for end, by in (("low", -0.1), ("high", 0.1))
    }
    more = {"frame_types": 7, "elements": 40, "linear_seconds": 300.0, "linear_trigger_p": 0.00012}
    tasks = {f"{system}_{task}{end}": 0.5 for system in ("baseline", "linear") for task in ("frame", "frame_of_trigger")
             for end in ("", "_low", "_high")}  # fmt: skip
    given = {f"linear_element_given_frame{end}": 0.5 for end in ("", "_low", "_high")}
    write_json(tmp_path / "metrics/real/frames.json", about | scores | around | more | tasks | given)
    text = frames_table(tmp_path)
    assert "Measured on 2026-01-02 at commit 0123456789ab: 30 sentences" in text
    assert "15 evoke one of 7\nframes, with 40 elements" in text
    assert "| triggers, F1 | 0.500 [0.400, 0.600] | 0.750 [0.650, 0.850], p = 0.00012 |" in text
    assert "| elements with trigger and frame, F1 | – | 0.250 [0.150, 0.350] |" in text
    assert "CamemBERT" not in text


def thorough(root: Path) -> None:
    """What `make thorough` and `make weaker` leave, as far as the findings read it."""
    about = {"date": "2026-01-02", "commit": "0123456789abcdef"}
    compared = {
        "evaluate.passage_fused_over_best_text_mrr": (0.1, 0.3),
        "evaluate_reranking.passage_text_image_over_initial_precision@1": (-0.1, -0.1),
    }
    kvqae = {
        str(seed): {f"{name}_difference": values[seed] for name, values in compared.items()}
        | {f"{name}_p": 0.01 for name in compared}
        for seed in range(2)
    }
    write_json(root / "metrics/thorough/kvqae.json", about | {"seeds": kvqae})
    measures = {"odmap@1": {"difference": 0.05, "seeds": 3}, "r@1": {"difference": 0.01, "seeds": 3}}
    chosen = {"co_occurrence": 1.0, "mention": 0.95, "measures": measures}
    worlds = [chosen, chosen, chosen | {"mention": 0.5, "measures": {}}]
    write_json(root / "metrics/thorough/decorrelation_weaker.json", about | {"worlds": worlds})
    simulated = {
        "simulate.simulations": 200.0,
        "page_instrument.planted_weakest": -15.0,
        "page_instrument.planted_strongest": -20.0,
    }
    for name in ("power_found", "null_any_false_alarm_found"):
        simulated |= {f"simulate.{name}": 0.9, f"simulate.{name}_low": 0.8, f"simulate.{name}_high": 0.95}
    write_json(root / "metrics/thorough/complexity.json", about | {"seeds": {"3": simulated}})


def test_findings_have_their_spread(tmp_path):
    assert findings_table(tmp_path) == "Not measured yet: `make thorough && make weaker`."
    thorough(tmp_path)
    lines = findings_table(tmp_path).splitlines()
    found = [line.split(" | ")[1:] for line in lines if line.startswith("| **")]
    assert found == [
        ["+20.0 ± 14.1 points", "2 worlds, one training each |"],
        ["−10.0 ± 0.0 points", "2 worlds, one training each |"],
        ["+5.0 ± 0.0 points", "2 worlds, 3 trainings each |"],
        ["+1.0 ± 0.0 points", "2 worlds, 3 trainings each |"],
        ["90.0 % [80.0, 95.0]", "200 simulated tables |"],
        ["90.0 % [80.0, 95.0]", "200 simulated tables |"],
    ]
    assert "planted effects, 15 to 20 points strong" in findings_table(tmp_path)
    assert "Measured: KVQAE on 2026-01-02 at commit 01234567," in lines


def test_every_generated_part_stands_on_one_page():
    texts = [(ROOT / page).read_text(encoding="utf-8") for page in PAGES]
    for name in PARTS:
        for mark in (f"<!-- {name} -->\n", f"<!-- /{name} -->\n"):
            assert [text.count(mark) for text in texts if mark in text] == [1], mark


@pytest.mark.parametrize("page", PAGES)
def test_generated_parts_are_in_step(page):
    if subprocess.run(["git", "diff", "--quiet", "HEAD", "--", "metrics"], cwd=ROOT, check=False).returncode:
        pytest.skip("metrics/ is not what was committed: `make readme` would write other numbers")
    text = (ROOT / page).read_text(encoding="utf-8")
    assert filled(text, ROOT) == text, "run `make readme`"


def test_docs_list_every_stage():
    page = (ROOT / "docs" / "stages.md").read_text(encoding="utf-8")
    stages = yaml.safe_load((ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    assert [name for name in stages if f"| `{name}` |" not in page] == []
