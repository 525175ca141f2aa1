"""Spans, and comparing text without moving offsets."""

import unicodedata

import pytest

from trivium.core.folding import fold
from trivium.formats.framed_texts import Span, end_of

COMPOSED = "L'été, 10 000 Français défendirent Orléans."
DECOMPOSED = unicodedata.normalize("NFD", COMPOSED)
NON_BREAKING = COMPOSED.replace("10 000", "10\u202f000")


def test_spans_overlap_only_where_they_share_a_character():
    assert Span(2, 5).overlaps(Span(4, 9))
    assert Span(4, 9).overlaps(Span(2, 5))
    assert not Span(2, 5).overlaps(Span(5, 9))
    assert not Span(2, 5).overlaps(Span(7, 9))
    assert not Span(7, 9).overlaps(Span(2, 5))
    assert Span(2, 9).contains(Span(2, 9))
    assert Span(2, 9).contains(Span(3, 4))
    assert not Span(3, 4).contains(Span(2, 9))
    assert Span(2, 5).of("abcdef") == "cde"


@pytest.mark.parametrize("stored", [COMPOSED, DECOMPOSED, NON_BREAKING])
@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("wanted", ["L'été", "10 000 Français", "défendirent Orléans", "Orléans."])
def test_end_is_found_whatever_the_form(stored: str, form: str, wanted: str):
    wanted = unicodedata.normalize(form, wanted)
    starts = [start for start in range(len(stored)) if fold(stored[start:]).startswith(fold(wanted))]
    end = end_of(stored, starts[0], wanted)
    assert end is not None
    assert fold(stored[starts[0] : end]) == fold(wanted)
    assert end == len(stored) or not unicodedata.combining(stored[end])


def test_end_never_parts_an_accent_from_its_letter():
    assert end_of("e\u0301te\u0301", 0, "\u00e9t\u00e9") == 5
    assert end_of("te\u0323\u0301", 0, "t\u1eb9") is None  # the text has another accent on top


@pytest.mark.parametrize(
    ("start", "wanted"), [(0, "Orléans"), (-1, "."), (len(COMPOSED), "."), (2, ""), (len(COMPOSED) - 1, ".!")]
)
def test_nothing_is_found_where_something_else_stands(start: int, wanted: str):
    assert end_of(COMPOSED, start, wanted) is None
