"""KVQAE's fragment of the page: Tables 1 to 7, Figures 4 and 5, what was tuned, and what the numbers show."""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import yaml
from pyarrow import csv
from pydantic import Field

from stages.image_shards import Images
from stages.kvqae.passage_texts import read_passage_texts
from stages.kvqae.questions import Question, read_questions
from stages.measures.runs import PADDING
from stages.report.common import environment, sizes_html
from stages.report.gallery import Ranking, Spans, face_boxes, gallery_items, pictures_missing
from stages.report.kvqae_construction import construction_html, statistics_html
from stages.report.kvqae_findings import RERANKING, RETRIEVAL, findings_html, reading_findings, retrieval_findings
from stages.report.kvqae_reading import READING_ROWS, difficulty_html, reading_html, sweep_html
from stages.report.kvqae_reranking import cross_encoder_html, depths_note, image_note, overlap_blocks_html, tuning_html
from stages.report.kvqae_retrieval import (
    LABELS,
    RERANKED_LABELS,
    RERANKED_TABLES,
    TABLES,
    WITHOUT_RRT,
    overlap_html,
    retrieval_html,
)
from stages.stage import Context, Parameters, read_parameters, run_stage
from stages.tables import read_json, read_table, write_json
from stages.trec import read_run_over

FILTERS = [("all", "All"), ("right", "Right"), ("wrong", "Wrong"), ("face", "Face found"), ("no-face", "No face")]
Section = dict[str, str]


class KvqaeFragmentParameters(Parameters):
    """Section `kvqae.fragment`."""

    questions: int = Field(ge=1, description="Test questions shown in the gallery")
    passages: int = Field(ge=1, description="Passages of each ranking shown with each of them")
    image_side: int = Field(ge=32, description="Pixels of the gallery's images, stored at this size")
    seed: int = Field(ge=0, description="Of the draw of questions")


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
    level, confidence = (kvqae["evaluate_reranking"][name] for name in ("significance", "confidence"))
    other = {} if kvqae["rrt"]["use"] else WITHOUT_RRT
    labels = RERANKED_LABELS | other
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


def main(
    parameters: KvqaeFragmentParameters,
    context: Context,
    *,
    construction: Sequence[Path],
    evaluation: Path,
    reranking: Path,
    reranking_choice: Path,
    cross_encoder: Path,
    reading: Path,
    overlap: Path,
    overlap_metrics: Path,
    sweep: Path,
    difficulty: Path,
    difficulty_metrics: Path,
    published: Path,
    used: Path,
    paper: Path,
    questions: Path,
    run: Path,
    answers: Path,
    reranked_run: Path,
    reranked_answers: Path,
    faces: Path,
    articles: Path,
    passages: Path,
    question_images: Path,
    kb_images: Path,
    out: Path,
) -> dict[str, float]:
    """Render KVQAE's sections; `construction` are metrics files named as their stages.

    `cross_encoder` is the metrics file of its fine-tuning.
    """
    printed = yaml.safe_load(published.read_text(encoding="utf-8"))
    parameters_used = read_parameters(used)
    kvqae, world = parameters_used["kvqae"], parameters_used["world"]["kvqae"]
    sample = world == "sample"
    level = kvqae["evaluate"]["significance"]
    steps = {path.stem: read_json(path) for path in construction}
    blocks, read_metrics = read_json(evaluation), read_json(reading)
    trained = kvqae["rerank_finetune"]
    text_alone = cross_encoder_html(
        read_json(cross_encoder),
        questions=trained["validation_questions"],
        passages=trained["validation_passages"],
        depth=kvqae["rerank_text"]["depth"],
    )
    sections = [
        section("table-1", "Table 1: the data set", statistics_html(steps.get("rebuild", {}), printed)),
        section("construction", "From TriviaQA to the data set", construction_html(steps, printed)),
        *(
            section(
                name,
                title,
                findings_html(retrieval_findings(blocks, RETRIEVAL.get(name, ()), level))
                + retrieval_html(
                    blocks, printed, wanted, level, kvqae["evaluate"]["confidence"], LABELS, sample=sample
                ),
            )
            for name, (title, wanted) in TABLES.items()
        ),
        *reranking_sections(
            read_json(reranking), read_json(reranking_choice), text_alone, kvqae, printed, sample=sample
        ),
    ]
    table_7 = findings_html(reading_findings(read_metrics, level), depths_note(kvqae))
    table_7 += reading_html(read_metrics, printed, READING_ROWS, len(kvqae["read"]["seeds"]), sample=sample)
    table_7 += sweep_html(csv.read_csv(sweep))
    sections.append(section("table-7", "Table 7: reading", table_7))
    stems = bool(read_json(overlap_metrics)["stems_instead_of_lemmas"])
    sections.append(section("figure-4", "Figure 4: lexical overlap", overlap_html(read_table(overlap), stems)))
    items = gallery(
        parameters,
        read_questions(questions),
        {"Multimodal retrieval": (run, answers), "Re-ranked by text and image": (reranked_run, reranked_answers)},
        articles,
        passages,
        read_table(faces, ["name", "width", "height", "detected", "box"]),
        Images(question_images),
        Images(kb_images),
    )
    figure_5 = environment().get_template("gallery.html").render(items=items, filters=FILTERS, seed=parameters.seed)
    sections.append(section("gallery", "Figure 5: questions and their first results", figure_5))
    confidence = kvqae["difficulty"]["confidence"]
    hard = difficulty_html(csv.read_csv(difficulty).to_pylist(), read_json(difficulty_metrics), confidence)
    sections.append(section("difficulty", "What makes questions hard", hard))
    sections.append(section("sizes", "Sizes used", sizes_html({"kvqae": kvqae}, read_parameters(paper))))
    title = "KVQAE: answering questions about the named entity in an image"
    write_json(out, {"pipeline": "kvqae", "title": title, "world": world, "sections": sections})
    return {
        "gallery_questions": float(len(items)),
        "gallery_right": float(sum(item["right"] for item in items)),
        "gallery_pictures_missing": float(pictures_missing(items)),
    }


if __name__ == "__main__":
    run_stage(main, "kvqae.fragment", KvqaeFragmentParameters)
