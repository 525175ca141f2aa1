"""The parts of complexity's page by themselves: marks in a text, signs, weakness, the published numbers, figures."""

import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import yaml

from tests.complexity.paper_factors import FACTORS, labels
from trivium.formats.framed_texts import AnnotatedText, Example, FrameElement, FrameInstance, LexicalUnit, Span
from trivium.page.complexity.effects import findings, holds, marks, sizes, smallest_loss, table_2
from trivium.page.complexity.examples import Mark, item, marks_of, pieces, shown_part, stratified
from trivium.page.complexity.material import Material
from trivium.page.complexity.models import frame_points, training_of, unusual_answers, weakness
from trivium.page.complexity.reasons import SHARED, Corpus, composition, reason, rival_spans
from trivium.page.figures import curves, estimates
from trivium.page.html import probability, signed

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


def test_a_long_text_is_cut_at_spaces_around_its_marks():
    text = "un deux trois quatre cinq six sept"
    place = Span(text.index("quatre"), text.index("quatre") + 6)
    assert shown_part(text, [Mark(place, "answer", "")], 100) == Span(0, len(text))
    assert shown_part(text, [Mark(place, "answer", "")], 7).of(text) == "trois quatre cinq"
    assert shown_part(text, [Mark(place, "answer", "")], 0).of(text) == "quatre"
    assert shown_part("aaaaaaaaaa", [Mark(Span(4, 6), "answer", "")], 2).of("aaaaaaaaaa") == "aaaaaa"


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


def test_an_item_says_how_many_models_are_right_without_the_baselines(example):
    def row(model, kind, score, text="x"):
        return {"model": model, "kind": kind, "rouge_l": score, "prediction": text}

    factors = dict.fromkeys(FACTORS, False) | {"f1": True, "f4": None}
    answers = [row("camembert", "extractive", 1.0), row("t5", "seq2seq", 0.5, "abcdef"), row("r", "baseline", 1.0)]
    shown = item(example, factors, answers, material(), 9, 4)
    assert (shown["exact"], shown["models"], shown["right"]) == (1, 2, "some")
    assert [answer["text"] for answer in shown["answers"]] == ["x", "abcd…", "x"]
    assert [state for _, _, state in shown["factors"]] == ["no", "yes", "no", "no", "uncounted", "no", "no"]
    assert item(example, factors, answers[:1], material(), 9, 4)["right"] == "all"
    assert item(example, factors, answers[1:], material(), 9, 4)["right"] == "none"


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


def test_a_factor_with_a_small_set_is_said_to_be_in_no_test():
    shown = {"joint_p": None, "delta_floor": -3.0, "p_holm": 0.2}
    small = CELL | shown | dict.fromkeys(("p", "p_holm", "low", "high", "p_frame", "joint"))
    counts = {
        f"{f}_{key}": 0.0 for f in ("f0", "f1") for key in ("validated", "significant", "holm_significant", "found")
    }

    def table(cells):
        metrics = counts | {"models": 1.0, "tests": 1.0}
        names = {factor: NAMES[factor] for factor in cells}
        return table_2(material(names=names, effects={"camembert": cells}, found={"validate": metrics}))

    said = " ".join(table({"f0": CELL | shown, "f1": small}).split())
    assert "<p>f1: in no test, since one of the two sets has fewer examples than" in said
    assert "in no test" not in table({"f0": CELL | shown, "f1": CELL | shown})
    assert "in no test" not in table({"f0": CELL | shown, "f1": small | {"delta": None}})  # nothing to test


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


def test_models_are_called_as_params_say_else_as_the_paper_says_else_by_their_file():
    complexity = {
        "finetune": {"models": {"camembert": {"label": "Our CamemBERT"}, "other": {"label": "Twin"}}},
        "prompt": {"models": {"gpt": {"label": "Twin"}}},
    }
    of = material(complexity, kinds=dict.fromkeys(("camembert", "mine", "random_span"), ""))
    del vars(of)["labels"]
    names = of.labels
    assert (names["camembert"], names["mixtral"], names["mine"]) == ("Our CamemBERT", "Mixtral-8x7B", "mine")
    assert names["random_span"] == "Random span, as long as an answer"
    assert (names["other"], names["gpt"]) == ("Twin (other)", "Twin (gpt)")  # figures tell models apart by name


def test_trainings_tell_size_and_steps():
    found = {"parameters": 6.7e9, "parameters_trained": 4.2e6, "steps": 400.0, "epochs": 1.52}
    assert training_of(found) == "4.2 M of 6.7 B parameters, 400 steps = 1.5 epochs"
    small = found | {"parameters": 45_400.0, "parameters_trained": 45_400.0}
    assert training_of(small) == "45 k parameters, 400 steps = 1.5 epochs"


def test_unusual_answers_are_told_of_readers_that_met_some_and_of_prompted_models_that_ran():
    met = {"questions": 90.0, "contexts_cut": 3.0, "answers_behind_cut": 2.0, "not_ended": 0.0}
    counts = {"questions": 90.0, "unwrapped": 4.0, "talked": 3.0, "cut": 2.0, "empty": 1.0, "refused": 5.0}
    prompted = {"gpt_run": 0.0, "mixtral_run": 1.0} | {f"mixtral_{name}": count for name, count in counts.items()}
    found = {"answer_t5_7": met, "answer_llama_0": dict.fromkeys(met, 0.0), "prompt": prompted}
    of = material({"prompt": {"models": {"mixtral": {}, "gpt": {}}}}, trained={"llama": 0, "t5": 7}, found=found)
    (reader, asked, cuts), (model, _, replies) = unusual_answers(of)
    assert (reader, asked, [count for _, count in cuts]) == ("t5", 90, [3, 2])
    assert "reference answer" in cuts[1][0]
    assert (model, [count for _, count in replies]) == ("mixtral", [4, 3, 2, 1, 5])
    assert replies[1][0].startswith("not words of the text")


def test_frame_means_are_over_seeds_and_questions():
    table = pa.table({"id": ["a", "b", "c", "a", "b", "c"], "score": [1.0, 0.0, 0.5, 0.0, 0.0, 0.5]})
    texts, frames = {"a": "t1", "b": "t2", "c": "t3"}, {"a": "F", "b": "F", "c": "G"}
    points = frame_points(table, texts, frames, confidence=0.95, resamples=50, seed=0)
    assert [(name, value) for name, value, _ in points] == [("F", 0.25), ("G", 0.5)]
    low, high = points[0][2]
    assert 0 <= low <= 0.25 <= high <= 0.5
    assert points[1][2] is None  # one text


def test_numbers_as_people_read_them():
    assert (signed(-3), signed(2.25, 1), signed(-0.5, 2)) == ("−3", "2.2", "−0.50")
    assert (probability(0.0004), probability(0.0312)) == ("< 0.001", "= 0.031")


@pytest.mark.parametrize(
    "draw",
    [
        lambda: estimates(["F <b>$x$", "G"], {"a": [(0.2, 0.1, 0.3), None]}, title="T", xlabel="x", line=0.5),
        lambda: estimates(["F <b>$x$", "G"], {"a": [(1, 0, 2), None], "b": [None, None]}, title="T", xlabel="x"),
        lambda: curves(
            {rf"$\m{n}$": [(0, [0.1], None), (1, [], None)] for n in range(12)},
            title="T",
            ylabel="y",
            ticks=["F <b>$x$", "G"],
        ),
        lambda: curves(
            {"F <b>$x$": [(0.1, [1, 2], (1, 2))], "b": [(0.1, [1], None)]}, title="T", xlabel="x", ylabel="y"
        ),
    ],
    ids=["one", "two", "steps", "sweep"],
)
def test_figures_take_any_name_as_text_and_are_the_same_every_time(draw):
    svg = draw()
    assert svg == draw()
    root = ElementTree.fromstring(svg)
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-label"] == "T"
    assert "F <b>$x$" in "".join(root.itertext())
