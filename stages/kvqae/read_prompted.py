"""Stage `kvqae-read_prompted`. Get answers of a model behind an endpoint, one cell for each model."""

from pathlib import Path

import numpy as np
import pyarrow as pa
from pydantic import Field

from trivium.core.image_shards import Images
from trivium.core.parameters import Parameters, shared
from trivium.core.stage import stage
from trivium.core.tables import write_json, write_table
from trivium.core.tracking import project_root
from trivium.formats.questions import read_questions
from trivium.kvqae.knowledge_base.passage_texts import read_passage_texts
from trivium.kvqae.reader.inputs import read_best
from trivium.kvqae.reader.prompted import JOURNAL, PromptedReader, answer_questions, known_training, measure_words
from trivium.measures.runs import PADDING
from trivium.prompting.answer_cache import AnswerCache


class ReadPromptedParameters(Parameters):
    """Section `kvqae.read_prompted`."""

    settings: PromptedReader = shared(
        "kvqae.prompted_readers.{reader}", description="The entry in `kvqae.prompted_readers`"
    )
    instruction: str = Field(min_length=1, description="Opens every message")
    max_pixels: int = shared("kvqae.pictures.max_pixels", ge=1, description="Pictures with more are not decoded")


@stage("kvqae.read_prompted", metrics="metrics/kvqae/read_prompted_{reader}.json")
def main(
    parameters: ReadPromptedParameters,
    *,
    reader: str,
    questions: Path = Path("data/kvqae/{kvqae.dataset}/viquae/test.jsonl"),
    images: Path = Path("data/kvqae/{kvqae.dataset}/images/questions"),
    run: Path,
    kb: Path = Path("data/kvqae/kb"),
    out_cache: Path = Path("data/kvqae/prompt_cache/{reader}"),
    out: Path = Path("data/kvqae/prompted/{reader}"),
) -> dict[str, float]:
    """Write `answers.parquet` (question, prediction, em, f1, contains) and `reader.json` (its description) into `out`.

    Answers in `out_cache` are first added to the journal; in the end `out_cache` has all answers of the journal.
    """
    model = parameters.settings
    queries = read_questions(questions)
    nothing = np.empty((len(queries), 0), np.int64)
    documents = read_best(run / "test.trec", queries, model.passages).documents if model.reads else nothing
    cache = AnswerCache(project_root() / JOURNAL)
    cache.merge(out_cache)
    answers, counts = answer_questions(
        model,
        parameters.instruction,
        queries,
        [row[row != PADDING].tolist() for row in documents],
        read_passage_texts(kb, documents),
        Images(images) if model.looks else None,
        cache,
        max_pixels=parameters.max_pixels,
    )
    values = measure_words(queries, answers)
    note = known_training(model.model, model.label)
    columns = {"question": [question.id for question in queries], "prediction": answers, **values}
    write_table(out / "answers.parquet", pa.table(columns))
    record = {"label": model.label, "model": model.model, "sees": model.sees, "known_training": note}
    write_json(out / "reader.json", record)
    cache.copy_to(out_cache)
    metrics = {name: float(measured.mean()) for name, measured in values.items()}
    metrics |= {"questions": float(len(queries)), "known_to_have_trained_on_it": float(bool(note))}
    return metrics | {name: float(count) for name, count in counts.items()}
