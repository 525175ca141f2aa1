import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.core.folding import find_folded, fold

ALIKE = "'’‘-–‑―\"“ \u00a0\u202f\u200b\u200f\u00ad\ufeffée\u0301\u0300한\u1100\u1161\u11a8aİßç"


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("\u200fالقاهرة\u200e", "القاهرة"),
        ("می\u200cروم", "میروم"),
        ("cafe\u0301", "café"),
        ("l’arme\u0301e d‘hier", "l'armée d'hier"),
        ("co\u00adop\u00aderate", "cooperate"),
        ("\ufeff10\u202f000\u00a0km", "10 000 km"),
        ("\u1112\u1161\u11ab", "한"),
    ],
)
def test_what_looks_alike_is_one(written, plain):
    assert fold(written) == fold(plain) == plain
    assert fold(plain + "x") != plain


def test_case_accents_and_punctuation_stay():
    assert fold("Étienne, dit « le Roi » !\n") == "Étienne, dit « le Roi » !\n"


@given(st.text(ALIKE))
def test_folding_twice_changes_nothing_and_any_normal_form_is_one(text):
    assert fold(fold(text)) == fold(text) == fold(unicodedata.normalize("NFD", text))


@given(st.text(ALIKE), st.text(ALIKE), st.text(ALIKE))
def test_what_is_found_is_what_was_wanted(before, wanted, after):
    text = before + wanted + after
    for start, end in find_folded(text, wanted):
        assert fold(text[start:end]) == fold(wanted)


def test_places_count_the_text_as_it_is_stored():
    stored = "Le cafe\u0301 de l’\u200fE\u0301quipe, le café."
    assert [stored[start:end] for start, end in find_folded(stored, "café")] == ["cafe\u0301", "café"]
    assert [stored[start:end] for start, end in find_folded(stored, "L'équipe", any_case=True)] == [
        "l’\u200fE\u0301quipe"
    ]
    assert find_folded(stored, "cafe") == find_folded(stored, "thé") == find_folded(stored, "\u200f") == []
    assert find_folded("İstanbul", "İstanbul", any_case=True) == [(0, 8)]


def test_no_letter_is_cut():
    assert find_folded(unicodedata.normalize("NFD", "각"), "가") == []
