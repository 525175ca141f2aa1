"""What stands beside findings, each way the numbers can fall."""

import pytest

from trivium.core.tables import write_json
from trivium.page.decorrelation.checks import check, notes, painting_note, planted
from trivium.page.decorrelation.results import Results

GAIN = {"difference": 0.1, "low": 0.06, "high": 0.14, "p": 0.001}
TRACE = {"difference": -0.04, "low": -0.07, "high": -0.01, "p": 0.006}
NONE = {"difference": 0.005, "low": -0.01, "high": 0.02, "p": 0.4}


def row(values, variant, other, kind, other_kind, measure="r@1", dataset="flickr30k", seeds=1):
    fields = {"dataset": dataset, "model": "clip", "variant": variant, "other_variant": other, "subset": "all"}
    fields |= {"set": kind, "other_set": other_kind, "measure": measure, "seeds": seeds, "other_seeds": seeds}
    return fields | values


def results(ours, finetune, *, rendered, dataset="flickr30k"):
    rows = [row(GAIN, "ours", "finetune", "synthetic", "synthetic", "odmap@1", dataset)]
    rows += [
        row(values, variant, variant, "empty_image_to_text", "image_to_text", dataset=dataset)
        for variant, values in (("ours", ours), ("finetune", finetune))
        if values is not None
    ]
    if rendered:
        rows.append(row(GAIN, "ours", "finetune", "rendered", "rendered", "odmap@1", dataset))
    return Results({}, {}, rows)


def test_an_empty_box_that_costs_something_is_said():
    text = " ".join(painting_note(results(NONE, TRACE, rendered=False), "flickr30k", "clip", 0.05))
    assert "changes R@1 by +0.5 points (ours, p = 0.400) and −4.0 points (finetune, p = 0.006)" in text
    assert "leaves a trace" in text
    assert "Flickr30k has no queries rendered again" in text
    text = " ".join(painting_note(results(TRACE, None, rendered=True), "flickr30k", "clip", 0.05))
    assert "−4.0 points (ours" in text
    assert "rendered again" not in text


def test_an_empty_box_that_costs_nothing_is_no_trace():
    text = " ".join(painting_note(results(NONE, NONE, rendered=False), "flickr30k", "clip", 0.05))
    assert "is not shown to change R@1: +0.5 points" in text
    assert "trace" not in text
    assert painting_note(results(NONE, NONE, rendered=True), "flickr30k", "clip", 0.05) == []


def test_without_empty_boxes_only_the_missing_queries_are_told():
    (text,) = painting_note(results(None, None, rendered=False), "flickr30k", "clip", 0.05)
    assert text.startswith("Flickr30k has no queries rendered again without the object (its classes are types")


HEADER = "class,other,pictures_with_class,pictures_with_both,probability,lift\n"
COCO = HEADER + "dog,frisbee,10,10,1.0,3.5\nfrisbee,dog,10,10,1.0,3.7\ndog,cat,10,1,0.1,0.4\ncup,,0,0,,\n"


def write(folder, control):
    (folder / "co_occurrence_coco.csv").write_text(COCO)
    (folder / "co_occurrence_control.csv").write_text(HEADER + control)
    write_json(folder / "world_coco.json", {"pictures_train": 3000.0})
    write_json(folder / "world_control.json", {"pictures_train": 1500.0})


class Both(Results):
    """As if these data sets had cells."""

    datasets = ("coco", "control")


@pytest.mark.parametrize(
    ("lift", "said"),
    [
        (2.5, "co-occurrence is weakened there, not gone"),
        (0.9, "co-occurrence is gone there"),
        (3.9, "co-occurrence is not weaker in the control world"),
    ],
)
def test_control_is_what_its_table_says(tmp_path, lift, said):
    write(tmp_path, f"dog,frisbee,8,5,0.62,{lift}\nfrisbee,dog,8,5,0.64,{lift}\n")
    gain = row(NONE, "ours", "finetune", "synthetic", "synthetic", "odmap@1", "control")
    rendered = row(NONE, "ours", "finetune", "rendered", "rendered", "odmap@1", "control")
    asked = check("?", "same", "ours", "finetune", dataset="control")
    found = notes(Both({}, {}, [gain, rendered]), asked, level=0.05, folder=tmp_path, usual=0.5)
    assert found == [
        f"Pairs that stand together in COCO have a lift of 3.5 to 3.7 there (P 1.00) and of {lift} in the control world "
        f"(P 0.62 to 0.64), 1 being independence: {said}.",
        "Training pictures: Control world 1500, COCO 3000. One seed only.",
    ]
    several = gain | {"seeds": 3, "other_seeds": 3}
    found = notes(Both({}, {}, [several, rendered]), asked, level=0.05, folder=tmp_path, usual=0.5)
    assert found[-1].endswith("COCO 3000. 3 seeds.")


def test_pairs_that_control_does_not_hold_are_not_compared(tmp_path):
    write(tmp_path, "dog,cat,8,5,0.62,2\n")
    gain = row(NONE, "ours", "finetune", "synthetic", "synthetic", "odmap@1", "control")
    asked = check("?", "same", "ours", "finetune", dataset="control")
    found = notes(Both({}, {}, [gain]), asked, level=0.05, folder=tmp_path, usual=0.5)
    assert not any("lift" in each for each in found)
    assert found[-1].startswith("Training pictures")


def test_planted_pairs_are_those_of_usual_partners():
    def pair(name, other, probability, lift):
        return {"class": name, "other": other, "probability": probability, "lift": lift}

    coco = [pair("dog", "frisbee", 0.9, 3.0), pair("cat", "bus", 0.4, 1.2), pair("cup", "person", 0.8, 1.0)]
    control = [pair(each["class"], each["other"], 0.5, 2.0) for each in coco]
    assert planted(coco, control, 0.5) == [(control[0], coco[0])]
    assert planted(coco, [], 0.5) == []


def test_other_questions_have_no_note(tmp_path):
    found = results(TRACE, TRACE, rendered=False, dataset="coco")
    for asked in (
        check("?", "same", "ours", "finetune", set="image_to_text", measure="r@1"),
        check("?", "same", "ours", "ours", other_set="rendered"),
        check("?", "more", "ours", "finetune", dataset="flickr30k"),  # not run
    ):
        assert notes(found, asked, level=0.05, folder=tmp_path, usual=0.5) == []
    asked = check("?", "more", "ours", "finetune")
    assert len(notes(found, asked, level=0.05, folder=tmp_path, usual=0.5)) == 2
