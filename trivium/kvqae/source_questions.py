"""The TriviaQA questions that ViQuAE's were made from: nobody may train on them (kvqae.md §2)."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from trivium.core.errors import BadInput
from trivium.core.folding import fold
from trivium.formats.questions import SPLITS, read_questions
from trivium.measures.answers import normalize_answer


@dataclass(frozen=True)
class SourceQuestions:
    """The normalised texts of the questions that ViQuAE's, of all splits, were made from.

    TriviaQA asks some questions twice, under two ids, so texts are compared. `unknown` counts the questions that do not
    say what they were made from.
    """

    texts: frozenset[str]
    unknown: int

    @classmethod
    def of(cls, viquae: Path) -> Self:
        """Read all splits of a folder of ViQuAE's questions."""
        originals = [
            question.original_question for split in SPLITS for question in read_questions(viquae / f"{split}.jsonl")
        ]
        texts = frozenset(normalize_answer(fold(text)) for text in originals if text is not None)
        return cls(texts, sum(text is None for text in originals))

    def __contains__(self, text: str) -> bool:
        return normalize_answer(fold(text)) in self.texts


def check_no_leak(viquae: Path, triviaqa: Path) -> int:
    """Refuse a TriviaQA training question that some ViQuAE question, of any split, was made from.

    Returns how many ViQuAE questions do not say what they were made from, and could not be checked.
    """
    sources = SourceQuestions.of(viquae)
    for row, question in enumerate(read_questions(triviaqa / "train.jsonl"), 1):
        if question.text in sources:
            problem = "training question that a ViQuAE question was made from"
            raise BadInput(problem, file=triviaqa / "train.jsonl", row=row, field="input", got=question.text)
    return sources.unknown
