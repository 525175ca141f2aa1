import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import trivium.kvqae.reader.reader_training
import trivium.kvqae.rerankers.cross_encoder
from tests.kvqae.tiny_reader import write_bert, write_world
from tests.kvqae.tiny_training import Interrupted, context, cross_encoder_training, reader_training, same
from trivium.kvqae.question_training import set_dropout
from trivium.kvqae.reader.reading import load_reader

VALIDATIONS = {
    "reader": (trivium.kvqae.reader.reader_training, "validation_score"),
    "cross_encoder": (trivium.kvqae.rerankers.cross_encoder, "validation_mrr"),
}
WORDS = "embeddings.word_embeddings.weight"


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return write_world(tmp_path_factory.mktemp("world"))


@pytest.fixture(params=["reader", "cross_encoder"])
def kind(request):
    return request.param


@pytest.fixture
def training(world, kind):
    return {"reader": reader_training, "cross_encoder": cross_encoder_training}[kind](world)


def moved(world, weights) -> set[str]:
    """Which weights of the encoder are not the base's."""
    base = load_file(world.base / "model.safetensors")
    return {name for name in base if not torch.equal(base[name], weights[f"bert.{name}"])}


def test_same_seed_same_weights_and_another_seed_others(training, tmp_path):
    _, first = training.train(tmp_path / "a")
    _, again = training.train(tmp_path / "b")
    _, other = training.train(tmp_path / "c", seed=2)
    assert same(first, again)
    assert not same(first, other)


def test_only_what_is_frozen_does_not_move(world, training, tmp_path):
    everything = set(load_file(world.base / "model.safetensors"))
    _, free = training.train(tmp_path / "free")
    assert moved(world, free) == everything
    _, words = training.train(tmp_path / "words", frozen_embeddings=True)
    assert moved(world, words) == everything - {WORDS}
    _, layer = training.train(tmp_path / "layer", frozen_layers=1)
    assert moved(world, layer) == {name for name in everything if name.startswith("encoder.layer.1.")}
    _, both = training.train(tmp_path / "both", frozen_layers=1, frozen_embeddings=True)
    assert same(layer, both)
    head, frozen = training.train(tmp_path / "head", frozen_layers=2)
    assert moved(world, frozen) == set()
    assert np.isfinite(head["loss"])


@pytest.mark.parametrize(("schedule", "kept"), [("linear", 2), ("constant", 1)])
def test_the_schedule_says_which_weights_are_kept(training, kind, tmp_path, monkeypatch, schedule, kept):
    seen, left = [], iter([0.1, 0.5, 0.5])  # the first at equality

    def scripted(model, *rest):
        seen.append({name: value.clone() for name, value in model.state_dict().items()})
        return next(left)

    monkeypatch.setattr(*VALIDATIONS[kind], scripted)
    metrics, weights = training.train(tmp_path, schedule=schedule, validate_every=2)
    assert metrics[training.score] == 0.5
    assert [same(weights, {name: each[name] for name in weights}) for each in seen] == [
        place == kept for place in range(3)
    ]


def test_a_training_ends_after_so_many_validations_without_a_better_one(training, kind, tmp_path, monkeypatch):
    """0.1, then 0.5 is better; 0.5 again and 0.4 are not, and 0.9 is never reached."""
    scores = iter([0.1, 0.5, 0.5, 0.4, 0.9])
    monkeypatch.setattr(*VALIDATIONS[kind], lambda *_: next(scores))
    ran = context(tmp_path / "work")
    changes = {"schedule": "constant", "validate_every": 1, "patience": 2, "steps": 6}
    metrics = training.run(ran, tmp_path / "model", **changes)
    assert metrics[training.score] == 0.5
    assert [step for step, _ in ran.tracker.points["loss"]] == [1, 2, 3, 4]


def test_interrupted_training_goes_on_to_the_same_weights(training, tmp_path):
    changes = {"schedule": "constant", "validate_every": 1, "frozen_layers": 1}
    whole_metrics, whole = training.train(tmp_path / "whole", **changes)
    work, out = tmp_path / "again" / "work", tmp_path / "again" / "model"
    with pytest.raises(Interrupted):
        training.run(context(work, stop=4), out, **changes)
    assert not out.exists()
    again = context(work)
    metrics = training.run(again, out, **changes)
    assert [step for step, _ in again.tracker.points["loss"]] == [3, 4, 5, 6]  # the checkpoint is of step 2
    assert same(whole, load_file(out / "model.safetensors"))
    assert metrics == whole_metrics


def states(model, ids):
    model.train()
    return model(input_ids=ids.to(model.device)).start_logits


def test_dropout_is_set_in_hidden_and_attention_layers(tmp_path):
    write_bert(tmp_path / "bert")
    model, _ = load_reader(tmp_path / "bert", max_tokens=16, new_heads=True)
    ids = torch.arange(12).view(1, -1)
    set_dropout(model, 0.5)
    assert not torch.equal(states(model, ids), states(model, ids))
    assert all(layer.attention.self.dropout.p == layer.output.dropout.p == 0.5 for layer in model.bert.encoder.layer)
    set_dropout(model, 0.0)
    assert torch.equal(states(model, ids), states(model, ids))
