import numpy as np
import pytest
import torch

from stages.kvqae.rerank import RerankParameters, main
from tests.kvqae.tiny_reader import write_world
from trivium.core.engine import LocalEngine
from trivium.core.stage import Context
from trivium.core.tracking import Tracker
from trivium.formats.trec import read_run
from trivium.kvqae.rerankers.cross_encoder import load_cross_encoder, save_cross_encoder


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return write_model(write_world(tmp_path_factory.mktemp("world")))


def write_model(world):
    torch.manual_seed(0)
    model, tokenizer = load_cross_encoder(world.base, 32, new_perceptron=True)
    save_cross_encoder(world.folder / "model", model, tokenizer, base=world.base, data="nothing", metrics={})
    return world


def rerank(world, out, runs=None, batch=8, engine=None):
    settings = {"reads": [world.folder / "model", world.folder], "depth": 3}
    return main(
        RerankParameters(settings=settings, max_tokens=32, batch=batch),
        Context(tracker=Tracker(), work=out, engine=engine or LocalEngine(1)),
        reranker="text",
        questions=world.viquae,
        runs=runs or world.runs / "fused",
        kb=world.kb,
        out=out,
    )


def test_every_list_is_the_initial_best_in_a_new_order_then_the_rest_in_its_own(world, tmp_path):
    metrics = rerank(world, tmp_path / "text")
    assert sorted(path.name for path in (tmp_path / "text").iterdir()) == ["test.trec", "validation.trec"]
    moved = 0
    for split in ("validation", "test"):
        initial = read_run(world.runs / "fused" / f"{split}.trec")
        found = read_run(tmp_path / "text" / f"{split}.trec")
        assert found.queries == initial.queries
        assert found.name == "text"
        best, rest = initial.documents[:, :3], initial.documents[:, 3:]
        assert rest.shape[1] > 0
        assert np.sort(found.documents[:, :3]).tolist() == np.sort(best).tolist()
        assert found.documents[:, 3:].tolist() == rest.tolist()
        moved += (found.documents[:, :3] != best).sum()
        assert (metrics[f"{split}_questions"], metrics[f"{split}_pairs"]) == (12, 36)
        assert metrics[f"{split}_questions_with_few_passages"] == metrics[f"{split}_questions_without_passage"] == 0
    assert moved > 0
