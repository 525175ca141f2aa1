"""The records that all complexity stages share: texts annotated with frames, and questions about them.

Offsets count the characters of the text as it is stored (a stored text is never normalised); `end` is exclusive. Two
files of JSON lines hold a corpus, `texts.jsonl` and `questions.jsonl` (docs/complexity-formats.md).
"""

import re
import unicodedata
from dataclasses import dataclass

from trivium.core.folding import continues, find_folded, fold

CORE_TYPES = ("core", "peripheral", "extra-thematic")
PARTS_OF_SPEECH = ("verb", "noun", "adjective", "adverb", "preposition", "other")


def end_of(text: str, start: int, token: str) -> int | None:
    """Return where `token` ends in a stored text that should have it at `start`; None if it does not stand there.

    Differences that `fold` removes do not count, so that the stretch found may be longer or shorter than `token`; it
    never ends between a letter and its combining accent.
    """
    if start < 0 or start >= len(text) or not token:
        return None
    if text.startswith(token, start):
        return start + len(token)
    last = start + 4 * len(token) + 8  # room for separate accents and for marks of no width
    while last < len(text) and continues(text[last]):
        last += 1
    window = text[start:last]
    return next((start + end for first, end in find_folded(window, token) if not fold(window[:first])), None)


@dataclass(frozen=True, order=True)
class Span:
    """Characters `start` to `end` (exclusive) of a text."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """Return these characters of the text."""
        return text[self.start : self.end]

    def overlaps(self, other: "Span") -> bool:
        """Whether the two share a character."""
        return self.start < other.end and other.start < self.end

    def contains(self, other: "Span") -> bool:
        """Whether every character of the other is in this one."""
        return self.start <= other.start and other.end <= self.end


@dataclass(frozen=True)
class LexicalUnit:
    """The trigger of a frame: its lemma and part of speech (one of PARTS_OF_SPEECH), and where it stands."""

    lemma: str
    part_of_speech: str
    span: Span  # the trigger, or its first part
    more: tuple[Span, ...] = ()  # the further parts, in the order of the text ("tenir … compte", "called … up")

    @property
    def name(self) -> str:
        """Name of the lexical unit in FrameNet's manner, such as `perdre.verb`."""
        return f"{self.lemma}.{self.part_of_speech}"


@dataclass(frozen=True)
class FrameElement:
    """An argument of a frame; `core` is one of CORE_TYPES.

    Elements of one frame may overlap: in "nos idées" the whole is the Content and "nos" the Cognizer.
    """

    name: str
    span: Span
    core: str
    layer: int = 1  # FrameNet's rank: more than 1 where annotators added further elements over the first ones


@dataclass(frozen=True)
class FrameInstance:
    """A frame evoked in a text. Elements stand in the order of the text; a name may occur more than once."""

    frame: str
    lexical_unit: LexicalUnit
    elements: tuple[FrameElement, ...]


@dataclass(frozen=True)
class AnnotatedText:
    """A text with its frames and coreference chains (mentions of the same thing, in the order of the text)."""

    id: str
    title: str
    text: str
    frames: tuple[FrameInstance, ...]
    chains: tuple[tuple[Span, ...], ...]


@dataclass(frozen=True)
class Example:
    """A question made from one frame of a text: `answer_element` is asked for, `context_elements` are given.

    Where a coreference chain must be resolved (factor f1), the answer is the antecedent, outside the frame's own
    element (a pronoun), and `chain` has the mentions from that element to it. Else the element itself is the answer.
    """

    id: str
    text: AnnotatedText
    question: str
    answer: Span  # the reference
    frame: FrameInstance
    answer_element: str
    context_elements: tuple[str, ...]
    chain: tuple[Span, ...]

    @property
    def answer_text(self) -> str:
        """The reference answer."""
        return self.answer.of(self.text.text)


def skip_blank(text: str, cursor: int) -> int:
    """Return the first place from `cursor` on that is not white space or invisible (zero-width space, soft hyphen)."""
    while cursor < len(text) and (text[cursor].isspace() or unicodedata.category(text[cursor]) == "Cf"):
        cursor += 1
    return cursor


def find_token(text: str, cursor: int, form: str, stated: str | None = None) -> Span:
    """Find the stretch of the stored text that is a token, `form`, behind the previous token, which ends at `cursor`.

    Differences that `fold` removes do not count; between tokens there may be white space only. `stated` is the token's
    place as `start:end`, where the syntax has one (`TokenRange`). `ValueError` says what else stands there.
    """
    start = skip_blank(text, cursor)
    if stated is None:
        end = end_of(text, start, form)
        if end is None:
            raise ValueError(f"{form!r} does not stand at {start}, where the text has {text[start : start + 20]!r}")
        return Span(start, end)
    match = re.fullmatch(r"([0-9]{1,15}):([0-9]{1,15})", stated)
    if match is None:
        raise ValueError(f"TokenRange {stated!r} is not start:end")
    span = Span(int(match[1]), int(match[2]))
    if not cursor <= span.start <= start or fold(span.of(text)) != fold(form):
        raise ValueError(
            f"{form!r} does not stand at TokenRange {stated}, where the text has {span.of(text)!r}; "
            f"the next token begins at {start}: {text[start : start + 20]!r}"
        )
    return span
