"""What Figure 5 shows: questions drawn by a seed, half answered right, with the first passages of each ranking."""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from trivium.core.image_shards import Images
from trivium.core.parameters import Parameters
from trivium.core.tables import read_table
from trivium.formats.questions import Question
from trivium.formats.trec import read_run_over
from trivium.kvqae.knowledge_base.passage_texts import read_passage_texts
from trivium.measures.answers import exact_match
from trivium.measures.runs import PADDING
from trivium.page.common import half_each
from trivium.page.kvqae.gallery import Ranking, Spans, face_boxes, gallery_items


class GalleryParameters(Parameters):
    """Section `kvqae.page.gallery`."""

    elsewhere: ClassVar = {"world": "world.kvqae"}
    world: str = Field(description="Where the data comes from")
    questions: int = Field(ge=1, description="Test questions shown in the gallery")
    passages: int = Field(ge=1, description="Passages of each ranking shown with each of them")
    image_side: int = Field(ge=32, description="Pixels of the gallery's images, stored at this size")
    seed: int = Field(default=0, ge=0, description="Of the draw of questions")


def reader_of(answers: Path) -> tuple[dict[str, str], dict[str, Spans]]:
    """The first seed's answers of a row, and by question the best span of every passage that it read."""
    columns = ["id", "seed", "prediction", "passages", "starts", "ends"]
    read = read_table(answers, columns)
    seed = read["seed"][0]
    rows = (read.filter(pc.equal(read["seed"], seed)) if seed.is_valid else read).to_pylist()
    spans: dict[str, Spans] = {
        row["id"]: dict(zip(row["passages"], zip(row["starts"], row["ends"], strict=True), strict=True)) for row in rows
    }
    return {row["id"]: row["prediction"] for row in rows}, spans


def gallery(
    parameters: GalleryParameters,
    questions: Sequence[Question],
    rankings: Mapping[str, tuple[Path, Path]],
    articles: Path,
    passages: Path,
    faces: pa.Table,
    question_images: Images,
    kb_images: Images,
) -> list[dict[str, Any]]:
    """What Figure 5 shows: some questions, answered right and wrong, with the first passages of each ranking.

    Args:
        parameters: of the stage.
        questions: all of the split.
        rankings: title → a run and the reader's answers on it; the last one's are the answers shown.
        articles, passages: the knowledge base.
        faces: of the questions' images.
        question_images, kb_images: pictures.
    """
    read = {title: reader_of(answers) for title, (_, answers) in rankings.items()}
    predictions = list(read.values())[-1][0]
    sides: tuple[list[Question], list[Question]] = [], []
    for question in questions:
        sides[exact_match(predictions.get(question.id, ""), question.answers)].append(question)
    chosen = half_each(*sides, parameters.questions, random.Random(parameters.seed))
    ids = [question.id for question in questions]
    lists = []
    for title, (run, _) in rankings.items():
        ranked = read_run_over(run, ids).select(question.id for question in chosen)
        lists.append(Ranking(title, ranked, read[title][1]))
    shown = np.concatenate([ranking.run.documents[:, : parameters.passages].ravel() for ranking in lists])
    return gallery_items(
        chosen,
        predictions,
        face_boxes(faces.to_pylist()),
        lists,
        read_table(articles, ["image"]),
        read_table(passages, ["article"])["article"].to_numpy(),
        read_passage_texts(passages, articles, np.unique(shown[shown != PADDING])),
        question_images,
        kb_images,
        passages=parameters.passages,
        image_side=parameters.image_side,
    )
