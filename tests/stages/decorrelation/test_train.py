"""The stage from files to a model with a card; zero-shot leaves every bit."""

import pytest
import torch

from stages.decorrelation import train
from stages.decorrelation.train import TrainParameters
from tests.decorrelation.retrieved_world import cell
from tests.decorrelation.tiny_retrieval import settings, write_world
from trivium.core.engine import LocalEngine
from trivium.core.stage import Context
from trivium.core.tracking import Tracker
from trivium.decorrelation.models.interface import load
from trivium.decorrelation.models.kinds.clip import Clip


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return write_world(tmp_path_factory.mktemp("world"))


@pytest.fixture(autouse=True)
def tiny_is_clip(monkeypatch):
    monkeypatch.setattr(Clip, "network", ("tests.decorrelation.tiny_retrieval", "TinyModel"))


def parameters(**changes):
    values = {
        "checkpoint_every": 5, "memory": 10**6, "workers": 0, "threads": None, "validation_pictures": 5,
        "validation_batch": 3, "models": {"clip": settings().model_dump()},
    }  # fmt: skip
    return TrainParameters.model_validate(values | changes)


def stage(world, out, own=None, variant="ours", seed=0, **changes):
    work = out.parent / f"work_{out.name}"
    work.mkdir()
    places = {"raw": world / "raw", "pairs": world / "pairs.parquet", "painted": world / "painted"}
    places |= {"base": world / "base", **{name: changes.pop(name) for name in ("painted",) if name in changes}}
    said = cell("coco", "clip", "ours") | changes
    context = Context(tracker=Tracker(), work=work, engine=LocalEngine(1))
    own = (own or parameters()).model_copy(update={"cell": said})
    return train.main(own, context, cell=f"coco_{said['model']}_{variant}_{seed}", dataset="coco", filling=said["filling"],
                      captions=said["captions"], out=out, **places)  # fmt: skip


def weights(folder):
    return torch.load(folder / "weights.pt", weights_only=True)


def test_from_files_to_a_model_with_a_card(world, tmp_path):
    metrics = stage(world, tmp_path / "out")
    assert metrics["steps"] == 8
    assert (metrics["original_pairs"], metrics["synthetic_pairs"]) == (30, 6)
    assert (metrics["original_pairs_seen"], metrics["synthetic_pairs_seen"]) == (27, 5)
    assert metrics["validation_pictures"] == 2
    assert 2 * metrics["validation_r@1"] in (0, 1, 2)
    assert load(tmp_path / "out").dimension == 6
    card = (tmp_path / "out" / "README.md").read_text()
    assert "license: mit" in card
    assert "a tiny one" in card
    assert "validation_r@1" in card
    assert stage(world, tmp_path / "again") == metrics
    assert stage(world, tmp_path / "other", seed=1)["loss"] != metrics["loss"]


def test_zero_shot_leaves_every_bit(world, tmp_path):
    metrics = stage(world, tmp_path / "out", variant="zero_shot")
    assert metrics["steps"] == 0
    before = weights(world / "base" / "tiny")
    assert all(torch.equal(value, before[name]) for name, value in weights(tmp_path / "out").items())
    assert "nothing besides" in (tmp_path / "out" / "README.md").read_text()


def test_variants_differ_in_data_and_steps_alone(world, tmp_path):
    longer = stage(world, tmp_path / "longer", variant="longer", share=0.0, steps=2.5)
    assert (longer["steps"], longer["synthetic_pairs_seen"], longer["original_pairs_seen"]) == (20, 0, 80)
    synthetic = stage(world, tmp_path / "synthetic", variant="synthetic", original="none")
    assert (synthetic["original_pairs"], synthetic["synthetic_pairs_seen"]) == (0, 32)
    subset = stage(world, tmp_path / "subset", variant="subset", original="subset")
    assert (subset["original_pairs"], subset["synthetic_pairs"]) == (6, 0)


def test_a_training_without_d_prime_needs_no_painted_pictures(world, tmp_path):
    (tmp_path / "painted").mkdir()
    assert stage(world, tmp_path / "out", share=0.0, painted=tmp_path / "painted")["steps"] == 8


@pytest.mark.parametrize(("share", "seen"), [(1.0, 16), (0.5, 8)])
def test_of_a_part_of_the_synthetic_pairs_a_batch_holds_so_much_less(world, tmp_path, share, seen):
    """Figure 4's axis is what a training sees: 8 steps of 4 pairs, half of them from the whole of D'."""
    half = settings().model_copy(update={"synthetic_share": 0.5})
    metrics = stage(world, tmp_path / "out", parameters(models={"clip": half.model_dump()}), share=share)
    assert (metrics["synthetic_pairs_seen"], metrics["original_pairs_seen"]) == (seen, 32 - seen)
