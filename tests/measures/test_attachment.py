import pytest

from trivium.measures.frames import PlacedWord, attachment_scores


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


def test_lemmas_are_compared_without_case():
    gold = [word(0, None, "root", lemma="Prendre"), word(1, 0, "obj", lemma="ville"), word(2, 1, "det", lemma="le")]
    found = [word(0, None, "root", lemma="prendre"), word(1, 0, "obj", lemma="vill"), word(2, 1, "det", lemma="le")]
    assert attachment_scores(found, gold)["lemmas"] == 2 * 2 / 6


def test_no_words_and_a_place_twice():
    assert set(attachment_scores([], []).values()) == {0.0}
    with pytest.raises(ValueError, match="twice"):
        attachment_scores([word(0, None, "root"), word(0, None, "root")], [])
