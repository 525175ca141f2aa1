"""French world of a seed: adaptation questions in FQuAD's role, evaluation questions and texts in Calor's.

Texts and combinations are held out: no agent does the same thing to the same theme in a question of the adaptation
corpus and in one of the evaluation. The splits share the lexicon (names, nouns and lexical units), since small models
without pretraining read words that they have never met no better than by chance.
"""

import random
from dataclasses import dataclass
from pathlib import Path

from sample.french.cast import Cast, draw_names
from sample.french.design import CALOR, FQUAD, Cell, Style, draw_cells
from sample.french.texts import Document, draw_title, make_document, tell_text
from trivium.formats.conllu import Sentence, write_conllu
from trivium.formats.frame_corpora import write_examples, write_texts
from trivium.formats.framed_texts import AnnotatedText, Example
from trivium.formats.squad import SquadQuestion, write_squad

_SENTENCES, _QUESTIONS = 3, (2, 3)  # numbers of sentences and questions of a text
_ALIKE = 0.95


class StuckError(RuntimeError):
    """The grammar cannot express what the design requires."""


@dataclass(frozen=True)
class FrenchWorld:
    """Invented French corpora of a seed.

    Attributes:
        fquad: adaptation questions by split (train, validation).
        texts: frame-annotated texts by split (train, validation, test); the evaluation questions are about test.
        examples: the evaluation questions.
        syntax: gold syntax of the evaluation texts, by text id.
        question_syntax: gold syntax of the evaluation questions, by question id.
    """

    fquad: dict[str, list[SquadQuestion]]
    texts: dict[str, list[AnnotatedText]]
    examples: list[Example]
    syntax: dict[str, list[Sentence]]
    question_syntax: dict[str, list[Sentence]]


def build_french(seed: int, *, train: int, validation: int, evaluation: int, frame_texts: int) -> FrenchWorld:
    """Build the world of a seed, the same on every machine.

    Args:
        seed: determines everything; other seeds have other names and other texts.
        train, validation: numbers of adaptation questions.
        evaluation: number of evaluation questions.
        frame_texts: number of annotated texts that train the frame parser; a fifth as many validate it.

    Raises:
        StuckError: the design cannot be expressed in French.
    """
    builder = Builder(seed)
    test = builder.documents("calor-test", evaluation, CALOR)
    builder.hold_out()
    fquad = {
        split: builder.questions(f"fquad-{split}", count, FQUAD)
        for split, count in (("train", train), ("validation", validation))
    }
    texts = {
        split: [text.annotated for text in builder.documents(f"calor-{split}", count * max(_QUESTIONS), CALOR)[:count]]
        for split, count in (("train", frame_texts), ("validation", max(1, frame_texts // 5)))
    }
    return FrenchWorld(
        fquad=fquad,
        texts={**texts, "test": [text.annotated for text in test]},
        examples=[example for text in test for example in text.examples],
        syntax={text.annotated.id: text.syntax for text in test},
        question_syntax={key: syntax for text in test for key, syntax in text.question_syntax.items()},
    )


def write_fquad(world: FrenchWorld, out: Path) -> dict[str, Path]:
    """Write `train.json` and `validation.json`; returns them by split."""
    for split, questions in world.fquad.items():
        write_squad(out / f"{split}.json", questions)
    return {split: out / f"{split}.json" for split in world.fquad}


def write_calor(world: FrenchWorld, out: Path) -> dict[str, Path]:
    """Write `questions.jsonl`, `frames/` and `syntax.conllu`; returns the texts' files by split."""
    for split, texts in world.texts.items():
        write_texts(out / "frames" / f"{split}.jsonl", texts)
    write_examples(out / "questions.jsonl", world.examples)
    write_conllu(out / "syntax.conllu", world.syntax, {text.id: text.text for text in world.texts["test"]})
    return {split: out / "frames" / f"{split}.jsonl" for split in world.texts}


class Builder:
    """Makes the texts of a world, one split after the other, all of them different."""

    def __init__(self, seed: int) -> None:
        self.seed, self.names = seed, draw_names(random.Random(f"french names {seed}"))
        self.texts: set[str] = set()
        self.questions_put: set[tuple[str, str, str]] = set()
        self.combinations: set[tuple[str, str, str]] = set()
        self.held_out: set[tuple[str, str, str]] = set()

    def hold_out(self) -> None:
        """Exclude what has been asked so far from later texts."""
        self.held_out |= self.combinations

    def questions(self, name: str, count: int, style: Style) -> list[SquadQuestion]:
        """Make `count` questions with their contexts."""
        questions = []
        for example in (example for document in self.documents(name, count, style) for example in document.examples):
            text, answers = example.text, ((example.answer_text, example.answer.start),)
            questions.append(SquadQuestion(example.id, text.title, text.text, example.question, answers))
        return questions

    def documents(self, name: str, questions: int, style: Style) -> list[Document]:
        """Make texts with so many questions about them."""
        rng = random.Random(f"french {name} {self.seed}")
        waiting = draw_cells(questions, style, rng)
        made: list[Document] = []
        while waiting:
            for _ in range(400):
                domain, group = _group(waiting, rng)
                cast = Cast(domain, self.names, rng)
                statements = tell_text(cast, group, _SENTENCES, style)
                if statements is not None:
                    document = make_document(f"{name}-{len(made) + 1:04}", draw_title(cast), statements)
                    if self._take_new(document):
                        break
            else:
                raise StuckError(f"{name}: no text for {[cell.frame.name for cell in group]}")
            for cell in group:
                waiting.remove(cell)
            made.append(document)
        return made

    def _take_new(self, document: Document) -> bool:
        """Whether a text and its questions are new and not held out; if so, remember them."""
        text = document.annotated.text
        put = {(example.frame.frame, example.answer_text, example.question) for example in document.examples}
        if text in self.texts or self.questions_put & put or self.held_out & document.combinations:
            return False
        self.texts.add(text)
        self.questions_put |= put
        self.combinations |= document.combinations
        return True


def _group(waiting: list[Cell], rng: random.Random) -> tuple[str, list[Cell]]:
    """Take the next few cells that fit into one text: of one domain, no two frames that could be mistaken.

    Most are about the same kinds of things as the first one (towns, objects), which then take part in several events.
    """
    first = waiting[rng.randrange(min(len(waiting), 40))]
    domain = rng.choice(first.frame.domains)
    group, taken, chained, size = [first], {first.frame.near}, first.chain, rng.choice(_QUESTIONS)
    kinds = {*first.frame.kinds.get("theme", ())}
    alike = rng.random() < _ALIKE
    for cell in sorted(waiting[:80], key=lambda cell: alike and kinds.isdisjoint(cell.frame.kinds.get("theme", ()))):
        fits = domain in cell.frame.domains and cell.frame.near not in taken and not (cell.chain and chained)
        if len(group) < size and fits:
            group.append(cell)
            taken.add(cell.frame.near)
            chained = chained or cell.chain
    return domain, group
