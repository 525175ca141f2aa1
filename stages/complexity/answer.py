"""Ask a trained reader every evaluation question (complexity.md §2)."""

import time
from pathlib import Path

from pydantic import Field

from stages.complexity.corpora import read_examples
from stages.complexity.predictions import write_predictions
from stages.complexity.reader import Reading, load_reader
from stages.stage import Context, Parameters, run_stage


class AnswerParameters(Parameters):
    """Section `complexity.answer`."""

    batch_size: int = Field(ge=1, description="Readings together; halves itself when GPU memory runs out")


def main(
    parameters: AnswerParameters, context: Context, *, model: Path, questions: Path, texts: Path, out: Path
) -> dict[str, float]:
    """Write an answer a question to --out.

    Returns:
        `questions`, `empty` (answers without a letter), `verbatim` (share found in the text as they stand),
        `answers_per_second`.
    """
    examples = read_examples(questions, texts)
    reader = load_reader(model)
    readings = [Reading(each.id, each.question, each.text.text) for each in examples]
    began = time.perf_counter()
    answers = reader.answer(readings, parameters.batch_size)
    seconds = time.perf_counter() - began
    write_predictions(out, {reading.id: answer for reading, answer in zip(readings, answers, strict=True)})
    found = sum(bool(answer) and answer in each.context for each, answer in zip(readings, answers, strict=True))
    return {
        "questions": float(len(answers)),
        "empty": float(sum(not answer.strip() for answer in answers)),
        "verbatim": found / len(answers),
        "answers_per_second": len(answers) / seconds,
    }


if __name__ == "__main__":
    run_stage(main, "complexity.answer", AnswerParameters)
