import itertools

import numpy as np
import pytest

from trivium.measures.frames import best_bio_tags, bio_spans, bio_tags


def is_valid(tags):
    return all(tag == 0 or tag % 2 or before in (tag - 1, tag) for before, tag in zip((0, *tags), tags, strict=False))


def test_tags_of_spans_and_back():
    spans = [(1, 0, 0), (0, 1, 3), (0, 4, 4)]
    tags = bio_tags(spans, 6)
    assert tags.tolist() == [3, 1, 2, 2, 1, 0]  # neighbours of one kind stay apart
    assert bio_spans(tags) == spans
    spans = [(3, 0, 2), (1, 3, 4)]
    assert bio_tags(spans, 5).tolist() == [7, 8, 8, 3, 4]
    assert bio_spans([7, 8, 8, 3, 4]) == spans
    with pytest.raises(ValueError, match="overlaps"):
        bio_tags([(0, 0, 2), (1, 2, 3)], 5)


@pytest.mark.parametrize("seed", range(6))
def test_decoding_finds_the_best_of_all_valid_sequences(seed):
    scores = np.random.default_rng(seed).normal(size=(1, 4, 5))
    scores[0, 2, 3:] = -np.inf  # forbidden by the caller
    found = best_bio_tags(scores, np.array([4]))[0]
    valid = [tags for tags in itertools.product(range(5), repeat=4) if is_valid(tags)]
    best = max(valid, key=lambda tags: sum(scores[0, word, tag] for word, tag in enumerate(tags)))
    assert tuple(found) == best


def test_padding_changes_nothing_and_is_outside():
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(2, 5, 7))
    scores[1, 3:, 0] -= 9.0  # nobody looks at what stands there
    together = best_bio_tags(scores, np.array([5, 3]))
    assert together[0].tolist() == best_bio_tags(scores[:1], np.array([5]))[0].tolist()
    assert together[1].tolist() == [*best_bio_tags(scores[1:, :3], np.array([3]))[0], 0, 0]


def test_ties_go_to_outside():
    assert best_bio_tags(np.zeros((1, 3, 5)), np.array([3])).tolist() == [[0, 0, 0]]


def test_an_inside_tag_cannot_begin():
    scores = np.full((1, 4, 3), -9.0)
    scores[0, :, 2] = 0.0  # I everywhere: B, then I throughout is the best valid reading
    assert best_bio_tags(scores, np.array([4])).tolist() == [[1, 2, 2, 2]]
    assert best_bio_tags(np.zeros((3, 0, 3)), np.zeros(3, dtype=int)).shape == (3, 0)
