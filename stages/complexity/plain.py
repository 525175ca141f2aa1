"""Stage `complexity-plain`. Questions without frames: a reader's answers, and what makes them hard for it."""

from pathlib import Path

from trivium.complexity.difficulty.analysis import difficulty
from trivium.complexity.difficulty.material import DifficultySettings
from trivium.complexity.factors.corpora import lexical_units, predicted_units
from trivium.complexity.factors.free_factors import frame_of_answer, predicted_factors
from trivium.complexity.frames.parser_folder import load_parser
from trivium.complexity.readers.interface import Reading, load_reader
from trivium.core.parameters import shared
from trivium.core.stage import stage
from trivium.formats.answer_files import write_predictions
from trivium.formats.frame_corpora import read_texts
from trivium.formats.question_sets import read_question_set
from trivium.page.difficulty import write_difficulty

LOADS = {"trivium.complexity.readers.kinds": "complexity.finetune.models.${key}.kind"}  # of the family, per cell


class PlainParameters(DifficultySettings):
    """Section `complexity.plain`, with how many questions a reader answers together."""

    batch_size: int = shared(
        "complexity.answer.batch_size", ge=1, description="Readings together; halves itself when GPU memory runs out"
    )


@stage("complexity.plain", metrics="metrics/complexity/plain_{name}.json")
def main(
    parameters: PlainParameters,
    *,
    name: str,
    seed: int,
    model: Path = Path("models/complexity/readers/{name}/seed-{seed}"),
    questions: Path = Path("data/complexity/raw/fquad/evaluation.json"),
    parser: Path = Path("models/complexity/frame_parser"),
    adaptation: Path = Path("data/complexity/fquad_frames.parquet"),
    training: Path = Path("data/complexity/raw/calor/frames/train.jsonl"),
    out_answers: Path = Path("data/complexity/plain/{name}.jsonl"),
    out: Path = Path("metrics/complexity/plain/{name}"),
) -> dict[str, float]:
    """Write the answers, and to --out the page and files of `trivium difficulty`, with f0 and f6 of predicted frames.

    Returns:
        The numbers of the analysis, and `questions_with_frame`: those whose answer is in a predicted frame.
    """
    question_set = read_question_set(questions)
    readings = [Reading(row.id, row.question, row.context) for row in question_set.questions]
    replies = load_reader(model).answer(readings, parameters.batch_size)
    answers = {reading.id: reply.text for reading, reply in zip(readings, replies, strict=True)}
    write_predictions(out_answers, answers)
    frame_parser, contexts = load_parser(parser), list(dict.fromkeys(reading.context for reading in readings))
    frames = dict(zip(contexts, frame_parser.parse(contexts), strict=True))
    units = lexical_units(read_texts(training))
    result = difficulty(
        question_set,
        {name: answers},
        language="fr",
        settings=DifficultySettings(**parameters.model_dump(exclude={"batch_size"})),
        more=predicted_factors(question_set.questions, frames, predicted_units(adaptation), units),
    )
    write_difficulty(result, out, title=f"Questions without frames, answered by {name}")
    framed = [frame_of_answer(row.place, frames[row.context]) is not None for row in question_set.questions]
    return result.metrics | {"questions_with_frame": float(sum(framed))}
