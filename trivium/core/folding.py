"""One folding for every comparison of texts: answers, their places in contexts, file names, names of entities.

Only copies are folded. A stored text, an id and whatever is written stay as they came.
"""

import re
import unicodedata

# Soft hyphen, marks of direction, joiners and spaces of no width, byte order mark, variation selectors.
NO_WIDTH = "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff"
_NO_WIDTHS = re.compile(f"[{NO_WIDTH}]+")
_ALIKE = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201b\u02bb\u02bc\u2032\uff07\u00b4`", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\uff02", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d", "-"),
        **dict.fromkeys(
            "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " "
        ),
    }
)


def fold(text: str) -> str:
    """Fold a text for comparison; folding it again changes nothing.

    NFC; marks of no width are gone; apostrophes, quotation marks, dashes and spaces of all shapes are the straight
    ones of ASCII. Case, punctuation and line breaks are left to the comparison.
    """
    if text.isascii():
        return text.replace("`", "'")
    return unicodedata.normalize("NFC", _NO_WIDTHS.sub("", text)).translate(_ALIKE)


def fold_in_place(text: str, *, any_case: bool = False) -> tuple[str, list[tuple[int, int]]]:
    """The folded text, and of each of its characters the (start, end) of the letter that it is a part of, as stored."""
    prepare = _without_case if any_case else fold
    if text.isascii():
        return prepare(text), [(place, place + 1) for place in range(len(text))]
    starts = [place for place, character in enumerate(text) if not place or not continues(character)]
    parts: list[str] = []
    origin: list[tuple[int, int]] = []
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        part = prepare(text[start:end])
        parts.append(part)
        origin += [(start, start + len(_TRAILING.sub("", text[start:end])))] * len(part)
    return "".join(parts), origin


def find_folded(text: str, phrase: str, *, any_case: bool = False) -> list[tuple[int, int]]:
    """Find a phrase in a text after folding both; returns (start, end) of each match in the text as stored.

    None begins or ends in the middle of a letter with accents. `any_case`: case does not count.
    """
    prepare = _without_case if any_case else fold
    target = prepare(phrase)
    if not target or target not in prepare(text):
        return []
    folded, origin = fold_in_place(text, any_case=any_case)
    stretches = []
    place = folded.find(target)
    while place != -1:
        last, behind = place + len(target) - 1, place + len(target)
        whole = (not place or origin[place - 1] != origin[place]) and origin[behind : behind + 1] != [origin[last]]
        if whole:
            stretches.append((origin[place][0], origin[last][1]))
        place = folded.find(target, place + 1)
    return stretches


_TRAILING = re.compile(f"[{NO_WIDTH}]+$")


def _without_case(text: str) -> str:
    return fold(text).casefold()


def continues(character: str) -> bool:
    """Whether a character belongs to the letter before it: a mark, a vowel or final of Hangul, or of no width."""
    if character.isascii():
        return False
    return (
        unicodedata.category(character)[0] == "M"
        or "\u1160" <= character <= "\u11ff"
        or _NO_WIDTHS.match(character) is not None
    )
