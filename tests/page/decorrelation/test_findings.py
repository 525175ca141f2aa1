"""The questions, their answers, and what stands beside them, each way the numbers can fall."""

import pytest

from tests.page.outline import Outline
from trivium.core.tables import write_json
from trivium.page.decorrelation.checks import check, checks, notes, planted
from trivium.page.decorrelation.findings import answer, findings_html
from trivium.page.decorrelation.results import Results, shown


def row(difference, low, high, p, **more):
    return {"difference": difference, "low": low, "high": high, "p": p, **more}


MORE = row(0.1, 0.06, 0.14, 0.001)
LESS = row(-0.1, -0.14, -0.06, 0.001)
NOTHING = row(0.01, -0.02, 0.04, 0.6)
WIDE = row(0.04, -0.05, 0.13, 0.4)
TINY = row(0.02, 0.01, 0.03, 0.01)
ALONE = row(0.1, None, None, 1.0)
TRACE = row(-0.04, -0.07, -0.01, 0.006)
TOLD = {"level": 0.05, "usual": 0.5}


@pytest.mark.parametrize(
    ("found", "expected", "sentence"),
    [
        (MORE, "more", "Yes. Higher by 10.0 points."),
        (LESS, "more", "No, the reverse. Lower by 10.0 points."),
        (LESS, "less", "Yes. Lower by 10.0 points."),
        (WIDE, "more", "Not shown: the difference may be chance."),
        (NOTHING, "same", "Yes, within 5 points."),
        (TINY, "same", "Nearly: differs by only 2.0 points."),
        (WIDE, "same", "Not shown to differ, but the interval reaches 13.0 points."),
        (LESS, "same", "No: it loses 10.0 points."),
        (MORE, "same", "No: it gains 10.0 points."),
        (WIDE, "open", "No difference is shown; the interval reaches 13.0 points."),
        (MORE, "open", "Higher by 10.0 points."),
        (ALONE, "more", "From one picture: nothing can be said."),
    ],
)
def test_what_is_said(found, expected, sentence):
    assert answer(found, expected, 0.05, 0.05) == sentence


def test_a_difference_is_shown_by_p_and_interval_together():
    assert [shown(found, 0.05) for found in (MORE, LESS, NOTHING, ALONE)] == [1, -1, 0, 0]
    assert shown(row(0.1, 0.06, 0.14, 0.2), 0.05) == 0
    assert shown(row(0.1, -0.01, 0.14, 0.01), 0.05) == 0


def compared(values, variant, other, kind, measure, dataset="coco", other_kind=None, seeds=1):
    """A row of comparisons.json."""
    fields = {"dataset": dataset, "model": "clip", "variant": variant, "other_variant": other, "subset": "all"}
    fields |= {"set": kind, "other_set": other_kind or kind, "measure": measure, "queries": 900}
    fields |= {"seeds": seeds, "other_seeds": seeds, "value": 0.5, "other_value": 0.4, "difference_sd": None}
    return fields | values


def test_the_verdict_follows_the_numbers(tmp_path):
    def said(*rows):
        evaluate = {"partner_probability": 0.5, "confidence": 0.95}
        html = findings_html(Results({}, {}, rows), evaluate, level=0.05, margin=0.05, folder=tmp_path)
        return html.partition("</strong>")[0].partition("<strong>")[2]

    def both(gain, cost, seeds=3):
        return (
            compared(gain, "ours", "finetune", "synthetic", "odmap@1", seeds=seeds),
            compared(cost, "ours", "finetune", "image_to_text", "r@1", seeds=seeds),
        )

    there = said(*both(MORE, NOTHING))
    assert there.startswith("The effect is there: CLIP trained on D ∪ D′ has ODmAP@1 +10.0 points")
    assert there.endswith("means over 3 seeds and 900 queries.")
    unlikely = row(0.1, 0, 0.2, 0.3)
    for gain, cost in ((NOTHING, NOTHING), (TINY, NOTHING), (LESS, NOTHING), (MORE, LESS), (unlikely, TINY)):
        assert said(*both(gain, cost)).startswith("The effect is not there as it should be")
    assert said(*both(MORE, NOTHING, seeds=1)).endswith("one seed only.")
    assert said() == ""


def test_a_check_compares_variants_on_one_set_or_one_variant_on_two():
    wanted = check("?", "more", ("ours", "finetune")).wanted
    assert wanted == {"dataset": "coco", "model": "clip", "variant": "ours", "other_variant": "finetune",
                      "set": "synthetic", "other_set": "synthetic", "measure": "odmap@1", "subset": "all"}  # fmt: skip
    assert check("?", "same", ("ours", "ours"), other_set="rendered").wanted["other_set"] == "rendered"
    boxes = [
        (asked.wanted["dataset"], asked.wanted["variant"], asked.wanted["other_set"], asked.expected)
        for asked in checks(["coco", "flickr30k"])
        if asked.wanted["set"] == "empty_image_to_text"
    ]
    assert boxes == [
        (dataset, variant, "image_to_text", "same")
        for dataset in ("coco", "flickr30k")
        for variant in ("ours", "finetune")
    ]


def noted(ours, finetune, *, rendered, dataset="flickr30k", folder=None):
    """The notes beside the gain on a data set, where empty boxes cost this much."""
    rows = [compared(MORE, "ours", "finetune", "synthetic", "odmap@1", dataset)]
    rows += [
        compared(values, variant, variant, "empty_image_to_text", "r@1", dataset, "image_to_text")
        for variant, values in (("ours", ours), ("finetune", finetune))
        if values is not None
    ]
    if rendered:
        rows.append(compared(MORE, "ours", "finetune", "rendered", "odmap@1", dataset))
    wanted = check("?", "more", ("ours", "finetune"), dataset=dataset).wanted
    return " ".join(notes(Results({}, {}, rows), wanted, folder=folder, **TOLD))


def test_what_an_empty_box_does_is_said_where_it_limits_the_gain():
    text = noted(NOTHING, TRACE, rendered=False)
    assert "changes R@1 by +1.0 points (ours, p = 0.600) and −4.0 points (finetune, p = 0.006)" in text
    assert "leaves a trace" in text
    assert "Flickr30k has no queries rendered again without the object (its classes are types" in text
    text = noted(TRACE, None, rendered=True)
    assert "−4.0 points (ours" in text
    assert "rendered again" not in text
    text = noted(NOTHING, NOTHING, rendered=False)
    assert "is not shown to change R@1: +1.0 points" in text
    assert "trace" not in text
    assert noted(NOTHING, NOTHING, rendered=True) == ""
    assert noted(None, None, rendered=False).startswith("Flickr30k has no queries rendered again")


HEADER = "class,other,pictures_with_class,pictures_with_both,probability,lift\n"
COCO = HEADER + "dog,frisbee,10,10,1.0,3.5\nfrisbee,dog,10,10,1.0,3.7\ndog,cat,10,1,0.1,0.4\ncup,,0,0,,\n"


class Both(Results):
    """As if these data sets had cells."""

    datasets = ("coco", "control")


def control_notes(folder, control, seeds=1):
    (folder / "co_occurrence_coco.csv").write_text(COCO)
    (folder / "co_occurrence_control.csv").write_text(HEADER + control)
    write_json(folder / "world_coco.json", {"pictures_train": 3000.0})
    write_json(folder / "world_control.json", {"pictures_train": 1500.0})
    rows = [
        compared(NOTHING, "ours", "finetune", kind, "odmap@1", "control", seeds=seeds)
        for kind in ("synthetic", "rendered")
    ]
    return notes(Both({}, {}, rows), check("?", "same", ("ours", "finetune"), dataset="control").wanted,
                 folder=folder, **TOLD)  # fmt: skip


@pytest.mark.parametrize(
    ("lift", "said"),
    [
        (2.5, "co-occurrence is weakened there, not gone"),
        (0.9, "co-occurrence is gone there"),
        (3.9, "co-occurrence is not weaker in the control world"),
    ],
)
def test_control_is_what_its_table_says(tmp_path, lift, said):
    table = f"dog,frisbee,8,5,0.62,{lift}\nfrisbee,dog,8,5,0.64,{lift}\n"
    assert control_notes(tmp_path, table) == [
        f"Pairs that stand together in COCO have a lift of 3.5 to 3.7 there (P 1.00) and of {lift} in the control world "
        f"(P 0.62 to 0.64), 1 being independence: {said}.",
        "Training pictures: Control world 1500, COCO 3000. One seed only.",
    ]
    assert control_notes(tmp_path, table, seeds=3)[-1].endswith("COCO 3000. 3 seeds.")
    (other,) = control_notes(tmp_path, "dog,cat,8,5,0.62,2\n")
    assert other.startswith("Training pictures")


def test_planted_pairs_are_those_of_usual_partners():
    def pair(name, other, probability, lift):
        return {"class": name, "other": other, "probability": probability, "lift": lift}

    coco = [pair("dog", "frisbee", 0.9, 3.0), pair("cat", "bus", 0.4, 1.2), pair("cup", "person", 0.8, 1.0)]
    control = [pair(found["class"], found["other"], 0.5, 2.0) for found in coco]
    assert planted(coco, control, 0.5) == [(control[0], coco[0])]
    assert planted(coco, [], 0.5) == []


def test_other_questions_have_no_note(tmp_path):
    found = Results({}, {}, [compared(MORE, "ours", "finetune", "synthetic", "odmap@1")])
    for asked in (
        check("?", "same", ("ours", "finetune"), set="image_to_text", measure="r@1"),
        check("?", "same", ("ours", "ours"), other_set="rendered"),
        check("?", "more", ("ours", "finetune"), dataset="flickr30k"),  # not run
    ):
        assert notes(found, asked.wanted, folder=tmp_path, **TOLD) == []


def test_a_row_tells_both_sides_with_spread_and_interval(tmp_path):
    gain = compared(MORE, "ours", "finetune", "synthetic", "odmap@1", seeds=3) | {"difference_sd": 0.004}
    evaluate = {"partner_probability": 0.5, "confidence": 0.95}
    html = findings_html(Results({}, {}, [gain]), evaluate, level=0.05, margin=0.05, folder=tmp_path)
    (first,) = [cells for cells in Outline(html).rows if cells[0].startswith("Is the effect there?")]
    assert first[0].endswith("CLIP, COCO: ODmAP@1")
    assert first[1].startswith("Yes. Higher by 10.0 points.")
    assert first[2:] == ["ours against finetune", "50.040.0", "+10.0[+6.0, +14.0]", "0.001", "3 seeds± 0.4"]
