"""Word Levenshtein: by hand, as a metric, and against its recursive definition."""

import random
from functools import cache

import pytest

from trivium.measures.edit_distance import word_edit_distance


@pytest.mark.parametrize(
    ("a", "b", "distance"),
    [
        ("", "", 0),
        ("", "one two", 2),
        ("which city did this man rule", "which city did he rule", 2),
        ("a b c", "a b c", 0),
        ("a b c", "c b a", 2),
        ("a b c d", "b c d e", 2),
        ("Paris", "paris", 1),
    ],
)
def test_by_hand_and_symmetric(a, b, distance):
    assert word_edit_distance(a.split(), b.split()) == distance
    assert word_edit_distance(b.split(), a.split()) == distance


def test_agrees_with_the_recursive_definition():
    @cache
    def recursive(a, b):
        if not a or not b:
            return len(a) + len(b)
        last = recursive(a[:-1], b[:-1]) + (a[-1] != b[-1])
        return min(recursive(a[:-1], b) + 1, recursive(a, b[:-1]) + 1, last)

    draw = random.Random(0)
    for _ in range(200):
        a, b = (tuple(draw.choices("xyz", k=draw.randint(0, 7))) for _ in range(2))
        assert word_edit_distance(a, b) == recursive(a, b)


def test_the_triangle_inequality_holds():
    draw = random.Random(1)
    for _ in range(100):
        a, b, c = (draw.choices("xyz", k=draw.randint(0, 6)) for _ in range(3))
        assert word_edit_distance(a, c) <= word_edit_distance(a, b) + word_edit_distance(b, c)
