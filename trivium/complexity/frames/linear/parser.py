"""Triggers, frames and elements of sentences, learned from annotated ones."""

from collections.abc import Sequence

from trivium.complexity.frames.linear.elements import Asked, Elements
from trivium.complexity.frames.linear.features import Words
from trivium.complexity.frames.linear.triggers import Triggers, occurrences_of
from trivium.core.errors import BadInput
from trivium.formats.framed_texts import AnnotatedText, FrameElement, FrameInstance


class LinearFrameParser:
    """Learns from texts of one sentence each, of which it need not be known whether all triggers are annotated.

    Args:
        texts: annotated sentences.
        no_frames: names that say that an annotated word evokes no frame of the inventory (`Other_sense` of Asfalda).
        seed: of the order in which examples are seen, and of what is held back to choose penalty and threshold.

    Raises:
        BadInput: no frame with an element to learn from, or no annotated word without frame where that is needed.
    """

    def __init__(self, texts: Sequence[AnnotatedText], *, no_frames: frozenset[str], seed: int) -> None:
        read = [(text, Words.of(text.text)) for text in texts]
        frames = [(each, words) for text, words in read for each in text.frames if each.frame not in no_frames]
        asked = [found for each, words in frames if (found := Asked.of(words, each)) is not None]
        if sum(bool(each.elements) for each in asked) < 2:
            raise BadInput("no frame with elements to learn from", got=f"{len(texts)} texts", expected="two or more")
        self._cores = {(each.frame, element.name): element.core for each, _ in frames for element in each.elements}
        self._triggers = Triggers(
            [each for text, words in read for each in occurrences_of(text, words, no_frames)], seed
        )
        self._elements = Elements(asked, seed)

    def parse(self, texts: Sequence[str]) -> list[list[FrameInstance]]:
        """Frames of each sentence with their elements, as the parser finds them."""
        return self.with_elements(texts, [self._triggers.find(Words.of(text)) for text in texts])

    def frames_of(self, text: str, given: Sequence[FrameInstance]) -> list[str]:
        """The frame of each given trigger; its lexical unit is told, its frame is not looked at."""
        words = Words.of(text)
        return [self._triggers.frame(words, each.lexical_unit) for each in given]

    def with_elements(
        self, texts: Sequence[str], given: Sequence[Sequence[FrameInstance]]
    ) -> list[list[FrameInstance]]:
        """Given frames of each sentence with the elements that the parser finds; theirs are not looked at."""
        asked, places = [], []
        for number, (text, frames) in enumerate(zip(texts, given, strict=True)):
            words = Words.of(text)
            for place, each in enumerate(frames):
                if (question := Asked.of(words, FrameInstance(each.frame, each.lexical_unit, ()))) is not None:
                    asked.append(question)
                    places.append((number, place))
        result = [[FrameInstance(each.frame, each.lexical_unit, ()) for each in frames] for frames in given]
        for (number, place), found, named in zip(places, asked, self._elements.find(asked), strict=True):
            elements = tuple(
                FrameElement(name, found.words.characters(first, after), self._cores[found.frame, name])
                for name, first, after in named
            )
            result[number][place] = FrameInstance(found.frame, result[number][place].lexical_unit, elements)
        return result
