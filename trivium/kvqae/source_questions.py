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
    """The questions that those of a folder of ViQuAE were made from, of all splits.

    TriviaQA asks some questions twice, under two ids, so words are compared; normalised, as answers are.

    Attributes:
        texts: normalised.
        unknown: how many of ViQuAE's questions do not say what they were made from.
    """

    texts: frozenset[str]
    unknown: int

    @classmethod
    def of(cls, viquae: Path) -> Self:
        """Read all splits of a folder of questions."""
        originals = [
            question.original_question for split in SPLITS for question in read_questions(viquae / f"{split}.jsonl")
        ]
        texts = frozenset(normalize_answer(fold(text)) for text in originals if text is not None)
        return cls(texts, sum(text is None for text in originals))

    def __contains__(self, text: str) -> bool:
        return normalize_answer(fold(text)) in self.texts


def check_no_leak(viquae: Path, triviaqa: Path) -> int:
    """Refuse a TriviaQA training question that some ViQuAE question, of any split, was made from.

    Whoever writes these files (`kvqae-world`, `kvqae-rebuild`) leaves such questions out: this one was changed since.

    Returns:
        How many ViQuAE questions do not say what they were made from, and could not be checked.

    Raises:
        BadInput: names the first one.
    """
    sources = SourceQuestions.of(viquae)
    for row, question in enumerate(read_questions(triviaqa / "train.jsonl"), 1):
        if question.text in sources:
            problem = "training question that a ViQuAE question was made from"
            raise BadInput(problem, file=triviaqa / "train.jsonl", row=row, field="input", got=question.text)
    return sources.unknown
