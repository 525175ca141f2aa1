"""Stage evaluate on a small world: every number again by a plain loop, invariances, and bad input."""

import csv
import re
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from stages.decorrelation.evaluate import main
from tests.decorrelation import retrieved_world as world
from trivium.core.tables import read_json, read_table, write_table
from trivium.decorrelation.co_occurrence import partners
from trivium.decorrelation.evaluation.tables import EvaluateParameters, synthetic_ratio
from trivium.decorrelation.matrix import parse_cell
from trivium.formats.corpus_table import load_corpus

PARAMETERS = EvaluateParameters(**world.PARAMETERS["evaluate"])
CELLS = {
    name: fields
    for name, fields in world.default_cells().items()
    if re.fullmatch("coco_clip_(finetune|ours|zero)_[0-9]", name)
}


def run(folder):
    return main(PARAMETERS, **world.paths(folder))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("retrieved")
    world.write_world(folder, CELLS)
    return folder, run(folder)


@pytest.fixture
def copy(made, tmp_path):
    shutil.copytree(made[0], tmp_path / "world")
    return tmp_path / "world"


def plain_loop(folder, cell):
    """{removal: (ODmAP@1, @5, @10, removed object named)} read off the files, sentence by sentence."""
    phrases = read_table(folder / "phrases" / "coco.parquet").to_pylist()
    names = {row["caption"]: {name for each in row["phrases"] for name in each["classes"]} for row in phrases}
    removals = {row["removal"]: row for row in read_table(folder / "removals/coco/removals.parquet").to_pylist()}
    found = {}
    for row in read_table(folder / "retrieved" / cell / "synthetic.parquet").to_pylist():
        removed, left = (set(removals[row["query"]][column]) for column in ("removed", "remaining"))
        right = [bool(names[each] & left) and not names[each] & removed for each in row["captions"]]
        precision = [sum(right[: rank + 1]) / (rank + 1) * right[rank] for rank in range(10)]
        named = bool(names[row["captions"][0]] & removed)
        found[row["query"]] = (*(sum(precision[:k]) / k for k in (1, 5, 10)), named)
    return found


def test_values_agree_with_a_plain_loop(made):
    folder, metrics = made
    table = read_table(folder / "evaluation.parquet").to_pylist()
    for cell in CELLS:
        expected = plain_loop(folder, cell)
        rows = [row for row in table if row["cell"] == cell and row["set"] == "synthetic"]
        assert {row["query"] for row in rows} == set(expected)
        for row in rows:
            got = (row["odmap@1"], row["odmap@5"], row["odmap@10"], row["removed_named"])
            assert got == pytest.approx(expected[row["query"]])
        means = np.mean(list(expected.values()), axis=0)
        for name, value in zip(("odmap@1", "odmap@5", "odmap@10", "removed_named"), means, strict=True):
            assert metrics[f"{cell}_synthetic_{name}"] == pytest.approx(value)


def test_a_row_is_the_mean_of_its_cells(made):
    metrics = made[1]
    for measure in ("synthetic_odmap@1", "image_to_text_r@1", "original_odmap@5"):
        seeds = [metrics[f"coco_clip_ours_{seed}_{measure}"] for seed in range(3)]
        assert metrics[f"coco_clip_ours_{measure}"] == pytest.approx(np.mean(seeds))
        assert metrics[f"coco_clip_ours_{measure}_sd"] == pytest.approx(np.std(seeds, ddof=1))
    assert metrics["coco_clip_ours_synthetic_odmap@1_low"] < metrics["coco_clip_ours_synthetic_odmap@1"]
    assert metrics["coco_clip_ours_synthetic_seeds"] == 3
    assert "coco_clip_zero_synthetic_odmap@1_sd" not in metrics  # one seed


def test_original_pictures_are_those_that_were_painted(made):
    rows = read_table(made[0] / "evaluation.parquet").to_pylist()
    for cell in CELLS:
        pictures = {
            kind: {row["picture"] for row in rows if (row["cell"], row["set"]) == (cell, kind)}
            for kind in ("synthetic", "original")
        }
        assert pictures["original"]
        assert pictures["original"] <= pictures["synthetic"]


def test_recall_is_read_off_the_ranks(made):
    folder, metrics = made
    ranks = read_table(folder / "retrieved/coco_clip_ours_0/text_to_image.parquet")["rank"].to_numpy()
    for k in (1, 5, 10):
        assert metrics[f"coco_clip_ours_0_text_to_image_r@{k}"] == pytest.approx((ranks <= k).mean())


def test_the_split_by_partner_is_of_planted_pairs(made):
    folder, metrics = made
    corpus = load_corpus(folder / "raw/coco")
    planted = partners(corpus, 0.6)
    assert {name: planted[name] for name in world.PARTNERS} == world.PARTNERS
    rows = [row for row in read_table(folder / "evaluation.parquet").to_pylist() if row["set"] == "synthetic"]
    beside = partners(corpus, PARAMETERS.partner_probability)
    classes = {picture.id: set(picture.classes) for picture in corpus.pictures}
    for row in rows:
        assert row["partner_remains"] == (beside.get(row["class"]) in classes[row["picture"]])
    ours = [row for row in rows if row["cell"] == "coco_clip_ours_0"]
    values = [row["odmap@1"] for row in ours if row["partner_remains"]]
    assert metrics["coco_synthetic_partner_remains"] == len(values)


def test_classes_sum_up_to_the_whole(made):
    folder, metrics = made
    with (folder / "metrics/classes.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["group"] == "coco_clip_ours" and row["set"] == "synthetic"]
    queries = np.array([int(row["queries"]) for row in rows])
    values = np.array([float(row["odmap@1"]) for row in rows])
    assert {row["class"] for row in rows} <= set(world.CLASSES)
    assert queries.sum() == metrics["coco_synthetic_queries"]
    assert (values @ queries) / queries.sum() == pytest.approx(metrics["coco_clip_ours_synthetic_odmap@1"])


def test_comparisons_know_what_they_compare(made):
    folder, metrics = made
    rows = read_json(folder / "metrics/comparisons.json")
    wanted = {"variant": "ours", "other_variant": "finetune", "set": "synthetic", "subset": "all", "measure": "odmap@1"}
    (row,) = [row for row in rows if wanted.items() <= row.items()]
    assert row["difference"] == pytest.approx(metrics["coco_clip_gain_odmap@1"])
    assert row["p"] == metrics["coco_clip_gain_odmap@1_p"] < 0.05
    assert (row["seeds"], row["other_seeds"]) == (3, 3)
    painted = {(row["variant"], row["other_variant"]) for row in rows if row["set"] == row["other_set"] == "synthetic"}
    assert ("zero", "finetune") not in painted  # other pictures: zero boxes
    assert ("zero", "zero") in {
        (row["variant"], row["other_variant"]) for row in rows if row["other_set"] == "rendered"
    }


def test_the_part_of_synthetic_pairs(made):
    folder, metrics = made
    pairs = read_table(folder / "pairs/coco/cv2_noun_phrase.parquet").num_rows
    training = sum(row == "train" for row in read_table(folder / "phrases/coco.parquet")["split"].to_pylist())
    assert metrics["coco_clip_ours_0_synthetic_ratio"] == pytest.approx(pairs / training)
    assert metrics["coco_clip_finetune_0_synthetic_ratio"] == 0


def test_a_cell_that_takes_one_caption_counts_no_other(tmp_path):
    rows = {"removal": ["1_dog"] * 3 + ["2_cat"]}
    write_table(tmp_path / "coco/cv2_noun_phrase.parquet", pa.table(rows))
    for captions, pairs in ((1, 2), (2, 3), (5, 4)):
        fields = world.cell("coco", "clip", "ours", share=0.5, captions_an_image=captions)
        own = parse_cell("coco_clip_ours_0", fields, Path("params.yaml"))
        assert synthetic_ratio(own, tmp_path, 20) == 0.5 * pairs / 20


def test_the_order_of_rows_in_the_files_does_not_matter(made, copy):
    for path in copy.glob("retrieved/*/*.parquet"):
        table = read_table(path)
        write_table(path, table.take(list(range(table.num_rows))[::-1]).combine_chunks())
    again = run(copy)
    expected = made[1]
    assert again == {key: pytest.approx(value, abs=1e-9) for key, value in expected.items()}
