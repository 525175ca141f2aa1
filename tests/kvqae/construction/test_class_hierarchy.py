"""The class hierarchy: ancestors by hand, circles end and are counted."""

import pytest

from trivium.kvqae.construction.subjects import ClassHierarchy


def hierarchy(**above):
    return ClassHierarchy(lambda item: above.get(item, "").split())


def test_ancestors_by_hand():
    tree = hierarchy(drawbridge="bridge", bridge="structure crossing", crossing="place", structure="thing")
    assert tree.ancestors("drawbridge") == {"drawbridge", "bridge", "structure", "crossing", "place", "thing"}
    assert tree.ancestors("crossing") == {"crossing", "place"}
    assert tree.ancestors("unknown") == {"unknown"}
    assert tree.circular() == 0


@pytest.mark.parametrize(
    ("above", "start", "ancestors", "circular"),
    [
        ({"a": "a"}, "a", "a", 1),
        ({"a": "b", "b": "a"}, "a", "a b", 2),
        ({"a": "b", "b": "c", "c": "d", "d": "b e"}, "a", "a b c d e", 3),  # neither what is below nor above
        ({"a": "b d", "b": "c", "c": "b", "d": "e", "e": "d"}, "a", "a b c d e", 4),
        ({"a": "b b", "b": "c"}, "a", "a b c", 0),
    ],
)
def test_circles_end_and_their_classes_are_counted(above, start, ancestors, circular):
    tree = hierarchy(**above)
    assert tree.ancestors(start) == set(ancestors.split())
    assert tree.circular() == circular
