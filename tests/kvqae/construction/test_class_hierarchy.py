"""The class hierarchy: ancestors by hand, circles end."""

import pytest

from trivium.kvqae.construction.subjects import ClassHierarchy


def hierarchy(**above):
    return ClassHierarchy(lambda item: above.get(item, "").split())


def test_ancestors_by_hand():
    tree = hierarchy(drawbridge="bridge", bridge="structure crossing", crossing="place", structure="thing")
    assert tree.ancestors("drawbridge") == {"drawbridge", "bridge", "structure", "crossing", "place", "thing"}
    assert tree.ancestors("crossing") == {"crossing", "place"}
    assert tree.ancestors("unknown") == {"unknown"}


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
    assert hierarchy(**above).ancestors(start) == set(ancestors.split())
