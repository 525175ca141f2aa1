"""Stage kvqae-fuse: every row against fusing by hand, what the weights must not change, and bad input."""

import shutil

import numpy as np
import pytest

from stages.kvqae import fuse
from tests.kvqae.fusion_world import ENCODERS, IMAGE, ROWS, TEXT_ENCODERS, weights, write_world
from trivium.core.tables import read_json
from trivium.formats.questions import SPLITS
from trivium.formats.trec import read_run, write_run
from trivium.kvqae.retrieval.fusion import FuseAndTuneParameters
from trivium.kvqae.retrieval.systems import is_brought
from trivium.measures.fusion import linear_fusion, reciprocal_rank_fusion
from trivium.measures.reorder import untie


@pytest.fixture
def folders(tmp_path):
    return write_world(tmp_path / "runs")


def parameters(depth=6, **rows):
    return FuseAndTuneParameters(
        text_encoders=TEXT_ENCODERS, image_encoders=ENCODERS, depth=depth, rrf_k=60, step=0.1, weights=weights(**rows)
    )


def write_fused(own, *, out, text_runs, image_runs, brought):
    return fuse.write_fused(own, own.weights, (text_runs, image_runs, brought), out)


def given(folders):
    """Folders that hold those of the text systems and of the image encoders."""
    roots = {f"{name}_runs": folders[0].parent.parent / name for name in ("text", "image")}
    roots["brought"] = folders[0].parent.parent / "brought"
    for root in roots.values():
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir()
    for folder in folders:
        root = "brought" if is_brought(folder.name) else "image_runs" if folder.name in IMAGE else "text_runs"
        (roots[root] / folder.name).symlink_to(folder)
    return roots


def read(folder, systems, split, suffix=""):
    runs = [read_run(folder / system / f"{split}{suffix}.trec") for system in systems]
    queries = dict.fromkeys(query for run in runs for query in run.queries)
    return [run.complete(queries) for run in runs]


def test_every_row_and_split_is_what_the_measures_fuse(tmp_path, folders):
    alphas = {"bm25": 0.3, "arcface": 0.3, "imagenet": 0.1, "clip": 0.3}
    metrics = write_fused(parameters(bm25_image=alphas), **given(folders), out=tmp_path / "fused")
    assert sorted(path.name for path in (tmp_path / "fused").iterdir()) == sorted([*ROWS, "rrf"])
    for split in SPLITS:
        for row, systems in ROWS.items():
            runs = read(tmp_path / "runs", systems, split, "_articles" if row == "image" else "")
            expected = linear_fusion(runs, list(weights(bm25_image=alphas)[row].values()), depth=6)
            fused = read_run(tmp_path / "fused" / row / f"{split}.trec").select(expected.queries)
            np.testing.assert_array_equal(fused.documents, expected.documents)
            np.testing.assert_array_equal(fused.scores, untie(expected.scores))
            assert fused.name == row
            assert metrics[f"{row}_{split}_questions"] == 8
            assert metrics[f"{row}_{split}_questions_without_result"] == 0
        expected = reciprocal_rank_fusion(
            read(tmp_path / "runs", ("bm25", "dpr_few_shot", *IMAGE), split), k=60, depth=6
        )
        fused = read_run(tmp_path / "fused" / "rrf" / f"{split}.trec").select(expected.queries)
        np.testing.assert_array_equal(fused.documents, expected.documents)
    assert read_json(tmp_path / "fused" / "bm25_image" / "fusion.json") == {"depth": 6, "weights": alphas}


def test_a_search_by_names_may_join_any_row_of_passages(tmp_path, folders):
    (tmp_path / "runs" / "clip_names").symlink_to(tmp_path / "runs" / "dpr_zero_shot")
    rows = {"bm25_image": {"bm25": 0.5, "clip": 0.2, "clip_names": 0.3}}
    names = {"name_encoders": {"clip": {"model": "models/clip"}}}
    values = {"text_encoders": TEXT_ENCODERS, "image_encoders": ENCODERS, "depth": 6, "rrf_k": 60, "step": 0.1}
    chosen = FuseAndTuneParameters(**values, **names, weights=weights(**rows))
    write_fused(chosen, **given([*folders, tmp_path / "runs" / "clip_names"]), out=tmp_path / "fused")
    runs = read(tmp_path / "runs", rows["bm25_image"], "test")
    fused = read_run(tmp_path / "fused" / "bm25_image" / "test.trec")
    expected = linear_fusion(runs, [0.5, 0.2, 0.3], depth=6).select(fused.queries)
    np.testing.assert_array_equal(fused.documents, expected.documents)
    with pytest.raises(ValueError, match="unknown system of row 'bm25_image': clip_names"):
        FuseAndTuneParameters(**values, weights=weights(**rows))
    with pytest.raises(ValueError, match="unknown system of row 'image': clip_names"):
        FuseAndTuneParameters(**values, **names, weights=weights(image={"clip": 1.0, "clip_names": 1.0}))


def test_a_brought_run_is_fused_on_the_splits_that_it_has(tmp_path, folders):
    mine = tmp_path / "runs" / "brought_mine"
    alone = read_run(tmp_path / "runs" / "dpr_zero_shot" / "test.trec")
    write_run(mine / "test.trec", alone)
    row = {"brought_mine": 0.7, "clip": 0.3}
    metrics = write_fused(parameters(brought_mine_image=row), **given([*folders, mine]), out=tmp_path / "fused")
    assert [path.name for path in (tmp_path / "fused/brought_mine_image").glob("*.trec")] == ["test.trec"]
    assert metrics["brought_mine_image_test_questions"] == 8
    runs = [alone.complete(alone.queries), read_run(tmp_path / "runs/clip/test.trec").complete(alone.queries)]
    expected = linear_fusion(runs, [0.7, 0.3], depth=6)
    fused = read_run(tmp_path / "fused/brought_mine_image/test.trec").select(alone.queries)
    np.testing.assert_array_equal(fused.documents, expected.documents)


def test_a_text_encoder_with_an_image_encoders_name_is_refused():
    """Their runs, rows and weights would bear one name, and one of the two would be fused for both."""
    with pytest.raises(ValueError, match="text and image encoders need different names: clip"):
        FuseAndTuneParameters(
            text_encoders=TEXT_ENCODERS | {"clip": {}}, image_encoders=ENCODERS, depth=6, rrf_k=60, step=0.1,
            weights="tuned",
        )  # fmt: skip
