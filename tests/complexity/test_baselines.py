"""Trivial answers: best-overlap sentence, random span, answers moved within a group."""

import numpy as np
import pytest

from trivium.complexity.factors.free_factors import sentence_of
from trivium.complexity.systems import ALONE, best_overlap_sentence, random_span, same_group_donors
from trivium.formats.framed_texts import Span
from trivium.language.languages import FRENCH, overlap

content_stems, sentences = FRENCH.content_stems, FRENCH.sentences
TEXT = "Le roi fuit. L'armée attaqua la ville en 1915 ! « Où est le fort ? » Les armées quittèrent les villes."


def test_sentences_are_stretches_of_the_text():
    expected = [
        "Le roi fuit.",
        "L'armée attaqua la ville en 1915 !",
        "« Où est le fort ? »",
        "Les armées quittèrent les villes.",
    ]
    found = [span.of(TEXT) for span in sentences(TEXT)]
    assert found == expected
    assert [span.of("Fondée en 52 av. J.-C. par Dùn") for span in sentences("Fondée en 52 av. J.-C. par Dùn")] == [
        "Fondée en 52 av. J.-C. par Dùn"
    ]
    assert [span.of(" A.\n\n B") for span in sentences(" A.\n\n B")] == ["A.", "B"]
    assert sentences(" \n ") == []


def test_sentence_of_a_span():
    spans = sentences("Un. Deux trois. Quatre.")
    assert [sentence_of(spans, Span(start, start + 1)) for start in (0, 3, 4, 9, 16)] == [0, 0, 1, 1, 2]


def test_content_words_are_compared_by_stem_and_overlap_is_a_share():
    assert content_stems("Qui attaqua l'armée ?") == content_stems("les armées attaquaient")
    assert content_stems("Où est-ce qu'il l'a fait ?") <= content_stems("fait")
    assert overlap(
        content_stems("Quelle armée attaqua le port ?"), content_stems("L’armée fuit le port.")
    ) == pytest.approx(2 / 3)
    assert overlap(content_stems("Où est-il ?"), content_stems(TEXT)) is None


def test_best_overlap_sentence():
    assert best_overlap_sentence("Quelle ville l’armée attaque-t-elle ?", TEXT) == "L'armée attaqua la ville en 1915 !"
    # Two sentences have both words: the first. None has any: the first.
    assert best_overlap_sentence("Quelles armées, quelles villes ?", TEXT) == "L'armée attaqua la ville en 1915 !"
    assert best_overlap_sentence("Qui mange ?", TEXT) == "Le roi fuit."
    assert best_overlap_sentence("Qui ?", " ") == ""


def test_random_span_is_so_many_words_of_the_text_from_everywhere():
    rng = np.random.default_rng(0)
    text = "un  deux\u00a0trois quatre"
    places = FRENCH.in_place(text)
    found = {random_span(text, places, 2, rng) for _ in range(100)}
    assert found == {"un  deux", "deux\u00a0trois", "trois quatre"}
    assert random_span(text, places, 9, rng) == text
    assert random_span("  ", FRENCH.in_place("  "), 1, rng) == ""


def test_donors_are_others_of_the_group_each_used_once():
    groups = list("abacabad")
    for seed in range(20):
        donors = same_group_donors(groups, np.random.default_rng(seed))
        for place, donor in enumerate(donors):
            if groups[place] in "cd":
                assert donor == ALONE
            else:
                assert donor != place
                assert groups[donor] == groups[place]
        used = [donor for donor in donors if donor != ALONE]
        assert len(set(used)) == len(used) == 6
    assert len({tuple(same_group_donors(groups, np.random.default_rng(seed))) for seed in range(20)}) > 3


def test_stop_words_are_spacys():
    from spacy.lang.fr.stop_words import STOP_WORDS as THEIRS

    assert FRENCH.stop_words == THEIRS
