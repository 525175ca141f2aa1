"""KVQAE's fragment of the page: Tables 1 to 7, Figures 4 and 5, what was tuned, and what the numbers show."""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from trivium.files.image_shards import Images
from trivium.files.tables import read_table
from trivium.formats.questions import Question
from trivium.formats.trec import read_run_over
from trivium.harness.parameters import Parameters
from trivium.kvqae.knowledge_base.passage_texts import read_passage_texts
from trivium.measures.runs import PADDING
from trivium.page.kvqae.findings import RERANKING, findings_html, retrieval_findings
from trivium.page.kvqae.gallery import Ranking, Spans, face_boxes, gallery_items
from trivium.page.kvqae.reranking import depths_note, image_note, overlap_blocks_html, tuning_html
from trivium.page.kvqae.retrieval import (
    RERANKED_TABLES,
    WITHOUT_RRT,
    labels_of,
    reranked_labels_of,
    retrieval_html,
)

Section = dict[str, str]


class KvqaeFragmentParameters(Parameters):
    """Section `kvqae.fragment`."""

    questions: int = Field(ge=1, description="Test questions shown in the gallery")
    passages: int = Field(ge=1, description="Passages of each ranking shown with each of them")
    image_side: int = Field(ge=32, description="Pixels of the gallery's images, stored at this size")
    seed: int = Field(default=0, ge=0, description="Of the draw of questions")


def told(kvqae: Mapping[str, Any], stage: str, name: str, shared: str) -> Any:
    """A value of a stage: its own, or what the section that it shares says."""
    return kvqae[stage].get(name, kvqae[shared][name])


def section(name: str, title: str, html: str) -> Section:
    """A section of the page; `html` is escaped already."""
    return {"id": f"kvqae-{name}", "title": title, "html": html}


def reranking_sections(
    blocks: dict[str, Any],
    choice: Mapping[str, Any],
    text_alone: str,
    kvqae: Mapping[str, Any],
    printed: dict[str, Any],
    *,
    sample: bool,
) -> list[Section]:
    """Tables 5 and 6, what they show, what was seen on validation, and the split by overlap.

    Args:
        blocks: as stage `evaluate_reranking` writes them.
        choice: of stage `tune_reranking`.
        text_alone: HTML, what the cross-encoder did on validation.
        kvqae: the parameters used.
        printed: the paper's numbers.
        sample: our numbers are of a sample world.
    """
    names = ("significance", "confidence")
    level, confidence = (told(kvqae, "evaluate_reranking", name, "statistics") for name in names)
    other = {} if kvqae["rrt"]["use"] else WITHOUT_RRT
    first_stage = labels_of(kvqae["image_encoders"], kvqae["fuse"]["weights"])
    labels = reranked_labels_of(first_stage, kvqae["rerankers"]) | other
    made = []
    for name, (title, wanted) in RERANKED_TABLES.items():
        asked = [each for each in RERANKING[name] if not (other and "image" in each.rows)]  # of ArcFace + RRT
        found = retrieval_findings(blocks, asked, level)
        tables = retrieval_html(blocks, printed, wanted, level, confidence, labels, sample=sample, unlike=other)
        made.append(section(name, title, findings_html(found, depths_note(kvqae)) + tables))
    made[0]["html"] += findings_html([], image_note(choice))
    made[-1]["html"] += tuning_html(choice) + text_alone
    overlap = overlap_blocks_html(blocks, printed, level, confidence, labels)
    return [*made, section("overlap", "Overlap with the encoders’ pretraining", overlap)] if overlap else made


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
    parameters: KvqaeFragmentParameters,
    questions: Sequence[Question],
    rankings: Mapping[str, tuple[Path, Path]],
    articles: Path,
    passages: Path,
    faces: pa.Table,
    question_images: Images,
    kb_images: Images,
) -> list[dict[str, Any]]:
    """What Figure 5 shows: some questions with the first passages of each ranking.

    Args:
        parameters: of the stage.
        questions: all of the split.
        rankings: title → a run and the reader's answers on it; the last one's are the answers shown.
        articles, passages: the knowledge base.
        faces: of the questions' images.
        question_images, kb_images: pictures.
    """
    chosen = random.Random(parameters.seed).sample(questions, min(parameters.questions, len(questions)))
    ids = [question.id for question in questions]
    lists = []
    for title, (run, answers) in rankings.items():
        predictions, spans = reader_of(answers)
        ranked = read_run_over(run, ids).select(question.id for question in chosen)
        lists.append(Ranking(title, ranked, spans))
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
