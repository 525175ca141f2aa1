"""Training of a retrieval model: rates, resuming to the bit, mini-batches that change nothing, errors."""

from pathlib import Path

import pytest
import torch

from tests.decorrelation.retrieved_world import cell
from tests.decorrelation.tiny_retrieval import TinyModel, settings, write_world
from tests.nets.curves import Curves
from trivium.core.image_shards import Images
from trivium.decorrelation.batches import Batches, Draws, Pictures, training_pairs
from trivium.decorrelation.matrix import parse_cell
from trivium.decorrelation.training_job import TrainJob, TrainParameters, add_gradient, halved, train
from trivium.formats.picture_corpora import read_corpus


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return write_world(tmp_path_factory.mktemp("world"))


def tiny(dropout=0.2):
    torch.manual_seed(0)
    return TinyModel(dropout)


def batches_of(model, world, options):
    pairs = training_pairs(
        read_corpus(world / "raw"), world / "pairs.parquet", original="all", share=1.0, captions=1, seed=0
    )
    pictures = Pictures(model, Images(world / "raw" / "images"), Images(world / "painted" / "train"), 10**6)
    draws = Draws(pairs, options.batch_size, 0.5, seed=0)
    return Batches(model, draws, pictures, seed=0)


def run(model, world, work, curves=None, options=None, every=3, seed=0):
    work.mkdir(exist_ok=True)
    options = options or settings()
    parameters = TrainParameters(checkpoint_every=every, memory=0, workers=0, threads=None, validation_pictures=0,
                                 validation_batch=1, models={"clip": {}})  # fmt: skip
    own = parse_cell(f"coco_clip_ours_{seed}", cell("coco", "clip", "ours"), Path("params.yaml"))
    job = TrainJob(own, options, parameters, raw=world, pairs=world, painted=world, base=world)
    return train(model, batches_of(model, world, options), job, work, curves or Curves())


def test_the_rate_is_halved_after_each_share_of_the_steps(world, tmp_path):
    factor = halved(10, 0.2)
    assert [factor(step) for step in range(10)] == [1, 1, 0.5, 0.5, 0.25, 0.25, 0.125, 0.125, 0.0625, 0.0625]
    assert [halved(22130, 0.2)(step) for step in (4425, 4426, 22129)] == [1, 0.5, 0.0625]
    curves = Curves()
    run(tiny(), world, tmp_path / "work", curves)
    assert [curves.points[step]["learning_rate"] for step in range(1, 9)] == [
        each for rate in (0.01, 0.005, 0.0025, 0.00125) for each in (rate, rate)
    ]


def test_it_learns(world, tmp_path):
    curves = Curves()
    metrics = run(tiny(0.0), world, tmp_path / "work", curves, settings(steps=60, learning_rate=0.05))
    assert metrics["loss"] < 0.8 * curves.points[1]["loss"]


def gradients(model):
    return {name: weights.grad.clone() for name, weights in model.module.named_parameters()}


@pytest.mark.parametrize("together", [3, 2, 1])
def test_mini_batches_give_the_same_gradient(world, together):
    model = tiny(0.0)
    batch = batches_of(model, world, settings())[0]
    loss = add_gradient(model, batch, 0.0, 4)
    expected = gradients(model)
    model.module.zero_grad()
    assert add_gradient(model, batch, 0.0, together) == pytest.approx(loss, rel=1e-6)
    for name, gradient in gradients(model).items():
        assert torch.allclose(gradient, expected[name], atol=1e-6), name


def test_dropout_draws_the_same_in_both_passes_of_a_mini_batch(world):
    model = tiny(0.5)
    batch = batches_of(model, world, settings())[0]
    drawn = []
    encode = model.encode_texts
    model.encode_texts = lambda tokens: drawn.append(encode(tokens)) or drawn[-1]
    torch.manual_seed(3)
    add_gradient(model, batch, 0.0, 2)
    assert len(drawn) == 4
    assert torch.equal(drawn[0], drawn[2])
    assert torch.equal(drawn[1], drawn[3])
