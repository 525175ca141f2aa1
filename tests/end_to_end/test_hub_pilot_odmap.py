"""The pilot of ODmAP from COCO's public files on: dvc.yaml and scales/pilot_odmap.yaml, tiny pictures, stand-in models.

Released models are too large to serve: the sample's stand-ins take their place, and OpenCV that of LaMa.
"""

import io
import json
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from tests.end_to_end.conftest import Project
from tests.end_to_end.rehearsal import checkout, left_over
from tests.sources.loopback import Loopback, serve
from tests.stages.decorrelation.test_world import coco_as_published
from trivium.core.image_shards import Images
from trivium.sources.pins import PINS

pytestmark = pytest.mark.slow

QUERIES = {"queries": "cv2"}
TINY = {
    "run": {"workers": 1, "mlflow": False},
    "world": {"decorrelation_models": "sample"},
    "decorrelation": {
        "paintings": {"coco_lama": None, "coco_cv2": {"dataset": "coco", "filling": "cv2"}},
        "cells": {"coco_clip_zero_shot_0": QUERIES, "coco_blip_zero_shot_0": QUERIES},
        "base_models": {
            "models": ["clip", "blip"], "scenes": 64,
            "clip": {"width": 8, "dimension": 16, "steps": 2, "batch": 8},
            "blip": {"patch": 16, "width": 32, "layers": 1, "dimension": 16, "taught_steps": 2, "steps": 2, "batch": 8},
        },
        "train": {"models": {"blip": {"image_size": 48, "text_tokens": 30}}},
        "retrieve": {"candidates": {"coco": 10}},
        "evaluate": {"permutations": 1000, "resamples": 100},
        "page": {"gallery": {"examples": 4}},
    },
}  # fmt: skip
ENVIRONMENT = {"NO_PROXY": "*", "OMP_NUM_THREADS": "1"}
WORLD = "decorrelation-world@coco"
PARTS = ("results",)


def zipped(files: dict[str, Path]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name, file in files.items():
            archive.write(file, name)
    return held.getvalue()


class Served(NamedTuple):
    """The checkout after all its stages, and what served them."""

    project: Project
    hub: Loopback


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory):
    """One answer is 503, one is cut."""
    folder = tmp_path_factory.mktemp("odmap")
    (folder / "tiny.yaml").write_text(yaml.safe_dump(TINY, sort_keys=False))
    coco = coco_as_published(folder / "coco")
    annotations = {f"annotations/{file.name}": file for file in coco.glob("instances_*2014.json")}
    with serve() as hub:
        hub.files = {
            "/coco_val2014/val2014.zip": (coco / "images" / "val2014.zip").read_bytes(),
            "/coco_annotations/annotations_trainval2014.zip": zipped(annotations),
            "/karpathy/caption_datasets.zip": zipped({"dataset_coco.json": coco / "karpathy.json"}),
        }
        hub.status["/karpathy/caption_datasets.zip"] = [503]
        hub.cut["/coco_val2014/val2014.zip"] = [2000]
        pins = yaml.safe_load(PINS.read_text())
        for path in hub.files:
            _, source, file = path.split("/")
            pins[source] |= {"url": f"{hub.url}/{source}", "bytes": 1000, "files": {file: {}}}

        made = checkout(folder / "trivium", "pilot_odmap", folder / "tiny.yaml", yaml.safe_dump(pins))
        made.run("dvc", "repro", *(f"decorrelation-page_{part}" for part in PARTS), **ENVIRONMENT)
        yield Served(made, hub)


def metrics(project: Project, name: str) -> dict[str, float]:
    return json.loads((project.folder / "metrics" / "decorrelation" / f"{name}.json").read_text())


def test_pictures_of_the_test_split_alone_are_there(served: Served):
    project, hub = served.project, served.hub
    assert {path for path, _ in hub.requests} == set(hub.files), "nothing else was asked for"
    world = metrics(project, "world_coco")
    raw = project.folder / "data" / "decorrelation" / "raw" / "coco"
    assert len(Images(raw / "images").names) == world["pictures_test"] == 4
    assert world["pictures_train"] == 6
    assert metrics(project, "removals_coco")["removals_train"] == 0
    assert metrics(project, "inpaint_coco_cv2")["train"] == 0
    assert left_over(project) == []


def test_both_models_are_judged_among_the_captions_of_all_splits(served: Served):
    judged = metrics(served[0], "evaluate")
    assert judged["coco_captions"] == 5 * 12
    for model in ("clip", "blip"):
        for value in ("synthetic_odmap@1", "synthetic_odmap@10", "image_to_text_r@1", "text_to_image_r@10"):
            assert 0 <= judged[f"coco_{model}_zero_shot_0_{value}"] <= 1
        assert metrics(served[0], f"train_coco_{model}_zero_shot_0")["steps"] == 0


def test_the_page_has_every_section(served: Served):
    folder = served[0].folder / "metrics" / "report" / "parts" / "decorrelation"
    assert {f"{part}.json" for part in PARTS} <= {file.name for file in folder.iterdir()}
    gallery = json.loads((folder / "results.json").read_text())["sections"]["gallery"]
    assert "BLIP zero-shot right" in gallery
