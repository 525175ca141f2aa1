"""Batches: how D and D' are mixed, epochs, pictures kept or decoded again."""

from collections import Counter
from itertools import chain

import pytest
import torch

from tests.decorrelation.tiny_retrieval import TinyModel, write_world
from trivium.core.image_shards import Images
from trivium.decorrelation.batches import Batches, Draws, Pictures, TrainingPairs, training_pairs
from trivium.formats.picture_corpora import read_corpus


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return write_world(tmp_path_factory.mktemp("world"))


@pytest.fixture(scope="module")
def pairs(world):
    return training_pairs(
        read_corpus(world / "raw"), world / "pairs.parquet", original="all", share=1.0, captions=1, seed=0
    )


def shown_ids(draws, steps):
    return [[shown.id for shown, _ in draws.step(step)] for step in range(steps)]


def test_half_of_every_batch_from_d_prime(pairs):
    for ids in shown_ids(Draws(pairs, 4, 0.5, seed=0), 9):
        assert sum(each < 0 for each in ids) == 2
        assert len(ids) == 4


def test_without_a_share_as_in_the_union(pairs):
    # |D'| / (|D| + |D'|) = 6 / 36: 2 of 12 pairs in three batches of 4
    draws = Draws(pairs, 4, None, seed=0)
    painted = [sum(each < 0 for each in ids) for ids in shown_ids(draws, 9)]
    assert painted == [0, 1, 1] * 3
    assert draws.painted_before(9) == 6


def test_one_source_fills_the_batch(pairs):
    for original, painted in ((pairs.original, ()), ((), pairs.painted)):
        ids = shown_ids(Draws(TrainingPairs(original, painted), 4, 0.5, seed=0), 3)
        assert all(len(each) == 4 and ((each[0] < 0) == bool(painted)) for each in ids)
        assert sorted(chain.from_iterable(ids)) == sorted(2 * [each.id for each in (*original, *painted)])


def test_texts_take_turns(pairs):
    draws = Draws(TrainingPairs(pairs.original, ()), 6, None, seed=3)
    seen = Counter((shown.id, text) for step in range(5) for shown, text in draws.step(step))
    assert len(seen) == 30
    assert set(seen.values()) == {1}


def test_the_same_seed_the_same_batches(pairs):
    first, again, other = (Draws(pairs, 4, 0.5, seed=seed) for seed in (0, 0, 1))
    assert [first.step(step) for step in (2, 0)] == [again.step(step) for step in (2, 0)]
    assert shown_ids(first, 3) != shown_ids(other, 3)


def batches_of(world, pairs, *, memory=10**6, augments=False):
    model = TinyModel()
    model.prepare.augments = augments
    pictures = Pictures(model, Images(world / "raw" / "images"), Images(world / "painted" / "train"), memory)
    pictures.keep([*pairs.original, *pairs.painted])
    draws = Draws(pairs, 4, 0.5, seed=0)
    return Batches(model, draws, pictures, seed=5)


@pytest.mark.parametrize("augments", [False, True])
def test_memory_and_workers_change_nothing(world, pairs, augments):
    expected = list(batches_of(world, pairs, augments=augments).between(0, 4, workers=0))
    torch.manual_seed(8)
    few = batches_of(world, pairs, memory=40000, augments=augments)
    for others in (few.between(0, 4, workers=0), few.between(0, 4, workers=2)):
        for batch, other in zip(expected, others, strict=True):
            assert torch.equal(batch.pixels, other.pixels)
            assert torch.equal(batch.tokens["counts"], other.tokens["counts"])
            assert torch.equal(batch.pictures, other.pictures)


def test_augmentation_draws_anew_at_each_visit_and_leaves_the_generator_alone(world, pairs):
    pictures = Pictures(model := TinyModel(), Images(world / "raw" / "images"), None, 0)
    model.prepare.augments = True
    before = torch.get_rng_state()
    first, second = (pictures(pairs.original[0], (0, step, 0)) for step in (0, 1))
    assert torch.equal(torch.get_rng_state(), before)
    assert not torch.equal(first, second)
    assert torch.equal(first, pictures(pairs.original[0], (0, 0, 0)))
