"""The class hierarchy: ancestors by hand, circles end."""

import pytest

from trivium.kvqae.construction.subjects import class_ancestors


def ancestors_of(item, **above):
    return class_ancestors(item, lambda name: above.get(name, "").split())


def test_ancestors_by_hand():
    tree = {"drawbridge": "bridge", "bridge": "structure crossing", "crossing": "place", "structure": "thing"}
    assert ancestors_of("drawbridge", **tree) == {"drawbridge", "bridge", "structure", "crossing", "place", "thing"}
    assert ancestors_of("crossing", **tree) == {"crossing", "place"}
    assert ancestors_of("unknown", **tree) == {"unknown"}


@pytest.mark.parametrize(
    ("above", "start", "ancestors"),
    [
        ({"a": "a"}, "a", "a"),
        ({"a": "b", "b": "a"}, "a", "a b"),
        ({"a": "b", "b": "c", "c": "d", "d": "b e"}, "a", "a b c d e"),
        ({"a": "b d", "b": "c", "c": "b", "d": "e", "e": "d"}, "a", "a b c d e"),
        ({"a": "b b", "b": "c"}, "a", "a b c"),
    ],
)
def test_circles_end(above, start, ancestors):
    assert ancestors_of(start, **above) == set(ancestors.split())
