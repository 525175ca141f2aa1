"""The matrix of cells: names, groups, and what is refused."""

from pathlib import Path

import pytest

from tests.decorrelation.retrieved_world import cell, default_cells, grid_cells
from trivium.core.errors import BadInput
from trivium.decorrelation.matrix import groups, parse_cells

FILE = Path("params.yaml")


def test_cells_that_differ_in_their_seed_are_one_group():
    cells = parse_cells(default_cells(), FILE)
    assert list(groups(cells)["coco_clip_ours"]) == [f"coco_clip_ours_{seed}" for seed in range(3)]
    assert groups(cells)["control_clip_ours"].keys() == {"control_clip_ours_0"}


def test_what_a_cell_is_trained_on():
    cells = parse_cells(default_cells(), FILE)
    assert cells["coco_clip_ours_0"].synthetic
    assert not cells["coco_clip_longer_0"].synthetic
    without = parse_cells({"coco_clip_share0_0": cell("coco", "clip", "share0", share=0.0)}, FILE)
    assert not without["coco_clip_share0_0"].synthetic
    grid = parse_cells(grid_cells(), FILE)
    assert not grid["coco_clip_subset_0"].synthetic  # as many pairs as D', none of them
    assert grid["coco_clip_synthetic_0"].synthetic


def test_a_cell_without_fields_is_refused_by_its_name():
    with pytest.raises(BadInput, match="decorrelation.cells.coco_clip_ours_0: Input should be a valid dictionary"):
        parse_cells({"coco_clip_ours_0": None}, FILE)
