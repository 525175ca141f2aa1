"""A trained reader's answers to every evaluation question, as a task of the engine (complexity.md §2)."""

from pathlib import Path

from trivium.complexity.readers.interface import Reading, load_reader
from trivium.core.tasks import Curve, Metrics, Point
from trivium.formats.frame_corpora import read_examples
from trivium.formats.predictions import write_predictions


def answer_job(
    checkpoints: Path, *, model: Path, questions: Path, texts: Path, batch_size: int, out: Path, log: Curve
) -> tuple[Metrics, list[Point]]:
    """Write an answer a question; a few minutes' work, without checkpoints.

    All questions stay together: how they stand in batches may turn a tie between two answers.

    Args:
        checkpoints: not used.
        model: folder of the reader.
        questions, texts: see `read_examples`.
        batch_size: readings together.
        out: file of the answers.
        log: takes nothing.

    Returns:
        `questions`, `empty` (answers without a letter), `verbatim` (share found in the text as they stand); of readers
        that write, 0 for others: `contexts_cut` (the end of the text did not fit into the prompt),
        `answers_behind_cut` (so that the reference answer was not read, or not all of it), `not_ended` (answers cut at
        their longest).
    """
    examples = read_examples(questions, texts)
    reader = load_reader(model)
    readings = [Reading(each.id, each.question, each.text.text) for each in examples]
    answers = reader.answer(readings, batch_size)
    pairs = list(zip(examples, answers, strict=True))
    write_predictions(out, {each.id: answer.text for each, answer in pairs})
    found = sum(bool(answer.text) and answer.text in each.text.text for each, answer in pairs)
    return {
        "questions": float(len(answers)),
        "empty": float(sum(not answer.text.strip() for answer in answers)),
        "verbatim": found / len(answers),
        "contexts_cut": float(sum(answer.read < len(each.text.text) for each, answer in pairs)),
        "answers_behind_cut": float(sum(answer.read < each.answer.end for each, answer in pairs)),
        "not_ended": float(sum(not answer.ended for answer in answers)),
    }, log.points
