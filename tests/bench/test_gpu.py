"""Every part of the GPU's bench runs on a little without one; what is recorded, and what a GPU's own tool says."""

from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch
from transformers import BertConfig, BertModel

from bench import harness
from bench.gpu import __main__ as bench
from bench.gpu import pictures, words
from bench.gpu.part import PARTS, part_of
from bench.gpu.parts import resident_search, texts

LITTLE = {
    "texts": 20, "imagenet": 6, "clip": 6, "faces": 2, "reader": 1, "search": 2000, "resident_search": 2000, "lama": 1,
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", PARTS)
def test_a_part_runs_on_a_little(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part = part_of(name)
    monkeypatch.setattr(pictures, "photographs", partial(pictures.photographs, 4))
    (tmp_path / "in").mkdir()
    part.make(tmp_path / "in", LITTLE[name])
    for trial in ("first", "second"):
        (tmp_path / trial).mkdir()
        done = part.run(tmp_path / "in", tmp_path / trial, LITTLE[name])
        assert done > 0
        if name not in {"texts", "search", "resident_search"}:
            assert done == LITTLE[name]
    assert part.size >= 1000 * LITTLE[name]
    assert part.few < part.size


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_it_says_so_and_records_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness, "FOLDER", tmp_path)
    with pytest.raises(SystemExit, match="no GPU"):
        bench.main(["reader"])
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that only a part's work moves."""
    seconds = [0.0]
    monkeypatch.setattr(bench.time, "perf_counter", lambda: seconds[-1])
    return seconds


def test_arithmetic_of_a_text_is_what_torch_counts() -> None:
    network = BertModel(BertConfig(), add_pooling_layer=False).eval()
    table = pa.table({"title": words.texts(1, 2, 0), "text": words.texts(1, 30, 1)})
    tokens = words.tokenizer()(table["title"].to_pylist(), table["text"].to_pylist(), return_tensors="pt")
    with torch.inference_mode():
        counted = harness.gflop(lambda: network(**tokens)) * 1e-3
    assert texts.teraflop(table) == pytest.approx(counted, rel=0.01)


def test_the_resident_search_is_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resident_search, "AT_A_TIME", 700)
    resident_search.vectors.cache_clear()
    queries, *blocks = resident_search.vectors(2000)
    assert [len(block) for block in blocks] == [700, 700, 600]
    scores, rows = resident_search.nearest(queries, blocks)
    expected = (queries @ torch.cat(blocks).T).topk(100, dim=1)
    np.testing.assert_allclose(scores, expected.values, atol=1e-3)
    assert (rows == expected.indices).float().mean() > 0.999
    resident_search.vectors.cache_clear()
