"""Noun-phrase removal as in the paper: the phrases of the removed classes go, the rest stays (decorrelation.md §2).

"Two dogs fight over a frisbee" becomes "Two dogs fight", the paper's example. What is left need not be grammatical.
"""

import re
from collections.abc import Collection, Sequence

from trivium.formats.pictures import Phrase
from trivium.language.english.lexicon import COMPOUND_PREPOSITIONS
from trivium.language.english.sentences import Sentence, read_sentence
from trivium.language.english.tagging import tag

_COMPOUNDS = sorted((tuple(each.split()) for each in COMPOUND_PREPOSITIONS), key=len, reverse=True)
_SPACE_BEFORE_MARK = re.compile(r"\s+(?=[.,;:!?])")


def remove_phrases(text: str, phrases: Sequence[Phrase], removed: Collection[str]) -> str | None:
    """The caption y' without the phrases of the removed classes, each with the preposition that leads it.

    Args:
        text: y.
        phrases: noun phrases of y with the classes they name, in order, without overlap.
        removed: classes whose phrases go.

    Returns:
        y', or None when no word is left. Without a phrase of these classes, y itself.
    """
    gone = [phrase for phrase in phrases if not set(removed).isdisjoint(phrase.classes)]
    if not gone:
        return text
    sentence = read_sentence(text)
    tags = tag(sentence)
    kept, place = "", 0
    for phrase in gone:
        kept += text[place : _start(sentence, tags, phrase)] + " "
        place = phrase.end
    words = _SPACE_BEFORE_MARK.sub("", " ".join((kept + text[place:]).split()))
    return words if any(character.isalnum() for character in words) else None


def _start(sentence: Sentence, tags: str, phrase: Phrase) -> int:
    """The first character of a phrase, or of the preposition before it: "over a frisbee", "in front of a car"."""
    first, _ = sentence.words_in(phrase.start, phrase.end)
    if not tags[:first].endswith("P"):
        return phrase.start
    before = sentence.words[:first]
    length = next((len(each) for each in _COMPOUNDS if before[-len(each) :] == each), 1)
    return sentence.spans[first - length][0]
