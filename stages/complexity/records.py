"""The records that every complexity stage shares: texts annotated with frames, and questions about them.

Offsets count the characters of the text exactly as it is stored (no normalisation ever touches a stored text), `end`
exclusive. Two JSON-lines files hold a corpus:

`texts.jsonl`, one annotated text a line:
    {"id", "title", "text",
     "frames": [{"frame", "lexical_unit": {"lemma", "part_of_speech", "start", "end"},
                 "elements": [{"name", "start", "end", "core"}]}],
     "chains": [[{"start", "end"}, ...]]}
`questions.jsonl`, one question a line, about a text by its id:
    {"id", "text_id", "question", "answer": {"start", "end", "text"},
     "frame": index into the text's frames, "answer_element", "context_elements": [names],
     "chain": [{"start", "end"}, ...]}
"""

from dataclasses import dataclass

CORE_TYPES = ("core", "peripheral", "extra-thematic")
PARTS_OF_SPEECH = ("verb", "noun", "adjective", "adverb", "preposition", "other")


@dataclass(frozen=True, order=True)
class Span:
    """Characters `start` to `end` (exclusive) of a text."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """The characters themselves."""
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
    span: Span

    @property
    def name(self) -> str:
        """The lexical unit as FrameNet names it, such as `perdre.verb`."""
        return f"{self.lemma}.{self.part_of_speech}"


@dataclass(frozen=True)
class FrameElement:
    """An argument of a frame; `core` is one of CORE_TYPES."""

    name: str
    span: Span
    core: str


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

    Attributes:
        answer: the reference span. Where a coreference chain must be resolved it is the antecedent, which then lies
            outside the frame's own element (a pronoun).
        chain: the mentions from the frame's own element to the antecedent that is the answer; empty where the
            element itself is the answer (factor f1 is `bool(chain)`).
    """

    id: str
    text: AnnotatedText
    question: str
    answer: Span
    frame: FrameInstance
    answer_element: str
    context_elements: tuple[str, ...]
    chain: tuple[Span, ...]

    @property
    def answer_text(self) -> str:
        """The reference answer."""
        return self.answer.of(self.text.text)
