"""KVQAE's fragment of the page: Tables 2, 3, 4 and 7, Figure 4, tuning curves, and a gallery of questions."""

import random
from pathlib import Path

import pyarrow.compute as pc
import yaml
from pyarrow import csv
from pydantic import Field

from stages.kvqae.passage_texts import read_passage_texts
from stages.kvqae.questions import read_questions
from stages.measures.runs import PADDING
from stages.report.common import environment, sizes_html
from stages.report.gallery import gallery_items, pictures_missing
from stages.report.kvqae_reading import READING_ROWS, difficulty_html, reading_html, sweep_html
from stages.report.kvqae_retrieval import TABLES, overlap_html, retrieval_html
from stages.stage import Context, Parameters, read_parameters, run_stage
from stages.tables import Images, read_json, read_run_over, read_table, write_json


class KvqaeFragmentParameters(Parameters):
    """Section `kvqae.fragment`."""

    questions: int = Field(ge=1, description="Test questions shown in the gallery")
    passages: int = Field(ge=1, description="Passages shown with each of them")
    image_side: int = Field(ge=32, description="Pixels of the gallery's images, stored at this size")
    seed: int = Field(ge=0, description="Of the draw of questions")


def main(
    parameters: KvqaeFragmentParameters,
    context: Context,
    *,
    evaluation: Path,
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
    answers: Path,
    run: Path,
    routing: Path,
    articles: Path,
    passages: Path,
    question_images: Path,
    kb_images: Path,
    out: Path,
) -> dict[str, float]:
    """Render KVQAE's sections."""
    printed = yaml.safe_load(published.read_text(encoding="utf-8"))
    parameters_used = read_parameters(used)
    blocks = read_json(evaluation)
    level = parameters_used["kvqae"]["evaluate"]["significance"]
    sections = [
        {"id": f"kvqae-{section}", "title": title, "html": retrieval_html(blocks, printed, section, level)}
        for section, (title, _) in TABLES.items()
    ]
    read_metrics = read_json(reading)
    table_7 = reading_html(read_metrics, printed, READING_ROWS, len(parameters_used["kvqae"]["read"]["seeds"]))
    table_7 += sweep_html(csv.read_csv(sweep))
    sections.append({"id": "kvqae-table-7", "title": "Table 7: reading", "html": table_7})
    stems = bool(read_json(overlap_metrics)["stems_instead_of_lemmas"])
    figure_4 = overlap_html(read_table(overlap), stems)
    sections.append({"id": "kvqae-figure-4", "title": "Figure 4: lexical overlap", "html": figure_4})
    confidence = parameters_used["kvqae"]["difficulty"]["confidence"]
    hard = difficulty_html(csv.read_csv(difficulty).to_pylist(), read_json(difficulty_metrics), confidence)
    sections.append({"id": "kvqae-difficulty", "title": "What makes questions hard", "html": hard})
    answered = read_table(answers, ["id", "seed", "prediction"])
    first_seed = answered.filter(pc.equal(answered["seed"], answered["seed"][0])).to_pylist()
    routes = read_table(routing, ["question", "face"]).to_pylist()
    everyone = read_questions(questions)
    chosen = random.Random(parameters.seed).sample(everyone, min(parameters.questions, len(everyone)))
    fused = read_run_over(run, [question.id for question in everyone]).select(question.id for question in chosen)
    shown = fused.documents[:, : parameters.passages]
    items = gallery_items(
        chosen,
        {row["id"]: row["prediction"] for row in first_seed},
        {row["question"]: row["face"] for row in routes},
        fused,
        read_table(articles, ["image"]),
        read_table(passages, ["article"])["article"].to_numpy(),
        read_passage_texts(passages, articles, shown[shown != PADDING]),
        Images(question_images),
        Images(kb_images),
        passages=parameters.passages,
        image_side=parameters.image_side,
    )
    filters = [("all", "All"), ("right", "Right"), ("wrong", "Wrong"), ("face", "Face found"), ("no-face", "No face")]
    gallery = environment().get_template("gallery.html").render(items=items, filters=filters, seed=parameters.seed)
    sections.append({"id": "kvqae-gallery", "title": "Gallery", "html": gallery})
    sizes = sizes_html({"kvqae": parameters_used["kvqae"]}, read_parameters(paper))
    sections.append({"id": "kvqae-sizes", "title": "Sizes used", "html": sizes})
    title = "KVQAE: answering questions about the named entity in an image"
    fragment = {"pipeline": "kvqae", "title": title, "world": parameters_used["world"]["kvqae"], "sections": sections}
    write_json(out, fragment)
    return {
        "gallery_questions": float(len(items)),
        "gallery_right": float(sum(item["right"] for item in items)),
        "gallery_pictures_missing": float(pictures_missing(items)),
    }


if __name__ == "__main__":
    run_stage(main, "kvqae.fragment", KvqaeFragmentParameters)
