"""Which classes gain, which models are weak, which trainings collapsed: each way the numbers can fall."""

import pytest

from tests.decorrelation.retrieved_world import cell
from trivium.core.errors import BadInput
from trivium.core.tables import write_json
from trivium.decorrelation.matrix import parse_cells
from trivium.page.decorrelation.corpus import class_pairs
from trivium.page.decorrelation.diagnosis import class_gains, unlearnt, weak_models
from trivium.page.decorrelation.results import Results

TRAIN = {"vse": {"margin": 0.2, "batch_size": 10}}


def rows(values, dataset="coco"):
    """{class: (ODmAP@1, named) of finetune, the same of ours}, 10 queries each."""
    return [
        {"group": f"{dataset}_clip_{variant}", "set": "synthetic", "class": name, "queries": 10}
        | {"odmap@1": odmap, "removed_named": named}
        for name, both in values.items()
        for variant, (odmap, named) in zip(("finetune", "ours"), both, strict=True)
    ]


def test_classes_that_gain_and_that_do_not():
    found = rows(
        {
            "cat": ((0.2, 0.7), (0.2, 0.7)),
            "chair": ((0.9, 0.1), (0.91, 0.1)),
            "bus": ((0.4, 0.5), (0.6, 0.3)),
            "stop sign": ((0.4, 0.5), (0.5, 0.4)),
        }
    )
    head, largest, smallest, seldom, still, why = class_gains(class_pairs(found, "coco", "clip"), 0.05, [])
    assert "2 of 4 classes gain more than 5 points of ODmAP@1, 1 gain nothing" in head
    assert largest == "Largest gains: bus +20.0 (50 → 30 %), stop sign +10.0 (50 → 40 %)."
    assert smallest == "Smallest: cat +0.0 (70 → 70 %), chair +1.0 (10 → 10 %)."
    assert seldom.startswith("Little to gain: chair, named less than half")  # the average is 45 %
    assert "(45 %)" in seldom
    assert still == "Not learnt: cat, named by ours within 5 points as often as before."
    assert why == "Why was not investigated in this run."


@pytest.mark.parametrize(
    ("named", "said"),
    [
        (0.4, "40 %, any class in 25 % of the queries: other things are taken for them"),
        (0.1, "10 %, any class in 10 %"),
    ],
)
def test_what_is_not_learnt_is_held_against_the_control_world(named, said):
    found = rows({"cat": ((0.2, 0.7), (0.2, 0.7)), "bus": ((0.4, 0.5), (0.6, 0.3))})
    control = rows({"cat": ((0.5, named), (0.5, named)), "bus": ((0.9, 0.1), (0.9, 0.1))}, "control")
    *_, why = class_gains(class_pairs(found, "coco", "clip"), 0.05, class_pairs(control, "control", "clip"))
    assert said in why
    assert why.endswith("not all of the cause." if named > 0.25 else "the cause was not investigated.")


def test_classes_that_all_gain_alike_are_not_explained_away():
    found = rows({"bus": ((0.4, 0.5), (0.6, 0.3)), "cat": ((0.4, 0.5), (0.5, 0.4))})
    said = class_gains(class_pairs(found, "coco", "clip"), 0.05, [])
    assert len(said) == 3
    assert class_gains([], 0.05, []) == []


def comparison(difference, low, high, kind, measure):
    fields = {"dataset": "coco", "model": "vse", "variant": "ours", "other_variant": "finetune", "subset": "all"}
    fields |= {"set": kind, "other_set": kind, "measure": measure}
    return fields | {"difference": difference, "low": low, "high": high, "p": 0.01 if low * high > 0 else 0.5}


def recalls(finetune, ours, fit):
    cells = {
        f"coco_{model}_{variant}_0": cell("coco", model, variant)
        for model in ("clip", "vse")
        for variant in ("finetune", "ours")
    }
    metrics = {"coco_clip_finetune_image_to_text_r@1": 0.2, "coco_clip_ours_image_to_text_r@1": 0.24}
    metrics |= {"coco_vse_finetune_image_to_text_r@1": finetune, "coco_vse_ours_image_to_text_r@1": ours}
    compared = [comparison(0.1, 0.05, 0.15, "synthetic", "odmap@1"), fit]
    return Results(parse_cells(cells, "params.yaml"), metrics, compared)


FITS = comparison(0.04, 0.01, 0.07, "image_to_text", "r@1")
SAME = comparison(-0.01, -0.03, 0.01, "image_to_text", "r@1")


def test_a_weak_model_is_warned_of():
    (text,) = weak_models(recalls(0.04, 0.08, FITS), 0.05)
    assert "R@1 4.0 % (finetune), 8.0 % (ours); CLIP: 20.0 % (finetune), 24.0 % (ours)" in text
    assert "(+10.0 points) mixes better fitting with looking at the picture" in text
    assert text.endswith("R@1 rises with D′ (+4.0 points).")
    (text,) = weak_models(recalls(0.09, 0.2, SAME), 0.05)
    assert text.endswith("R@1 is not shown to change with D′ (−1.0 points).")


def test_a_model_half_as_good_as_clip_is_not():
    assert weak_models(recalls(0.1, 0.12, FITS), 0.05) == []


def trained(folder, losses):
    cells = {}
    for seed, loss in enumerate(losses):
        cells[f"coco_vse_ours_{seed}"] = cell("coco", "vse", "ours")
        write_json(folder / f"train_coco_vse_ours_{seed}.json", {"steps": 10.0, "loss": loss})
    return Results(parse_cells(cells, "params.yaml"), {}, [])


def test_the_loss_is_held_against_twice_the_margin(tmp_path):
    (text,) = unlearnt(trained(tmp_path, [4.5]), TRAIN, tmp_path)  # 0.45 a pair, 2 × 0.2 = 0.4
    assert "ended at 0.450 a pair" in text
    assert "2 × margin = 0.400. The training ended above it" in text
    (text,) = unlearnt(trained(tmp_path, [3.5]), TRAIN, tmp_path)
    assert text.endswith("= 0.400. No training ended above it.")
    (text,) = unlearnt(trained(tmp_path, [3.5, 4.5, 3.0]), TRAIN, tmp_path)
    assert "1 of 3 trainings ended above it" in text


def test_a_training_without_metrics_is_an_error(tmp_path):
    found = trained(tmp_path, [3.5])
    (tmp_path / "train_coco_vse_ours_0.json").unlink()
    with pytest.raises(BadInput, match="no such file"):
        unlearnt(found, TRAIN, tmp_path)


def test_other_models_have_no_margin(tmp_path):
    cells = parse_cells({"coco_clip_ours_0": cell("coco", "clip", "ours")}, "params.yaml")
    assert unlearnt(Results(cells, {}, []), TRAIN, tmp_path) == []
