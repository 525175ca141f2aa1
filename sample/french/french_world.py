"""The French world of a seed: adaptation questions in FQuAD's role, evaluation questions and texts in Calor's.

Texts are held out, and combinations: no agent does the same thing to the same theme in a question of the adaptation
corpus and in one of the evaluation. The lexicon is shared between the splits (names, nouns and lexical units): small
models trained from nothing read no better than chance about words that they never met.
"""

import random
from dataclasses import dataclass

from sample.french.cast import Names, draw_names
from sample.french.design import CALOR, FQUAD, Cell, Style, cells
from sample.french.texts import Document, TextWriter
from trivium.formats.conllu import Sentence
from trivium.formats.framed_texts import AnnotatedText, Example
from trivium.formats.squad import SquadQuestion

_SENTENCES, _ASKED = 3, (2, 3)
_ALIKE = 0.95


class StuckError(RuntimeError):
    """The grammar found no way to say what the design asks for."""


@dataclass(frozen=True)
class FrenchWorld:
    """Everything about an invented French corpus.

    Attributes:
        fquad: adaptation questions by split (train, validation).
        texts: frame-annotated texts by split (train, validation, test); the evaluation questions are about test.
        examples: the evaluation questions.
        syntax: gold syntax of the evaluation texts, by text id.
        question_syntax: gold syntax of the evaluation questions, by question id.
        adaptation: the adaptation texts with the frames that they hold, which no model sees.
    """

    fquad: dict[str, list[SquadQuestion]]
    texts: dict[str, list[AnnotatedText]]
    examples: list[Example]
    syntax: dict[str, list[Sentence]]
    question_syntax: dict[str, list[Sentence]]
    adaptation: list[AnnotatedText]


def build_french(seed: int, *, train: int, validation: int, evaluation: int, frame_texts: int) -> FrenchWorld:
    """Build the world of a seed; the same on every machine.

    Args:
        seed: everything follows from it; other seeds have other names and other texts.
        train, validation: adaptation questions.
        evaluation: evaluation questions.
        frame_texts: annotated texts to train the frame parser on; a fifth as many to validate it.

    Raises:
        StuckError: a design that cannot be put into French.
    """
    names = draw_names(random.Random(f"french names {seed}"))
    builder = Builder(names, seed)
    test = builder.documents("calor-test", evaluation, CALOR)
    builder.hold_out()
    adaptation = {
        split: builder.documents(f"fquad-{split}", count, FQUAD)
        for split, count in (("train", train), ("validation", validation))
    }
    frame_annotated = {
        split: builder.documents(f"calor-{split}", count * max(_ASKED), CALOR)[:count]
        for split, count in (("train", frame_texts), ("validation", max(1, frame_texts // 5)))
    }
    return FrenchWorld(
        fquad={split: [to_squad(each) for one in made for each in one.examples] for split, made in adaptation.items()},
        texts={
            **{split: [one.annotated for one in made] for split, made in frame_annotated.items()},
            "test": [one.annotated for one in test],
        },
        examples=[example for one in test for example in one.examples],
        syntax={one.annotated.id: one.syntax for one in test},
        question_syntax={key: value for one in test for key, value in one.question_syntax.items()},
        adaptation=[one.annotated for made in adaptation.values() for one in made],
    )


def to_squad(example: Example) -> SquadQuestion:
    """A question with its context and answer, without frames."""
    text = example.text
    answers = ((example.answer_text, example.answer.start),)
    return SquadQuestion(example.id, text.title, text.text, example.question, answers)


class Builder:
    """Makes the texts of one split after the other, none of them twice."""

    def __init__(self, names: Names, seed: int) -> None:
        self.names, self.seed = names, seed
        self.texts: set[str] = set()
        self.asked: set[tuple[str, str, str]] = set()
        self.combinations: set[tuple[str, str, str]] = set()
        self.held_out: set[tuple[str, str, str]] = set()

    def hold_out(self) -> None:
        """Keep what has been asked so far from the texts to come."""
        self.held_out |= self.combinations

    def documents(self, name: str, questions: int, style: Style) -> list[Document]:
        """Texts with so many questions about them."""
        rng = random.Random(f"french {name} {self.seed}")
        writer = TextWriter(self.names, rng, style)
        waiting = cells(questions, style, rng)
        made: list[Document] = []
        while waiting:
            for _ in range(400):
                domain, group = _group(waiting, rng)
                document = writer.write(f"{name}-{len(made) + 1:04}", domain, group, _SENTENCES)
                if document is not None and self._is_new(document):
                    break
            else:
                raise StuckError(f"{name}: no text for {[cell.frame.name for cell in group]}")
            for cell in group:
                waiting.remove(cell)
            self._remember(document)
            made.append(document)
        return made

    def _is_new(self, document: Document) -> bool:
        return (
            document.annotated.text not in self.texts
            and not self.asked & _asked(document)
            and not self.held_out & document.combinations
        )

    def _remember(self, document: Document) -> None:
        self.texts.add(document.annotated.text)
        self.asked |= _asked(document)
        self.combinations |= document.combinations


def _asked(document: Document) -> set[tuple[str, str, str]]:
    return {(each.frame.frame, each.answer_text, each.question) for each in document.examples}


def _group(waiting: list[Cell], rng: random.Random) -> tuple[str, list[Cell]]:
    """The next few cells that can stand in one text: of one domain, none that could be taken for another.

    Mostly they are about such things as the first (towns, objects), which then take part in several events.
    """
    first = waiting[rng.randrange(min(len(waiting), 40))]
    domain = rng.choice(first.frame.domains)
    group, taken, chained, size = [first], {first.frame.near}, first.chain, rng.choice(_ASKED)
    kinds = {*first.frame.kinds.get("theme", ())}
    alike = rng.random() < _ALIKE
    for cell in sorted(waiting[:80], key=lambda cell: alike and kinds.isdisjoint(cell.frame.kinds.get("theme", ()))):
        fits = domain in cell.frame.domains and cell.frame.near not in taken and not (cell.chain and chained)
        if len(group) < size and fits:
            group.append(cell)
            taken.add(cell.frame.near)
            chained = chained or cell.chain
    return domain, group
