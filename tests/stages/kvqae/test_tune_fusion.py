"""Tuning in stage kvqae-fuse: the optimum is what fusing and measuring every weighting finds."""

import shutil
from math import comb

import pytest

from stages.kvqae import fuse
from tests.kvqae.fusion_world import ENCODERS, ROWS, TEXT_ENCODERS, weights, write_world
from tests.stages.kvqae.test_fuse import given
from trivium.core.tables import read_json
from trivium.formats.trec import read_qrels, read_run
from trivium.kvqae.retrieval.fusion import FuseAndTuneParameters
from trivium.measures.fusion import linear_fusion
from trivium.measures.ranking import evaluate

STEP = 0.25


@pytest.fixture
def world(tmp_path):
    return write_world(tmp_path / "runs", questions=20)


def tune(folder, folders, step=STEP, alphas=None):
    """Fuse with these weights, and tune; returns the metrics of tuning."""
    encoders = {"text_encoders": TEXT_ENCODERS, "image_encoders": ENCODERS}
    own = FuseAndTuneParameters(**encoders, depth=6, rrf_k=60, weights=alphas or weights(), step=step)
    fuse.main(
        own,
        **given(folders),
        relevance=folder / "runs/relevance",
        out=folder / "fused",
        out_weights=folder / "weights.json",
        out_weightings=folder / "weightings.csv",
        out_tuned=folder / "tuned.json",
    )
    return read_json(folder / "tuned.json")


def validation_mrr(folder, row):
    level = "article" if row == "image" else "passage"
    qrels = read_qrels(folder / f"runs/relevance/validation_{level}.qrels")
    run = read_run(folder / "fused" / row / "validation.trec").complete(qrels.queries)
    return evaluate(run, qrels, ["mrr"])["mrr"].mean()


def test_found_weights_are_the_optimum_and_those_in_use_are_compared(tmp_path, world):
    metrics = tune(tmp_path, world)
    report = read_json(tmp_path / "weights.json")
    assert set(report) == set(ROWS)
    for row, systems in ROWS.items():
        assert metrics[f"{row}_weightings"] == comb(4 + len(systems) - 1, len(systems) - 1)
        # What is said of the weights in use is what their fused run measures.
        assert metrics[f"{row}_used_mrr"] == pytest.approx(validation_mrr(tmp_path, row), abs=1e-14)
        assert report[row]["used_weights"] == dict.fromkeys(systems, 1.0)
        assert metrics[f"{row}_used_is_best"] == (metrics[f"{row}_used_mrr"] >= metrics[f"{row}_mrr"] - 1e-12)
        assert sum(report[row]["weights"].values()) == pytest.approx(1)
        assert {system: metrics[f"{row}_weight_{system}"] for system in systems} == report[row]["weights"]
    assert 0.0 in {metrics[f"{row}_used_is_best"] for row in ROWS}

    again = tune(tmp_path, world, alphas={row: report[row]["weights"] for row in ROWS})
    for row in ROWS:
        assert again[f"{row}_mrr"] == metrics[f"{row}_mrr"] == again[f"{row}_used_mrr"]
        assert again[f"{row}_used_is_best"] == 1.0


def test_tuned_weights_are_the_best_on_validation_and_fuse_every_split(tmp_path, world):
    tune(tmp_path, world)
    best = {row: values["weights"] for row, values in read_json(tmp_path / "weights.json").items()}
    metrics = tune(tmp_path, world, alphas="tuned")
    for row in ROWS:
        assert read_json(tmp_path / "fused" / row / "fusion.json") == {"depth": 6, "weights": best[row]}
        assert metrics[f"{row}_used_mrr"] == metrics[f"{row}_mrr"] == pytest.approx(validation_mrr(tmp_path, row))
        suffix = "_articles" if row == "image" else ""
        runs = [read_run(tmp_path / "runs" / system / f"test{suffix}.trec") for system in best[row]]
        queries = dict.fromkeys(query for run in runs for query in run.queries)
        expected = linear_fusion([run.complete(queries) for run in runs], list(best[row].values()), depth=6)
        fused = read_run(tmp_path / "fused" / row / "test.trec").complete(queries)
        assert (fused.documents == expected.documents).all()


def test_nothing_but_validation_decides_the_tuned_weights(tmp_path, world):
    tune(tmp_path, world, alphas="tuned")
    before = read_json(tmp_path / "weights.json")
    other = write_world(tmp_path / "other", questions=20, seed=1)
    for folder, source in zip(world, other, strict=True):
        for split in ("train", "test"):
            for file in source.glob(f"{split}*.trec"):
                shutil.copy(file, folder / file.name)
    tune(tmp_path, world, alphas="tuned")
    assert read_json(tmp_path / "weights.json") == before
    for file in other[0].glob("validation*.trec"):
        shutil.copy(file, world[0] / file.name)
    tune(tmp_path, world, alphas="tuned")
    assert read_json(tmp_path / "weights.json") != before
