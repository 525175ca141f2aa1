"""What is trained on: the parts of D and D', and that nothing of validation or test gets in."""

import pyarrow as pa
import pytest

from tests.decorrelation.tiny_retrieval import write_world
from trivium.core.tables import read_table, write_table
from trivium.decorrelation.batches import training_captions, training_pairs
from trivium.formats.picture_corpora import read_corpus
from trivium.nets.training import draw_places


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return write_world(tmp_path_factory.mktemp("world"))


@pytest.fixture(scope="module")
def corpus(world):
    return read_corpus(world / "raw")


def pairs(corpus, world, original="all", share=1.0, captions=1, seed=0):
    return training_pairs(corpus, world / "pairs.parquet", original=original, share=share, captions=captions, seed=seed)


def test_d_is_the_training_split_with_restval_and_all_captions(corpus, world):
    both = pairs(corpus, world)
    assert [each.id for each in both.original] == [0, 1, 2, 3, 4, 5]
    assert both.original_pairs == 30
    assert both.original[5].name == corpus.pictures[5].name
    assert [each.name for each in both.painted] == ["0_dog", "1_dog", "2_dog", "3_bicycle", "4_car", "5_car"]
    assert all(each.id < 0 for each in both.painted)
    assert both.painted[3].texts == ("only person",)
    assert both.painted_pairs == 6
    assert len(training_captions(corpus)) == 30


def test_parts(corpus, world):
    alone = pairs(corpus, world, "none")
    assert (alone.original, alone.painted_pairs) == ((), 6)
    half = pairs(corpus, world, share=0.5)
    assert half.painted_pairs == 3
    assert half.original_pairs == 30
    third = pairs(corpus, world, share=1 / 3)
    assert {each.name for each in third.painted} < {each.name for each in half.painted}
    assert {each.name for each in pairs(corpus, world, share=0.5, seed=4).painted} != {
        each.name for each in half.painted
    }
    assert pairs(corpus, world, share=0.0).painted == ()


def test_a_subset_is_as_large_as_d_prime_and_in_its_place(corpus, world):
    subset = pairs(corpus, world, "subset")
    assert subset.painted == ()
    assert subset.original_pairs == 6
    assert [len(each.texts) for each in subset.original] == [1] * 6
    half = pairs(corpus, world, "subset", share=0.5)
    assert half.original_pairs == len(half.original) == 3
    whole = {each.id: each for each in pairs(corpus, world).original}
    assert all(set(each.texts) < set(whole[each.id].texts) for each in half.original)


def test_a_subset_larger_than_the_pictures_takes_second_captions(corpus, world, tmp_path):
    rows = read_table(world / "pairs.parquet").to_pylist()
    five = [row | {"caption": row["caption"] + more} for row in rows for more in range(3)]
    write_table(tmp_path / "pairs.parquet", pa.Table.from_pylist(five[:-2]))
    subset = pairs(corpus, tmp_path, "subset", captions=5)
    assert subset.original_pairs == 16
    assert sorted(len(each.texts) for each in subset.original) == [2, 2, 3, 3, 3, 3]
    painted = pairs(corpus, tmp_path, captions=5).painted
    assert [len(each.texts) for each in painted] == [3, 3, 3, 3, 3, 1]
    # No picture's id, and not -1, which marks empty places in BLIP's queue.
    assert [each.id for each in painted] == [-2, -3, -4, -5, -6, -7]
    assert [len(each.texts) for each in pairs(corpus, tmp_path, captions=2).painted] == [2, 2, 2, 2, 2, 1]
    first = [each.texts for each in pairs(corpus, tmp_path, captions=1).painted]
    assert first == [each.texts[:1] for each in painted]


def test_an_epoch_draws_each_once():
    found = draw_places(5, range(3, 17), 1)
    assert [epoch for _, epoch in found] == [0] * 2 + [1] * 5 + [2] * 5 + [3] * 2
    assert sorted(thing for thing, epoch in found if epoch == 1) == [0, 1, 2, 3, 4]
    assert draw_places(5, range(5, 10), 1) == found[2:7]
    assert draw_places(5, range(5, 10), 2) != found[2:7]
