"""Figure 5: questions as a reader sees them, with the first results of rankings side by side.

A frame marks the face that was found. In a passage that holds an answer the answer is bold; in one that does not, what
the reader would have answered from it is italic.
"""

import base64
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from markupsafe import Markup, escape
from numpy.typing import NDArray
from PIL import ImageDraw, ImageOps

from trivium.core.image_shards import Images
from trivium.formats.questions import Question
from trivium.kvqae.knowledge_base.passage_texts import SEPARATOR, PassageTexts
from trivium.measures.answers import AnswerMatcher, exact_match, is_matchable
from trivium.measures.runs import PADDING, Run
from trivium.page.common import environment
from trivium.vision.decoding import Unreadable, decode

FILTERS = [("all", "All"), ("right", "Right"), ("wrong", "Wrong"), ("face", "Face found"), ("no-face", "No face")]

Box = tuple[float, float, float, float]  # left, top, right, bottom as shares of the picture's sides
Spans = Mapping[int, tuple[int, int]]  # passage → characters in `title [SEP] text`

_MAX_SIDE, _MAX_PIXELS = 2048, 100_000_000  # a scan of 20 000 pixels is shown small, not decoded whole
_FRAME = "#e5141f"  # the paper's red
NO_PICTURE = "data:,"  # what stands for an image that cannot be read


@dataclass(frozen=True)
class Ranking:
    """One list of results of every question.

    Attributes:
        title: what the page calls it.
        run: passage ids of the shown questions.
        spans: of a question, the reader's best span in each passage that it read.
    """

    title: str
    run: Run
    spans: Mapping[str, Spans]


def thumbnail(data: bytes, side: int, box: Box | None = None) -> str | None:
    """A `data:` address of the image, cut to a square of `side` pixels, or None when it cannot be read.

    Args:
        data: an encoded image.
        side: of the square, pixels.
        box: a frame is drawn there.
    """
    try:
        image = decode(data, max_side=_MAX_SIDE, max_pixels=_MAX_PIXELS)
    except Unreadable:
        return None
    if box is not None:
        left, top, right, bottom = box
        corners = (left * image.width, top * image.height, right * image.width, bottom * image.height)
        ImageDraw.Draw(image).rectangle(corners, outline=_FRAME, width=max(1, round(3 * min(image.size) / side)))
    small = ImageOps.fit(image, (side, side))
    out = io.BytesIO()
    small.save(out, "JPEG", quality=82)
    return "data:image/jpeg;base64," + base64.b64encode(out.getvalue()).decode()


def face_boxes(faces: Iterable[Mapping[str, Any]]) -> dict[str, Box]:
    """The most probable face of every image that has one: rows of `pictures.parquet`, boxes in pixels."""
    boxes = {}
    for row in faces:
        if row["detected"]:
            left, top, right, bottom = row["box"]
            width, height = row["width"], row["height"]
            boxes[row["name"]] = (left / width, top / height, right / width, bottom / height)
    return boxes


def highlight(text: str, answers: Sequence[str]) -> Markup:
    """The text, escaped, with every answer that stands in it verbatim (case aside) marked."""
    wanted = sorted((answer for answer in answers if is_matchable(answer)), key=len, reverse=True)
    if not wanted:
        return escape(text)
    pattern = re.compile(r"(?<!\w)(" + "|".join(map(re.escape, wanted)) + r")(?!\w)", re.IGNORECASE)
    pieces = pattern.split(text)
    return Markup("").join(
        Markup("<mark>{}</mark>").format(piece) if place % 2 else escape(piece) for place, piece in enumerate(pieces)
    )


def emphasize(text: str, start: int, end: int) -> Markup:
    """The text, escaped, with characters `start` to `end` in italics; all plain when they are not inside the text."""
    if not 0 <= start < end <= len(text):
        return escape(text)
    return Markup("{}<em>{}</em>{}").format(text[:start], text[start:end], text[end:])


def passage_item(
    passage: tuple[str, str], question: Question, span: tuple[int, int] | None, image: str | None
) -> dict[str, Any]:
    """A passage as the gallery shows it: `title` and `text` are `Markup`.

    Args:
        passage: its title and text.
        question: with its answers.
        span: what the reader would answer from it, characters in `title [SEP] text`; None where it did not read.
        image: address of its picture.
    """
    title, text = passage
    relevant = AnswerMatcher(question.answers).matches(f"{title} {text}")
    if relevant:
        shown = (highlight(title, question.answers), highlight(text, question.answers))
    elif span is not None:
        before = len(title) + len(SEPARATOR)
        shown = (emphasize(title, *span), emphasize(text, span[0] - before, span[1] - before))
    else:
        shown = (escape(title), escape(text))
    return {"name": title, "title": shown[0], "text": shown[1], "relevant": relevant, "image": image}


def gallery_items(
    questions: Sequence[Question],
    predictions: Mapping[str, str],
    boxes: Mapping[str, Box],
    rankings: Sequence[Ranking],
    articles: pa.Table,
    article_of: NDArray[np.int64],
    texts: PassageTexts,
    question_images: Images,
    kb_images: Images,
    *,
    passages: int,
    image_side: int,
) -> list[dict[str, Any]]:
    """What the gallery shows, one entry a question; texts are escaped by the template, or `Markup` already.

    Args:
        questions: shown, in order.
        predictions: question → answer.
        boxes: question image → its face.
        rankings: their first passages are shown.
        articles, article_of: pictures of the articles; the article of each passage.
        texts: of the shown passages.
        question_images, kb_images: pictures.
        passages: shown of each ranking.
        image_side: pixels a side of the question's picture; passages' have half of it.
    """
    ranked = [dict(zip(ranking.run.queries, ranking.run.documents, strict=True)) for ranking in rankings]
    items = []
    for question in questions:
        lists = []
        for ranking, documents in zip(rankings, ranked, strict=True):
            spans, shown = ranking.spans.get(question.id, {}), []
            for passage in documents[question.id][:passages].tolist():
                if passage == PADDING:
                    break
                name = articles["image"][int(article_of[passage])].as_py()
                image = thumbnail(kb_images.read(name), image_side // 2) if name in kb_images else None
                shown.append(passage_item(texts[passage], question, spans.get(passage), image))
            lists.append({"title": ranking.title, "passages": shown})
        prediction = predictions.get(question.id, "")
        right = bool(exact_match(prediction, question.answers))
        name = question.image or ""
        box = boxes.get(name)
        picture = thumbnail(question_images.read(name), image_side, box) if name in question_images else None
        items.append(
            {
                "question": question.text,
                "answer": question.original_answer,
                "prediction": prediction,
                "right": right,
                "face": box is not None,
                "image": picture or NO_PICTURE,
                "rankings": lists,
                "tags": ["right" if right else "wrong", "no-face" if box is None else "face"],
            }
        )
    return items


def pictures_missing(items: Sequence[Mapping[str, Any]]) -> int:
    """How many pictures of the gallery, of questions and passages, were absent or could not be read."""
    lists = [ranking["passages"] for item in items for ranking in item["rankings"]]
    of_passages = sum(passage["image"] is None for passages in lists for passage in passages)
    return of_passages + sum(item["image"] == NO_PICTURE for item in items)


def gallery_html(items: Sequence[Mapping[str, Any]], seed: int) -> str:
    """Figure 5; `seed` drew the questions."""
    return environment().get_template("gallery.html").render(items=items, filters=FILTERS, seed=seed)


def picture_html(items: Sequence[Mapping[str, Any]]) -> str:
    """One of these questions with its picture and answer: a right one in which a face is found, if there is one."""
    shown = max(items, key=lambda item: (item["right"], item["face"], item["image"] != NO_PICTURE), default=None)
    return environment().get_template("kvqae_picture.html").render(item=shown)
