"""The parts of complexity's page by themselves: marks in a text, signs, weakness, the published numbers, figures."""

from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest
import yaml

from tests.complexity.paper_factors import FACTORS, labels
from trivium.formats.framed_texts import AnnotatedText, Example, FrameElement, FrameInstance, LexicalUnit, Span
from trivium.page.complexity.effects import findings, marks, smallest_loss
from trivium.page.complexity.examples import Mark, marks_of, pieces
from trivium.page.complexity.models import frame_points, weakness

PUBLISHED = yaml.safe_load((Path(__file__).parents[1] / "published/complexity.yaml").read_text(encoding="utf-8"))
NAMES = labels()
LABELS = {"camembert": "CamemBERT", "t5": "T5", "r": "Random", "gpt": "GPT"}
CELL = {
    "delta": -2.5,
    "low": -8.0,
    "high": 3.0,
    "p": 0.01,
    "yes": 60,
    "no": 60,
    "p_frame": 0.01,
    "joint": -2.0,
    "validated": True,
    "significant": False,
    "holm_significant": False,
    "found": False,
    "found_holm": False,
}


def test_pieces_join_to_the_text_and_marks_may_overlap():
    text = "abcdefgh"
    given = [Mark(Span(1, 5), "asked", "Agent"), Mark(Span(3, 7), "answer", ""), Mark(Span(3, 4), "trigger", "F")]
    cut = pieces(text, given)
    assert "".join(piece.text for piece in cut) == text
    assert [(piece.text, piece.styles) for piece in cut] == [
        ("a", ()),
        ("bc", ("asked",)),
        ("d", ("asked", "answer", "trigger")),
        ("e", ("asked", "answer")),
        ("fg", ("answer",)),
        ("h", ()),
    ]
    assert [piece.labels for piece in cut] == [(), (("asked", "Agent"),), (("trigger", "F"),), (), (), ()]


@pytest.fixture
def example():
    text = "Jean vint. Il perdit la ville en mai."
    elements = (
        FrameElement("Owner", Span(11, 13), "core"),
        FrameElement("Possession", Span(21, 29), "core"),
        FrameElement("Time", Span(30, 36), "peripheral"),
    )
    frame = FrameInstance("Losing", LexicalUnit("perdre", "verb", Span(14, 20)), elements)
    chain = (Span(0, 4), Span(11, 13))
    annotated = AnnotatedText("t", "Titre", text, (frame,), (chain,))
    return Example("q", annotated, "Qui perdit la ville ?", chain[0], frame, "Owner", ("Possession",), chain[::-1])


def test_elements_are_told_apart_and_the_chain_is_shown(example):
    shown = [(mark.span.of(example.text.text), mark.style, mark.label) for mark in marks_of(example)]
    assert shown == [
        ("perdit", "trigger", "Losing"),
        ("Il", "asked", "Owner"),
        ("la ville", "given", "Possession"),
        ("en mai", "element", "Time"),
        ("Il", "mention", ""),
        ("Jean", "mention", ""),
        ("Jean", "answer", "answer"),
    ]


def test_the_smallest_loss_by_hand():
    # Standard errors of 2 and 3 points: intervals of 3.92 times as much.
    wide, wider = (CELL | {"low": -3 * error, "high": 0.92 * error} for error in (2, 3))
    assert smallest_loss([wide, wider]) == pytest.approx(2.8 * 2.5)
    assert smallest_loss([CELL | {"low": None, "high": None}]) is None


def test_signs_of_a_cell():
    assert marks(CELL, 0.05) == "↓"
    assert marks(CELL | {"significant": True}, 0.05) == "↓*"
    assert marks(CELL | {"significant": True, "holm_significant": True, "found": True}, 0.05) == "↓**◆"
    assert marks(CELL | {"significant": True, "found": True, "found_holm": True}, 0.05) == "↓*◆◆"
    gain = CELL | {"delta": 2.0, "validated": False}
    assert marks(gain, 0.05) == "↑"
    assert marks(gain | {"p": 0.2}, 0.05) == ""
    assert marks(gain | {"delta": None, "p": None}, 0.05) == ""


def test_findings_compare_signs_and_analyses():
    cells = {"camembert": dict.fromkeys(FACTORS, CELL), "gpt": dict.fromkeys(FACTORS, CELL)}
    cells["camembert"] = cells["camembert"] | {
        "f5": CELL | {"significant": True, "p_frame": 0.3, "joint": 1.0, "no": 12},
        "f6": CELL | {"delta": None},
        "f2": CELL | {"delta": 3.0, "validated": False},
    }
    balance = {"f5_balance": 0.4, "f5_balance_corrected": 0.35}
    printed = PUBLISHED["table_2"]
    deltas = {model: dict(zip(printed["factors"], row, strict=True)) for model, row in printed["rows"].items()}
    of = SimpleNamespace(names=NAMES, labels=LABELS, effects=cells, risk=0.05, printed_deltas=deltas)
    of.metrics = {"factors": balance}.get
    rows = {row["factor"]: row for row in findings(of)}
    assert rows["f1"]["paper_negative"] == 5
    assert rows["f5"]["significant"] == rows["f5"]["only_examples"] == rows["f5"]["joint_disagrees"] == ["CamemBERT"]
    assert rows["f5"]["smaller"] == 12
    assert (rows["f5"]["balance"], rows["f5"]["corrected"], rows["f6"]["balance"]) == (0.4, 0.35, None)
    assert rows["f2"]["gains"] == ["CamemBERT"]
    assert rows["f1"]["gains"] == []
    assert (rows["f6"]["models"], rows["f6"]["validated"]) == (1, ["GPT"])


def test_weak_models_and_why():
    good = {"m_em": 0.4, "m_rouge_l_low": 0.5, "m_shuffled_rouge_l": 0.2, "m_over_baseline_low": 0.1}
    assert weakness("m", good, 0.25, meant=False) == ""
    assert weakness("m", good | {"m_over_baseline_low": 0.0}, 0.25, meant=False)
    assert "shuffled" in weakness("m", good | {"m_shuffled_rouge_l": 0.5}, 0.25, meant=False)
    assert weakness("m", good, 0.45, meant=False) == "only 40 % exactly right"
    assert "params.yaml calls it weak" in weakness("m", good, 0.25, meant=True)


def test_frame_means_are_over_seeds_and_questions():
    table = pa.table({"id": ["a", "b", "c", "a", "b", "c"], "score": [1.0, 0.0, 0.5, 0.0, 0.0, 0.5]})
    texts, frames = {"a": "t1", "b": "t2", "c": "t3"}, {"a": "F", "b": "F", "c": "G"}
    points = frame_points(table, texts, frames, confidence=0.95, resamples=50, seed=0)
    assert [(name, value) for name, value, _ in points] == [("F", 0.25), ("G", 0.5)]
    low, high = points[0][2]
    assert 0 <= low <= 0.25 <= high <= 0.5
    assert points[1][2] is None  # one text
