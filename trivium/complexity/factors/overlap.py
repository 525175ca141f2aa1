"""Words that a question shares with a text, and the sentences of a text, without any annotation.

Content words are compared by their French Snowball stem, spaCy's French stop words left out (the interrogatives are
among them).
"""

import re
import runpy
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import snowballstemmer

from trivium.formats.framed_texts import Span
from trivium.measures.french import words

# A full stop ends a sentence where a capital (no initial), a digit or a quotation follows: "av. J.-C. dans" goes on.
_BOUNDARY = re.compile(r"[.!?…](?:\s?[»\"')\]])*(\s+)(?![A-Z]\.)(?=[«\"'(\[]?\s*[A-ZÀ-ÖØ-ÞŒ0-9])|(\n+)")
_STEMMER = snowballstemmer.stemmer("french")
_ELIDED = frozenset(
    ["c", "d", "j", "l", "m", "n", "s", "t", "qu", "jusqu", "lorsqu", "puisqu", "quoiqu", "quelqu", "presqu"]
)


def _stop_words() -> frozenset[str]:
    """spaCy's, from the file itself: to import spacy.lang.fr compiles a tokenizer, which takes 5 seconds a process."""
    spacy = find_spec("spacy")
    assert spacy is not None
    assert spacy.origin is not None
    return frozenset(runpy.run_path(str(Path(spacy.origin).parent / "lang" / "fr" / "stop_words.py"))["STOP_WORDS"])


STOP_WORDS = _stop_words()


@lru_cache(maxsize=1 << 16)
def content_stems(text: str) -> frozenset[str]:
    """Distinct stems of the content words of a text."""
    kept = [word for word in words(text) if word not in STOP_WORDS and word not in _ELIDED]
    return frozenset(_STEMMER.stemWords(kept))


def overlap(question: str, text: str) -> float | None:
    """|stems(question) ∩ stems(text)| / |stems(question)|; None when the question has no content word."""
    asked = content_stems(question)
    return len(asked & content_stems(text)) / len(asked) if asked else None


def sentences(text: str) -> list[Span]:
    """The sentences of a text by punctuation, in order, without the white space around them; none is empty."""
    gaps = [match.span(match.lastindex or 0) for match in _BOUNDARY.finditer(text)]
    cuts = [0, *(cut for gap in gaps for cut in gap), len(text)]
    spans = []
    for start, end in zip(cuts[::2], cuts[1::2], strict=True):
        sentence = text[start:end]
        if stripped := sentence.strip():
            first = start + len(sentence) - len(sentence.lstrip())
            spans.append(Span(first, first + len(stripped)))
    return spans


def sentence_of(spans: list[Span], place: Span) -> int:
    """Number of the sentence in which a span begins; the one before where it begins between two."""
    return max(0, sum(span.start <= place.start for span in spans) - 1)
