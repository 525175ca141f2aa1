"""The parts of complexity's page by themselves: marks in a text, signs, weakness, the published numbers, figures."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import yaml

from tests.complexity.paper_factors import FACTORS, labels
from trivium.formats.framed_texts import AnnotatedText, Example, FrameElement, FrameInstance, LexicalUnit, Span
from trivium.page.complexity.effects import findings, holds, marks, sizes, smallest_loss
from trivium.page.complexity.examples import Mark, marks_of, pieces, stratified
from trivium.page.complexity.material import Material
from trivium.page.complexity.models import frame_points, weakness
from trivium.page.complexity.reasons import SHARED, Corpus, composition, reason, rival_spans

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


class Given(Material):
    """Material without files: metrics by stage, and other attributes as they are given."""

    def metrics(self, stage):
        return vars(self).get("found", {}).get(stage, {})


def material(used=(), **given):
    settings = {"validate": {"measure": "f1", "risk": 0.05, "confidence": 0.95}, "partition": {"majority": 0.5}}
    settings |= {"finetune": {"models": {}}, "prompt": {"models": {}}}
    made = Given(settings | dict(used), True, Path(), Path(), PUBLISHED)
    vars(made).update({"names": NAMES, "labels": LABELS} | given)
    return made


def test_pieces_join_to_the_text_and_marks_may_overlap():
    text = "abcdefgh"
    given = [Mark(Span(1, 5), "asked", "Agent"), Mark(Span(3, 7), "answer", ""), Mark(Span(3, 4), "trigger", "F")]
    cut = pieces(text, given, Span(0, 8))
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


def test_a_draw_holds_every_stratum():
    def holding(place):
        return frozenset({("f1", place in (17, 801)), ("m", place % 50 == 3), ("f0", place % 2 == 0), ("n", None)})

    strata = [holding(place) for place in range(1000)]
    for seed in range(5):
        drawn = stratified(strata, 12, seed)
        assert drawn == stratified(strata, 12, seed)
        assert len(drawn) == len(set(drawn)) == 12
        assert set().union(*(strata[place] for place in drawn)) == set().union(*strata)
        assert {17, 801} <= set(drawn)  # of a rare stratum all that fit into half of the draw
        assert sum(("m", True) in strata[place] for place in drawn) >= 2
    assert stratified(strata, 12, 0) != stratified(strata, 12, 1)
    assert sorted(stratified(strata, 5000, 0)) == list(range(1000))
    assert len(stratified(strata, 1, 0)) == 1
    assert len(stratified([frozenset()] * 3, 2, 0)) == 2


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
    rows = {row["factor"]: row for row in findings(material(effects=cells, found={"factors": balance}))}
    assert rows["f1"]["other_sign"] == {"gpt": (CELL, 4)}
    assert rows["f1"]["paper_negative"] == 5
    assert rows["f5"]["significant"] == rows["f5"]["only_examples"] == rows["f5"]["joint_disagrees"] == ["CamemBERT"]
    assert rows["f5"]["smaller"] == 12
    assert (rows["f5"]["balance"], rows["f5"]["corrected"], rows["f6"]["balance"]) == (0.4, 0.35, None)
    assert rows["f2"]["gains"] == ["CamemBERT"]
    assert rows["f2"]["other_sign"] == {"camembert": (cells["camembert"]["f2"], -1)}
    assert rows["f1"]["gains"] == []
    assert (rows["f6"]["models"], rows["f6"]["validated"]) == (1, ["GPT"])


def test_a_size_is_another_where_the_interval_is_without_the_papers_which_is_rounded_down():
    assert holds(CELL | {"low": -5.0, "high": -4.0}, -4)
    assert holds(CELL | {"low": -3.1, "high": 2.0}, -4)  # the paper's may be -3.05
    assert not holds(CELL | {"low": -3.0, "high": 2.0}, -4)
    assert not holds(CELL | {"low": -9.0, "high": -4.1}, -4)
    assert holds(CELL | {"low": None, "high": None}, -4)
    strong = CELL | {"delta": -20.0, "low": -25.0, "high": -15.0}
    cells = {"camembert": dict.fromkeys(FACTORS, CELL) | {"f5": strong, "f4": CELL | {"low": -4.0, "high": -1.0}}}
    rows = {row["factor"]: row for row in findings(material(effects=cells))}
    assert rows["f5"]["other_size"] == {"camembert": (strong, -3)}
    assert list(rows["f4"]["other_size"]) == ["camembert"]
    assert rows["f0"]["other_size"] == rows["f5"]["other_sign"] == {}


def test_sizes_beside_the_papers():
    strong = CELL | {"delta": -30.0, "low": -40.0, "high": -20.0}
    cells = {"camembert": dict.fromkeys(FACTORS, CELL) | {"f5": strong, "f6": CELL | {"delta": None, "low": None}}}
    cells["mine"] = dict.fromkeys(FACTORS, CELL)
    known, own = sizes(material(effects=cells, labels=LABELS | {"mine": "Mine"}), {"camembert": 0.5, "mine": 0.6})
    assert (known["room"], known["paper_room"]) == (50, pytest.approx(18))
    assert known["size"] == pytest.approx((5 * 2.5 + 30) / 6)
    assert known["paper_size"] == pytest.approx((1 + 4 + 1 + 2 + 7 + 3 + 1) / 7)
    assert known["half"] == pytest.approx((5 * 5.5 + 10) / 6)
    assert (known["intervals"], known["inside"]) == (6, 5)
    assert (own["label"], own["paper_room"], own["paper_size"], own["inside"]) == ("Mine", None, None, 7)


def test_a_model_that_the_paper_does_not_have_is_held_against_the_mean_of_its_models():
    cells = {"mine": dict.fromkeys(FACTORS, CELL) | {"f5": CELL | {"delta": 1.0}}}
    rows = {row["factor"]: row for row in findings(material(effects=cells, labels={"mine": "Mine"}))}
    assert rows["f5"]["other_sign"] == {"mine": (cells["mine"]["f5"], None)}
    assert rows["f5"]["paper_mean"] == pytest.approx((-3 - 5 - 5 - 4 - 7 - 6 - 4) / 7)
    assert rows["f4"]["other_sign"] == {}


def test_what_the_mix_of_a_property_gives():
    # 20 examples of x (mean ½) and 20 of y (mean 1); yes holds 15 x and 5 y, no the rest.
    labels = np.repeat(["x", "y"], 20)
    values = np.concatenate([np.tile([0.0, 1.0], 10), np.ones(20)])
    codes = np.array([1] * 15 + [0] * 5 + [1] * 5 + [0] * 15)
    assert composition(values, labels, codes) == pytest.approx(100 * (0.75 * 0.5 + 0.25 - (0.25 * 0.5 + 0.75)))
    assert composition(values[1:-1], labels[1:-1], codes[1:-1]) == pytest.approx(0)  # 19 of each: too few
    uncounted = np.append(codes, [-1] * 20)
    more = composition(np.append(values, np.zeros(20)), np.append(labels, ["x"] * 20), uncounted)
    assert more == pytest.approx(composition(values, labels, codes))


def corpus_of(rivals, elements):
    return Corpus(
        factors={"f5": np.repeat(np.array([1, 0], dtype=np.int8), 20), "f3": np.tile(np.array([1, 0], np.int8), 20)},
        properties={
            "the number of the frame’s elements": np.array(elements),
            "rivals": np.array(rivals),
            SHARED: np.arange(40) % 4 == 0,
        },
        elements=np.array(elements),
        arcs=np.array([1, 2, -1, 1] * 10),
        scores={"m": np.repeat([0.75, 0.25], 20)},
    )


def test_reasons_are_properties_that_give_delta_by_themselves():
    elements = [2] * 20 + [4] * 20
    [given] = reason(corpus_of([1] * 20 + [3] * 20, elements), "m", "f5", 50.0)
    assert given == {"name": "rivals", "points": 50.0, "sides": (1.0, 3.0)}  # f5's own number is no reason
    assert reason(corpus_of([1, 3] * 20, elements), "m", "f5", 50.0) == []
    assert reason(corpus_of([1] * 20 + [3] * 20, elements), "m", "f5", -50.0) == []


def test_rival_spans_are_elements_in_the_answer_s_sentence(example):
    assert rival_spans(example) == 0  # "Jean" is the answer, in a sentence of its own
    assert rival_spans(replace(example, answer=Span(21, 29), chain=())) == 2  # "Il", "en mai"


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
