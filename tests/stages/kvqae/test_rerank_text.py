import numpy as np
import pytest
import torch

from stages.kvqae.rerank_text import main
from tests.kvqae.tiny_reader import write_world
from trivium.errors import BadInput
from trivium.formats.trec import read_run, write_run
from trivium.kvqae.rerankers.cross_encoder import load_cross_encoder, save_cross_encoder
from trivium.kvqae.rerankers.text_reranking import RerankTextParameters
from trivium.measures.runs import Run

VALUES = {"splits": ["validation", "test"], "depth": 3, "max_tokens": 32, "batch": 8}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    world = write_world(tmp_path_factory.mktemp("world"))
    torch.manual_seed(0)
    model, tokenizer = load_cross_encoder(world.base, new_perceptron=True)
    save_cross_encoder(world.folder / "model", model, tokenizer, base=world.base, data="nothing", metrics={})
    return world


def rerank(world, out, runs=None, **changes):
    return main(
        RerankTextParameters(**VALUES | changes),
        None,
        model=world.folder / "model",
        questions=world.viquae,
        runs=runs or world.runs / "fused",
        passages=world.passages,
        articles=world.articles,
        out=out,
    )


def test_every_list_is_the_initial_best_in_a_new_order_then_the_rest_in_its_own(world, tmp_path):
    metrics = rerank(world, tmp_path / "reranked_text")
    assert sorted(path.name for path in (tmp_path / "reranked_text").iterdir()) == ["test.trec", "validation.trec"]
    moved = 0
    for split in ("validation", "test"):
        initial = read_run(world.runs / "fused" / f"{split}.trec")
        found = read_run(tmp_path / "reranked_text" / f"{split}.trec")
        assert found.queries == initial.queries
        assert found.name == "reranked_text"
        best, rest = initial.documents[:, :3], initial.documents[:, 3:]
        assert rest.shape[1] > 0
        assert np.sort(found.documents[:, :3]).tolist() == np.sort(best).tolist()
        assert found.documents[:, 3:].tolist() == rest.tolist()
        moved += (found.documents[:, :3] != best).sum()
        assert (metrics[f"{split}_questions"], metrics[f"{split}_pairs"]) == (12, 36)
        assert metrics[f"{split}_questions_with_few_passages"] == metrics[f"{split}_questions_without_passage"] == 0
    assert moved > 0


def test_batch_and_order_play_no_role(world, tmp_path):
    rerank(world, tmp_path / "a")
    initial = read_run(world.runs / "fused" / "test.trec")
    backwards = initial.select(initial.queries[::-1])
    write_run(tmp_path / "runs" / "test.trec", backwards)
    rerank(world, tmp_path / "b", tmp_path / "runs", splits=["test"], batch=1)
    first, second = read_run(tmp_path / "a" / "test.trec"), read_run(tmp_path / "b" / "test.trec")
    second = second.select(first.queries)
    assert first.documents.tolist() == second.documents.tolist()
    assert first.scores == pytest.approx(second.scores, abs=1e-6)


def test_short_and_empty_lists_are_counted(world, tmp_path):
    lists = {f"v{n}": {2 * n: 3.0, 2 * n + 1: 2.0, (2 * n + 3) % 24: 1.0} for n in range(12)}
    lists["v4"] = {8: 1.0}
    del lists["v7"]
    write_run(tmp_path / "runs" / "train.trec", Run.from_dict(lists))
    metrics = rerank(world, tmp_path / "out", tmp_path / "runs", splits=["train"])
    assert metrics == {
        "train_questions": 12,
        "train_pairs": 31,
        "train_questions_without_passage": 1,
        "train_questions_with_few_passages": 1,
    }
    found = read_run(tmp_path / "out" / "train.trec")
    assert "v7" not in found.queries
    assert found.documents[found.queries.index("v4")].tolist() == [8, -1, -1]


def test_nothing_is_left_when_a_run_is_bad(world, tmp_path):
    write_run(tmp_path / "runs" / "validation.trec", read_run(world.runs / "fused" / "validation.trec"))
    write_run(tmp_path / "runs" / "test.trec", Run.from_dict({"nobody": {0: 1.0}}))
    with pytest.raises(BadInput, match=r"test.trec: the run is not about these questions"):
        rerank(world, tmp_path / "out", tmp_path / "runs")
    assert not (tmp_path / "out").exists()


def test_an_unknown_split():
    with pytest.raises(ValueError, match="'train', 'validation' or 'test'"):
        RerankTextParameters(**VALUES | {"splits": ["dev"]})
