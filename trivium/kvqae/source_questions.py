"""Find the TriviaQA questions that ViQuAE's were made from, which no training may use (kvqae.md §2)."""

from pathlib import Path

from trivium.core.errors import BadInput
from trivium.core.folding import fold
from trivium.formats.questions import SPLITS, read_questions
from trivium.measures.answers import normalize_answer


def normalize_question(text: str) -> str:
    """Normalise a question for comparison, since some are in TriviaQA twice, under two ids."""
    return normalize_answer(fold(text))


def source_questions(viquae: Path) -> tuple[set[str], int]:
    """List the normalised questions that a folder's questions, of all splits, were made from.

    Returns also how many of the folder's questions do not state their original.
    """
    originals = [
        question.original_question for split in SPLITS for question in read_questions(viquae / f"{split}.jsonl")
    ]
    return {normalize_question(text) for text in originals if text is not None}, originals.count(None)


def check_no_leak(viquae: Path, triviaqa: Path) -> int:
    """Refuse a TriviaQA training question that some ViQuAE question, of any split, was made from.

    Returns how many ViQuAE questions do not state their original, and could not be checked.
    """
    sources, unknown = source_questions(viquae)
    for row, question in enumerate(read_questions(triviaqa / "train.jsonl"), 1):
        if normalize_question(question.text) in sources:
            problem = "training question that a ViQuAE question was made from"
            raise BadInput(problem, file=triviaqa / "train.jsonl", row=row, field="input", got=question.text)
    return unknown
