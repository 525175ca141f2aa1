"""KVQAE's fragment of the page: Tables 2, 3, 4 and 7, Figure 4, tuning curves, and a gallery of questions."""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import yaml
from numpy.typing import NDArray
from pyarrow import csv
from pydantic import Field

from stages.kvqae.evaluate import BEYOND
from stages.kvqae.passage_texts import PassageTexts, read_passage_texts
from stages.kvqae.questions import Question, read_questions
from stages.measures.answers import AnswerMatcher, exact_match
from stages.measures.runs import PADDING, Run
from stages.report.figures import boxes, curves
from stages.report.gallery import highlight, thumbnail
from stages.report.page import environment
from stages.stage import Context, Parameters, read_parameters, run_stage
from stages.tables import Images, read_json, read_run_over, read_table, write_json

NO_PICTURE = "data:,"  # what stands for an image that cannot be read
MEASURES = (
    {"name": "mrr", "label": "MRR"},
    {"name": "precision@1", "label": "P@1"},
    {"name": "precision@20", "label": "P@20"},
    {"name": "hits@20", "label": "Hits@20"},
)
LABELS = {
    "arcface": "F·A (ArcFace, face detected)",
    "imagenet": "(1−F)·I (ImageNet, no face)",
    "clip": "(1−F)·C (CLIP, no face)",
    "bm25": "B (BM25, text only)",
    "dpr_zero_shot": "D₀ (DPR zero-shot, text only)",
    "dpr_few_shot": "D_f (DPR few-shot, text only)",
    "image": "F·A + (1−F)(I + C)",
    "bm25_image": "B + F·A + (1−F)(I + C)",
    "dpr_zero_shot_image": "D₀ + F·A + (1−F)(I + C)",
    "dpr_few_shot_image": "D_f + F·A + (1−F)(I + C)",
    "bm25_dpr_few_shot": "B + D_f",
    "bm25_dpr_few_shot_image": "B + D_f + F·A + (1−F)(I + C)",
    "rrf": "Reciprocal-rank fusion of all",
}
# Our rows of the reader, and the paper's row that each stands beside; the re-ranked ones wait for re-ranking.
READING_ROWS: dict[str, str | None] = {
    "zero_shot_fused": "zero_shot_initial",
    "zero_shot_reranked": "zero_shot_reranked",
    "zero_shot_reranked_weighted": "zero_shot_weighted",
    "zero_shot_fused_weighted": None,
    "few_shot_text": None,
    "few_shot_fused": "few_shot_initial",
    "few_shot_fused_chosen": None,
    "few_shot_fused_weighted": None,
    "few_shot_reranked": "few_shot_reranked",
    "few_shot_reranked_weighted": "few_shot_weighted",
    "few_shot_semi_oracle": "few_shot_semi_oracle",
    "few_shot_full_oracle": "few_shot_full_oracle",
    "triviaqa": "triviaqa_bm25",
    "triviaqa_weighted": "triviaqa_bm25_weighted",
}
# Section → the blocks shown, and the published table and row names that stand beside each block.
TABLES: dict[str, tuple[str, tuple[tuple[str, str | None, dict[str, str]], ...]]] = {
    "table-2": (
        "Table 2: first-stage retrieval, article level",
        (
            ("article_face", "table_2", {"arcface": "arcface_face"}),
            ("article_no_face", "table_2", {"imagenet": "imagenet_no_face", "clip": "clip_no_face"}),
            ("article", "table_2", {name: name for name in ("bm25", "dpr_zero_shot", "image", "dpr_few_shot")}),
        ),
    ),
    "table-3": ("Table 3: first-stage retrieval, passage level", (("passage", "table_3", {}),)),
    "table-4": (
        "Table 4: persons and non-persons",
        (
            ("passage_persons", "table_4_persons", {}),
            ("passage_non_persons", "table_4_non_persons", {}),
            ("passage_face", None, {}),
            ("passage_no_face", None, {}),
        ),
    ),
}


class KvqaeFragmentParameters(Parameters):
    """Section `kvqae.fragment`."""

    questions: int = Field(ge=1, description="Test questions shown in the gallery")
    passages: int = Field(ge=1, description="Passages shown with each of them")
    image_side: int = Field(ge=32, description="Pixels of the gallery's images, stored at this size")
    seed: int = Field(ge=0, description="Of the draw of questions")


def retrieval_html(blocks: dict[str, Any], published: dict[str, Any], section: str, level: float) -> str:
    """The tables of one section: our numbers, then the published ones in columns marked as the paper's."""
    template = environment().get_template("retrieval_table.html")
    parts = []
    for key, table, names in TABLES[section][1]:
        if key not in blocks:
            parts.append(f"<p>No test question falls into the subset of block <code>{key}</code>.</p>")
            continue
        beside = None
        if table is not None:
            rows = published[table]["rows"]
            # A block may show rows of several published blocks under other names.
            beside = {"rows": {ours: rows[theirs] for ours, theirs in names.items()} if names else rows}
        parts.append(
            template.render(
                caption=f"{blocks[key]['title']}.",
                block=blocks[key],
                published=beside,
                measures=MEASURES,
                labels=LABELS,
                beyond=BEYOND,
                level=level,
            )
        )
    return "\n".join(parts)


def overlap_html(table: pa.Table, stems: bool) -> str:
    """Figure 4, with a caption that says how lemmas were found."""
    groups: dict[str, dict[str, list[float]]] = {}
    for system in dict.fromkeys(table["system"].to_pylist()):
        rows = table.filter(pc.equal(table["system"], system))
        groups[LABELS[system].split(" (")[0]] = {
            label: rows.filter(pc.equal(rows["relevant"], relevant))["overlap"].to_pylist()
            for label, relevant in (("relevant", True), ("not relevant", False))
        }
    title = "Lexical overlap of question and first passage"
    caption = (
        "Share of the question's content lemmas found in the first passage, by system and by whether that passage "
        "holds the answer. Boxes: quartiles; whiskers: the rest without outliers. The paper gives no formula and no "
        "numbers. "
    )
    if stems:
        caption += "No spaCy model is installed: Snowball stems stand in for lemmas."
    return f"<figure>{boxes(groups, title=title, ylabel='overlap')}<figcaption>{caption}</figcaption></figure>"


def gallery_items(
    parameters: KvqaeFragmentParameters,
    questions: Sequence[Question],
    predictions: Mapping[str, str],
    faces: Mapping[str, bool],
    run: Run,
    articles: pa.Table,
    article_of: NDArray[np.int64],
    texts: PassageTexts,
    question_images: Images,
    kb_images: Images,
) -> list[dict[str, Any]]:
    """What the gallery shows, one entry a question; texts are escaped or `Markup` already."""
    ranked = dict(zip(run.queries, run.documents, strict=True))
    items = []
    for question in questions:
        matcher = AnswerMatcher(question.answers)
        shown = []
        for passage in ranked[question.id][: parameters.passages]:
            if passage == PADDING:
                break
            image = articles["image"][int(article_of[passage])].as_py()
            title, text = texts[passage]
            shown.append(
                {
                    "title": title,
                    "text": highlight(text, question.answers),
                    "relevant": matcher.matches(f"{title} {text}"),
                    "image": thumbnail(kb_images.read(image), parameters.image_side // 2)
                    if image in kb_images
                    else None,
                }
            )
        prediction = predictions.get(question.id, "")
        right = bool(exact_match(prediction, question.answers))
        assert question.image is not None
        items.append(
            {
                "question": question.text,
                "answer": question.original_answer,
                "prediction": prediction,
                "right": right,
                "face": faces[question.id],
                "image": thumbnail(question_images.read(question.image), parameters.image_side) or NO_PICTURE,
                "passages": shown,
                "tags": ["right" if right else "wrong", "face" if faces[question.id] else "no-face"],
            }
        )
    return items


def pictures_missing(items: Sequence[Mapping[str, Any]]) -> int:
    """How many pictures of the gallery, of questions and passages, were absent or could not be read."""
    of_passages = sum(passage["image"] is None for item in items for passage in item["passages"])
    return of_passages + sum(item["image"] == NO_PICTURE for item in items)


def reading_html(
    metrics: Mapping[str, float], published: dict[str, Any], rows: Mapping[str, str | None], seeds: int
) -> str:
    """Table 7: our rows, the published ones beside them, and the paper's rows that wait for re-ranking."""
    table = published["table_7"]["rows"]
    shown = []
    for ours, theirs in rows.items():
        values = None
        if f"{ours}_f1" in metrics:
            keys = ("f1", "em", "f1_sd", "em_sd")
            values = {key: metrics.get(f"{ours}_{key}") for key in keys}
        label = table[theirs]["label"] if theirs else ours.replace("_", " ")
        shown.append({"label": label, "ours": values, "published": table[theirs] if theirs else None})
    return environment().get_template("reading_table.html").render(rows=shown, seeds=seeds)


def sweep_html(table: pa.Table) -> str:
    """How many passages to read: validation EM and F1 by their number."""
    count = table["passages"].to_pylist()
    title = "Passages read at inference, validation questions"
    lines = {
        label: (count, [100 * value for value in table[name].to_pylist()])
        for name, label in (("em", "EM"), ("f1", "F1"))
    }
    caption = "The number of passages at inference is chosen on validation; the paper finds 5 clearly best."
    drawn = curves(lines, title=title, xlabel="passages", ylabel="%")
    return f"<figure>{drawn}<figcaption>{caption}</figcaption></figure>"


def sizes_html(used: dict[str, Any], paper: dict[str, Any]) -> str:
    """Every parameter that differs from the paper's scale, with both values."""
    rows = []
    for section, values in sorted(flat(used).items()):
        other = flat(paper).get(section, values)
        if other != values:
            rows.append((section, values, other))
    return environment().get_template("sizes.html").render(rows=rows)


def flat(tree: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """`{a: {b: 1}}` as `{"a.b": 1}`."""
    values: dict[str, Any] = {}
    for key, value in tree.items():
        values |= flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return values


def main(
    parameters: KvqaeFragmentParameters,
    context: Context,
    *,
    evaluation: Path,
    reading: Path,
    overlap: Path,
    overlap_metrics: Path,
    sweep: Path,
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
    answered = read_table(answers, ["id", "seed", "prediction"])
    first_seed = answered.filter(pc.equal(answered["seed"], answered["seed"][0])).to_pylist()
    routes = read_table(routing, ["question", "face"]).to_pylist()
    everyone = read_questions(questions)
    chosen = random.Random(parameters.seed).sample(everyone, min(parameters.questions, len(everyone)))
    fused = read_run_over(run, [question.id for question in everyone]).select(question.id for question in chosen)
    shown = fused.documents[:, : parameters.passages]
    items = gallery_items(
        parameters,
        chosen,
        {row["id"]: row["prediction"] for row in first_seed},
        {row["question"]: row["face"] for row in routes},
        fused,
        read_table(articles, ["image"]),
        read_table(passages, ["article"])["article"].to_numpy(),
        read_passage_texts(passages, articles, shown[shown != PADDING]),
        Images(question_images),
        Images(kb_images),
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
