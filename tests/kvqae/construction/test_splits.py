"""Splits share no key, have the sizes that were asked for, and depend on nothing but the seed."""

from collections import Counter

import numpy as np
import pytest

from trivium.kvqae.construction.rebuilding import disjoint_splits, find_components

SHARES = {"train": 1190.0, "validation": 1250.0, "test": 1257.0}


def test_components_by_hand():
    # 0-2 share a, 2-3 share b; 4 has nothing; 1-5 share c.
    assert find_components([{"a"}, {"c"}, {"a", "b"}, {"b"}, set(), {"c", "d"}]) == [[0, 2, 3], [1, 5], [4]]
    assert find_components([]) == []


@pytest.mark.parametrize("seed", range(5))
def test_no_key_in_two_splits(seed):
    """A split item by item would put keys into two splits: most of them are shared by three items."""
    rng = np.random.default_rng(seed)
    keys = [set(rng.integers(0, 400, size=rng.integers(1, 3)).tolist()) for _ in range(500)]
    splits = disjoint_splits(keys, SHARES, seed)
    of = {}
    for own, split in zip(keys, splits, strict=True):
        for key in own:
            assert of.setdefault(key, split) == split


def test_sizes_miss_by_less_than_the_largest_component():
    keys = [{0}] * 50 + [{n} for n in range(1, 51)]
    sizes = Counter(disjoint_splits(keys, {"a": 1, "b": 1, "c": 2}, 0))
    assert sizes == {"a": 25, "b": 25, "c": 50}
    assert Counter(disjoint_splits([{0}] * 4, {"a": 1, "b": 1}, 0)) == {"a": 4}


def test_the_seed_decides():
    keys = [{n} for n in range(60)]
    first = disjoint_splits(keys, SHARES, 3)
    assert disjoint_splits(keys, SHARES, 3) == first
    assert disjoint_splits(keys, {name: 7 * share for name, share in SHARES.items()}, 3) == first
    assert disjoint_splits(keys, SHARES, 4) != first
