"""What a French question shares with a text.

Content words are compared by their French Snowball stem, spaCy's French stop words left out (the interrogatives are
among them).
"""

from trivium.formats.framed_texts import Span
from trivium.language.reading import language
from trivium.language.reading.spaced import FRENCH

STOP_WORDS = FRENCH.stop_words
content_stems = FRENCH.content_stems
sentences = FRENCH.sentences


def overlap(question: str, text: str) -> float | None:
    """|stems(question) ∩ stems(text)| / |stems(question)|; None when the question has no content word."""
    return language.overlap(content_stems(question), content_stems(text))


def sentence_of(spans: list[Span], place: Span) -> int:
    """Number of the sentence in which a span begins; the one before where it begins between two."""
    return max(0, sum(span.start <= place.start for span in spans) - 1)
