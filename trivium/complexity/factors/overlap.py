"""What a French question shares with a text: content words, and participants of the event that it asks about.

Content words are compared by their French Snowball stem, spaCy's French stop words left out (the interrogatives are
among them).
"""

from collections.abc import Sequence

from trivium.formats.framed_texts import Example, FrameInstance, Span
from trivium.language.reading import language
from trivium.language.reading.spaced import FRENCH
from trivium.measures.french import words

STOP_WORDS = FRENCH.stop_words
content_stems = FRENCH.content_stems
sentences = FRENCH.sentences


def overlap(question: str, text: str) -> float | None:
    """|stems(question) ∩ stems(text)| / |stems(question)|; None when the question has no content word."""
    return language.overlap(content_stems(question), content_stems(text))


def sentence_of(spans: list[Span], place: Span) -> int:
    """Number of the sentence in which a span begins; the one before where it begins between two."""
    return max(0, sum(span.start <= place.start for span in spans) - 1)


_FUNCTION_WORDS = frozenset(
    ("à", "au", "aux", "auprès", "contre", "d", "de", "des", "du", "l", "la", "le", "les", "par", "un", "une")
)


def shares_participant(example: Example) -> bool:
    """Whether something that the question names takes part in another event of the text, too."""

    def named(frame: FrameInstance, names: Sequence[str]) -> set[tuple[str, ...]]:
        spans = [element.span.of(example.text.text) for element in frame.elements if element.name in names]
        return {tuple(word for word in words(span) if word not in _FUNCTION_WORDS) for span in spans}

    given = named(example.frame, example.context_elements)
    others = [frame for frame in example.text.frames if frame != example.frame]
    return any(given & named(frame, [element.name for element in frame.elements]) for frame in others)
