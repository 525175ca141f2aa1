"""Whether events of a text share participants: what a question names is then no sign of one event alone."""

from collections.abc import Sequence

from trivium.formats.framed_texts import Example, FrameInstance
from trivium.measures.french import words

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
