import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import yaml

from stages.kvqae import dense_search
from trivium.core.engine import LocalEngine
from trivium.core.stage import execute
from trivium.core.tables import write_table
from trivium.formats.trec import read_run
from trivium.kvqae.retrieval import dense_search as dense_search_library
from trivium.vision.neighbours import read_ivf

IDS = np.arange(300) * 2  # passage numbers need not be row numbers
SECTION = {
    "depth": 10, "index": "exact", "lists": 8, "probes": 2, "train_rows": 300, "recall_questions": 7,
}  # fmt: skip


def run(folder: Path, **changed) -> dict[str, float]:
    (folder / "params.yaml").write_text(yaml.safe_dump({"kvqae": {"dense_search": SECTION | changed}}))
    argv = ["--params", str(folder / "params.yaml"), "--embeddings", str(folder / "embeddings")]
    argv += ["--out", str(folder / "runs/dpr_zero_shot")]
    return execute(dense_search.main, "kvqae.dense_search", dense_search_library.DenseSearchParameters, argv)


def write_embeddings(folder: Path) -> None:
    folder.mkdir()
    random = np.random.default_rng(0)
    np.save(folder / "kb.npy", random.standard_normal((300, 16)).astype(np.float16))
    np.save(folder / "kb_ids.npy", IDS)
    np.save(folder / "queries.npy", random.standard_normal((9, 16)).astype(np.float16))
    splits = ["train"] * 2 + ["validation"] * 3 + ["test"] * 4
    write_table(folder / "queries.parquet", pa.table({"split": splits, "id": [f"q{row}" for row in range(9)]}))


@pytest.fixture
def world(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_embeddings(tmp_path / "embeddings")
    return tmp_path


def brute_force(world):
    matrix, queries = (np.load(world / f"embeddings/{name}.npy").astype(float) for name in ("kb", "queries"))
    scores = queries @ matrix.T
    order = np.argsort(-scores, axis=1)[:, :10]
    return IDS[order], np.take_along_axis(scores, order, axis=1)


def test_a_run_a_split(world):
    assert run(world) == {"questions": 9, "passages": 300}
    documents, scores = brute_force(world)
    assert sorted(path.name for path in (world / "runs/dpr_zero_shot").iterdir()) == [
        "test.trec",
        "train.trec",
        "validation.trec",
    ]
    for split, rows in (("train", range(2)), ("validation", range(2, 5)), ("test", range(5, 9))):
        result = read_run(world / f"runs/dpr_zero_shot/{split}.trec")
        assert result.name == "dpr_zero_shot"
        assert result.queries == tuple(f"q{row}" for row in rows)
        np.testing.assert_array_equal(result.documents, documents[rows])
        np.testing.assert_allclose(result.scores, scores[rows], rtol=1e-6)


def test_inverted_file(world):
    metrics = run(world, index="ivf_sq8", recall_questions=9)
    documents, _ = brute_force(world)
    runs = [read_run(world / f"runs/dpr_zero_shot/{split}.trec") for split in ("train", "validation", "test")]
    found = np.concatenate([result.documents for result in runs])
    recall = np.mean([np.isin(*pair).mean() for pair in zip(documents, found, strict=True)])
    assert 0.1 < recall < 1
    assert metrics["recall@10"] == pytest.approx(recall)
    assert read_ivf(world / "runs/dpr_zero_shot/index.faiss").ntotal == 300
    assert run(world, index="ivf_sq8", probes=8)["recall@10"] > 0.95


@pytest.mark.parametrize("index", ["exact", "ivf_sq8"])
def test_shards_change_no_byte(world, monkeypatch, index):
    once = run(world, index=index)
    whole = {file.name: file.read_bytes() for file in (world / "runs/dpr_zero_shot").iterdir()}
    shutil.rmtree(world / "runs")
    monkeypatch.setenv("STAGE_WORKERS", "2" if index == "exact" else "1")
    mapped = []
    original = LocalEngine.map

    def recorded(self, function, shards, **options):
        mapped.append(len(shards))
        return original(self, function, shards, **options)

    monkeypatch.setattr(LocalEngine, "map", recorded)
    assert run(world, index=index, shard_rows=70, shard_questions=2) == once
    assert mapped == ([5] if index == "exact" else [5, 5])  # questions, and the exact search beside
    assert whole == {file.name: file.read_bytes() for file in (world / "runs/dpr_zero_shot").iterdir()}
