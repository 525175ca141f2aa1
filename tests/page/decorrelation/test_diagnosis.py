"""Which classes gain, which models are weak, which trainings collapsed: each way the numbers can fall."""

import pytest

from tests.decorrelation.retrieved_world import cell
from trivium.core.tables import write_json
from trivium.decorrelation.matrix import parse_cells
from trivium.page.decorrelation.diagnosis import diagnosis_html
from trivium.page.decorrelation.results import Results

TRAIN = {"vse": {"margin": 0.2, "batch_size": 10}}
NONE = Results({}, {}, [])


def rows(values, dataset="coco"):
    """{class: (ODmAP@1, named) of finetune, the same of ours}, 10 queries each."""
    return [
        {"group": f"{dataset}_clip_{variant}", "set": "synthetic", "class": name, "queries": 10}
        | {"odmap@1": odmap, "removed_named": named}
        for name, both in values.items()
        for variant, (odmap, named) in zip(("finetune", "ours"), both, strict=True)
    ]


def said(results=NONE, classes=(), folder=None):
    html = diagnosis_html(results, classes, TRAIN, level=0.05, margin=0.05, folder=folder)
    return " ".join(html.replace("<p>", "").replace("</p>", "").split())


def test_classes_that_all_gain_alike_are_not_explained_away():
    text = said(classes=rows({"bus": ((0.4, 0.5), (0.6, 0.3)), "cat": ((0.4, 0.5), (0.5, 0.4))}))
    assert "Smallest: cat" in text
    assert "Little to gain" not in text
    assert "Not learnt" not in text
    assert said() == ""


@pytest.mark.parametrize(
    ("losses", "ended"),
    [
        ([4.5], "ended at 0.450 a pair"),
        ([4.5], "2 × margin = 0.400. The training ended above it"),
        ([3.5], "= 0.400. No training ended above it."),
        ([3.5, 4.5, 3.0], "1 of 3 trainings ended above it"),
    ],
)
def test_the_loss_is_held_against_twice_the_margin(tmp_path, losses, ended):
    cells = {}
    for seed, loss in enumerate(losses):
        cells[f"coco_vse_ours_{seed}"] = cell("coco", "vse", "ours")
        write_json(tmp_path / f"train_coco_vse_ours_{seed}.json", {"steps": 10.0, "loss": loss})
    assert ended in said(Results(parse_cells(cells, "params.yaml"), {}, []), folder=tmp_path)
