import itertools
from math import comb, log2

import numpy as np
import pytest

from trivium.measures.frames import (
    PlacedWord,
    SetScore,
    attachment_scores,
    best_bio_tags,
    bio_spans,
    bio_tags,
    entropy_bits,
    f1_randomization,
    mcnemar_exact,
    score_sets,
)


def test_scores_of_sets():
    score = score_sets({("a", 1), ("a", 2), ("b", 3)}, {("a", 1), ("b", 3), ("c", 1), ("c", 2)})
    assert (score.right, score.found, score.true) == (2, 3, 4)
    assert (score.precision, score.recall) == (2 / 3, 2 / 4)
    assert score.f1 == pytest.approx(2 * (2 / 3) * (1 / 2) / (2 / 3 + 1 / 2))
    assert score.named("x") == {"x_precision": 2 / 3, "x_recall": 1 / 2, "x_f1": score.f1}


def test_empty_sets_score_nothing():
    assert score_sets(set(), set()).f1 == 0
    assert score_sets({1}, set()).named("x") == {"x_precision": 0.0, "x_recall": 0.0, "x_f1": 0.0}


def test_entropy():
    assert entropy_bits([2, 1, 1, 0]) == pytest.approx(0.5 * log2(2) + 2 * 0.25 * log2(4))
    assert entropy_bits([5]) == entropy_bits([1]) == entropy_bits([]) == entropy_bits([0, 0]) == 0


def test_mcnemar_counts_only_differences():
    # The first alone is right 6 times, the second alone once: P(X ≤ 1) + P(X ≥ 6) of 7 tosses.
    first = [True] * 6 + [False] + [True] * 20
    second = [False] * 6 + [True] + [True] * 20
    expected = 2 * (comb(7, 0) + comb(7, 1)) / 2**7
    assert mcnemar_exact(first, second) == mcnemar_exact(second, first) == pytest.approx(expected)
    assert mcnemar_exact(first, first) == 1


def test_randomization_of_f1_approaches_all_swaps():
    rng = np.random.default_rng(0)
    first, second = (
        [SetScore(int(rng.binomial(4, share)), 4, int(rng.integers(4, 7))) for _ in range(9)] for share in (0.8, 0.4)
    )
    second = [SetScore(b.right, b.found, a.true) for a, b in zip(first, second, strict=True)]

    def f1(scores):
        return 2 * sum(s.right for s in scores) / sum(s.found + s.true for s in scores)

    observed = abs(f1(first) - f1(second))
    swaps = list(itertools.product((False, True), repeat=9))
    count = 0
    for swap in swaps:
        one = [b if s else a for a, b, s in zip(first, second, swap, strict=True)]
        two = [a if s else b for a, b, s in zip(first, second, swap, strict=True)]
        count += abs(f1(one) - f1(two)) >= observed - 1e-12
    p = f1_randomization(first, second, permutations=20_000, seed=3)
    assert p == pytest.approx(count / len(swaps), abs=0.01)
    assert f1_randomization(first, first, permutations=50, seed=0) == 1
    nothing = [SetScore(0, 0, 0)] * 3  # neither found nor to be found
    assert f1_randomization(nothing, nothing, permutations=50, seed=0) == 1


def word(place, head, relation, part_of_speech="NOUN", lemma="x"):
    return PlacedWord(place, head, relation, part_of_speech, lemma)


def test_scores_of_parses_with_other_tokens():
    # "du" is one word for the one and two (de, le) for the other: 3 common places of 3 and 4 words.
    gold = [word(0, 2, "case"), word(1, 2, "det"), word(2, None, "root"), word(3, 2, "obl:arg", "VERB")]
    found = [word(0, 2, "case", "DET"), word(2, None, "root", lemma="X"), word(3, 0, "obl", "VERB")]
    assert attachment_scores(found, gold) == {
        "words_f1": 2 * 3 / 7, "uas": 2 * 2 / 7, "las": 2 * 2 / 7, "upos": 2 * 2 / 7, "lemmas": 2 * 3 / 7
    }  # fmt: skip


def test_subtypes_do_not_count_and_a_relation_needs_its_head():
    gold = [word(0, None, "root"), word(1, 0, "obl:arg"), word(2, 0, "obj")]
    found = [word(0, None, "root"), word(1, 0, "obl"), word(2, 1, "obj")]
    scores = attachment_scores(found, gold)
    assert (scores["uas"], scores["las"]) == (pytest.approx(2 / 3), pytest.approx(2 / 3))
    assert attachment_scores(gold, gold[::-1]) == dict.fromkeys(("words_f1", "uas", "las", "upos", "lemmas"), 1.0)


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
