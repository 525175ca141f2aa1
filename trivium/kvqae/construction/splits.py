"""Random splits of a data set that share nothing (kvqae.md §2)."""

from collections.abc import Hashable, Iterable, Mapping, Sequence

import numpy as np


def disjoint_splits(keys: Sequence[Iterable[Hashable]], shares: Mapping[str, float], seed: int) -> list[str]:
    """Share items out at random, so that two items with a key in common are always in the same split.

    Items that have keys in common, directly or through others, form a component and stay together. Components are
    shuffled and dealt out, the largest first, each to the split that lacks most items.

    Args:
        keys: of each item, such as its image.
        shares: of the items, by split; only their proportions matter.
        seed: of the shuffle.

    Returns:
        The split of each item. Sizes miss the shares by less than the size of the largest component.
    """
    components = connected(keys)
    order = np.random.default_rng(seed).permutation(len(components)).tolist()
    order.sort(key=lambda component: -len(components[component]))
    total = sum(shares.values())
    lacking = {split: len(keys) * share / total for split, share in shares.items()}
    splits = [""] * len(keys)
    for component in order:
        split = max(lacking, key=lambda each: lacking[each])
        lacking[split] -= len(components[component])
        for item in components[component]:
            splits[item] = split
    return splits


def connected(keys: Sequence[Iterable[Hashable]]) -> list[list[int]]:
    """Connected components of items that have keys in common: item numbers, ascending; components by first item."""
    parent = list(range(len(keys)))

    def root(item: int) -> int:
        while parent[item] != item:
            parent[item] = parent[parent[item]]
            item = parent[item]
        return item

    first: dict[Hashable, int] = {}
    for item, own in enumerate(keys):
        for key in own:
            one, other = sorted((root(first.setdefault(key, item)), root(item)))
            parent[other] = one
    components: dict[int, list[int]] = {}
    for item in range(len(keys)):
        components.setdefault(root(item), []).append(item)
    return list(components.values())
