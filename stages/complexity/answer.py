"""Ask a trained reader every evaluation question (complexity.md §2)."""

from pathlib import Path

from pydantic import Field

from trivium.complexity.readers.interface import Reading, load_reader
from trivium.formats.frame_corpora import read_examples
from trivium.formats.predictions import write_predictions
from trivium.harness.parameters import Parameters
from trivium.harness.stage import Context, run_stage

LOADS = {"trivium.complexity.readers.kinds": "complexity.finetune.models.${item.name}.kind"}  # of the family, per cell


class AnswerParameters(Parameters):
    """Section `complexity.answer`."""

    batch_size: int = Field(ge=1, description="Readings together; halves itself when GPU memory runs out")


def main(
    parameters: AnswerParameters, context: Context, *, model: Path, questions: Path, texts: Path, out: Path
) -> dict[str, float]:
    """Write an answer a question to --out.

    Returns:
        `questions`, `empty` (answers without a letter), `verbatim` (share found in the text as they stand); of readers
        that write, 0 for others: `contexts_cut` (the end of the text did not fit into the prompt),
        `answers_behind_cut` (so that the reference answer was not read, or not all of it), `not_ended` (answers cut at
        their longest).
    """
    examples = read_examples(questions, texts)
    reader = load_reader(model)
    readings = [Reading(each.id, each.question, each.text.text) for each in examples]
    answers = reader.answer(readings, parameters.batch_size)
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
    }


if __name__ == "__main__":
    run_stage(main, "complexity.answer", AnswerParameters)
