"""Figure 5: questions as a reader sees them, with the first results of rankings side by side.

A frame marks the face that was found. In a passage that holds an answer the answer is bold; in one that does not, what
the reader would have answered from it is italic.
"""

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
from markupsafe import Markup, escape

from trivium.core.image_shards import Images
from trivium.core.tables import read_table
from trivium.formats.questions import Question, read_questions
from trivium.formats.trec import read_run_over
from trivium.kvqae.knowledge_base.passage_texts import ARTICLES, PASSAGES, SEPARATOR, read_passage_texts
from trivium.measures.answers import AnswerMatcher, exact_match, is_matchable
from trivium.measures.runs import PADDING
from trivium.page.html import half_each, render
from trivium.page.inline_pictures import Box, thumbnail

FILTERS = [("all", "All"), ("right", "Right"), ("wrong", "Wrong"), ("face", "Face found"), ("no-face", "No face")]
RANKINGS = {  # title → a run and the reader's answers on it; the last one's are the answers shown
    "Multimodal retrieval": ("fused/dpr_few_shot_image", "few_shot_fused"),
    "Re-ranked by text and image": ("reranked_text_image", "few_shot_reranked"),
}
NO_PICTURE = "data:,"  # what stands for an image that cannot be read
Spans = Mapping[int, tuple[int, int]]  # passage → characters in `title [SEP] text`


def face_boxes(faces: Iterable[Mapping[str, Any]]) -> dict[str, Box]:
    """The most probable face of every image that has one: rows of `pictures.parquet`, boxes in pixels."""
    boxes: dict[str, Box] = {}
    for row in faces:
        if row["detected"]:
            (left, top, right, bottom), width, height = row["box"], row["width"], row["height"]
            boxes[row["name"]] = (left / width, top / height, right / width, bottom / height)
    return boxes


def highlight(text: str, answers: Sequence[str]) -> Markup:
    """The text, escaped, with every answer that stands in it verbatim (case aside) marked."""
    longest_first = sorted((answer for answer in answers if is_matchable(answer)), key=len, reverse=True)
    if not longest_first:
        return escape(text)
    pattern = re.compile(r"(?<!\w)(" + "|".join(map(re.escape, longest_first)) + r")(?!\w)", re.IGNORECASE)
    mark = (Markup("{}"), Markup("<mark>{}</mark>"))
    return Markup().join(mark[place % 2].format(piece) for place, piece in enumerate(pattern.split(text)))


def emphasize(text: str, start: int, end: int) -> Markup:
    """The text, escaped, with characters `start` to `end` in italics; all plain when they are not inside the text."""
    if not 0 <= start < end <= len(text):
        return escape(text)
    return Markup("{}<em>{}</em>{}").format(text[:start], text[start:end], text[end:])


def passage_item(
    passage: tuple[str, str], question: Question, span: tuple[int, int] | None, image: str | None
) -> dict[str, Any]:
    """A passage (title, text) as the gallery shows it: `title` and `text` are `Markup`.

    `span` is what the reader would answer from it, characters in `title [SEP] text`; `image` the address of a picture.
    """
    title, text = passage
    if relevant := AnswerMatcher(question.answers).matches(f"{title} {text}"):
        shown = [highlight(part, question.answers) for part in passage]
    else:
        (start, end), before = span or (0, 0), len(title) + len(SEPARATOR)
        shown = [emphasize(title, start, end), emphasize(text, start - before, end - before)]
    return {"name": title, "title": shown[0], "text": shown[1], "relevant": relevant, "image": image}


def reader_of(answers: Path) -> tuple[dict[str, str], dict[str, Spans]]:
    """The first seed's answers of a row, and by question the best span of every passage that it read."""
    read = read_table(answers, ["id", "seed", "prediction", "passages", "starts", "ends"])
    seed = read["seed"][0]
    rows = (read.filter(pc.equal(read["seed"], seed)) if seed.is_valid else read).to_pylist()
    spans: dict[str, Spans] = {
        row["id"]: dict(zip(row["passages"], zip(row["starts"], row["ends"], strict=True), strict=True)) for row in rows
    }
    return {row["id"]: row["prediction"] for row in rows}, spans


def gallery_items(data: Path, dataset: Path, settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Some test questions, answered right and wrong, with the first passages of each ranking.

    Texts are escaped by the template, or `Markup` already. `data` is the folder of the stages' outputs, `dataset` that
    of the questions and their pictures, `settings` are `kvqae.page.gallery`; a passage's picture has half of its
    `image_side`.
    """
    questions = read_questions(dataset / "viquae" / "test.jsonl")
    read = {title: reader_of(data / "answers" / f"{answers}.parquet") for title, (_, answers) in RANKINGS.items()}
    predictions = list(read.values())[-1][0]
    sides: tuple[list[Question], list[Question]] = [], []
    for question in questions:
        sides[exact_match(predictions.get(question.id, ""), question.answers)].append(question)
    chosen = half_each(*sides, settings["questions"], random.Random(settings["seed"]))
    ranked = {}
    for title, (run, _) in RANKINGS.items():
        ranking = read_run_over(data / "runs" / run / "test.trec", [question.id for question in questions])
        ranking = ranking.select(question.id for question in chosen)
        for query, documents in zip(ranking.queries, ranking.documents, strict=True):
            first = documents[: settings["passages"]].tolist()
            ranked[title, query] = [passage for passage in first if passage != PADDING]

    kb = data / "kb"
    shown = np.unique([passage for documents in ranked.values() for passage in documents])
    texts = read_passage_texts(kb, shown.astype(np.int64))
    article_of, names = read_table(kb / PASSAGES, ["article"])["article"], read_table(kb / ARTICLES, ["image"])["image"]
    columns = ["name", "width", "height", "detected", "box"]
    boxes = face_boxes(read_table(data / "features/questions/arcface/pictures.parquet", columns).to_pylist())
    question_images, kb_images = Images(dataset / "images" / "questions"), Images(data / "raw" / "images" / "kb")
    side, items = settings["image_side"], []

    def passage_of(passage: int, question: Question, span: tuple[int, int] | None) -> dict[str, Any]:
        name = names[article_of[passage].as_py()].as_py()
        image = thumbnail(kb_images.read(name), side // 2) if name in kb_images else None
        return passage_item(texts[passage], question, span, image)

    for question in chosen:
        prediction, name = predictions.get(question.id, ""), question.image or ""
        right, box = bool(exact_match(prediction, question.answers)), boxes.get(name)
        picture = thumbnail(question_images.read(name), side, box) if name in question_images else None
        rankings = []
        for title, (_, spans) in read.items():
            of = spans.get(question.id, {})
            made = [passage_of(passage, question, of.get(passage)) for passage in ranked[title, question.id]]
            rankings.append({"title": title, "passages": made})
        tags = ["right" if right else "wrong", "no-face" if box is None else "face"]
        items.append(
            {"question": question.text, "answer": question.original_answer, "prediction": prediction, "right": right,
             "face": box is not None, "image": picture or NO_PICTURE, "rankings": rankings, "tags": tags}
        )  # fmt: skip
    return items


def counts_of(items: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """How many questions are shown and right, and how many pictures, of passages too, are absent or unreadable."""
    passages = [passage for item in items for ranking in item["rankings"] for passage in ranking["passages"]]
    missing = [picture["image"] in (None, NO_PICTURE) for picture in (*items, *passages)]
    right = [item["right"] for item in items]
    counts = {"gallery_questions": len(items), "gallery_right": sum(right), "gallery_pictures_missing": sum(missing)}
    return {name: float(count) for name, count in counts.items()}


def picture_html(items: Sequence[Mapping[str, Any]]) -> Markup:
    """One of these questions with its picture and answer: a right one in which a face is found, if there is one."""
    shown = max(items, key=lambda item: (item["right"], item["face"], item["image"] != NO_PICTURE))
    return render("kvqae_picture.html", item=shown)
