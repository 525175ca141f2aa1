"""Questions as a reader sees them: image, best passages with their pictures, answer, right or wrong."""

import base64
import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from markupsafe import Markup, escape
from numpy.typing import NDArray
from PIL import ImageOps

from stages.kvqae.images import Unreadable, decode
from stages.kvqae.passage_texts import PassageTexts
from stages.kvqae.questions import Question
from stages.measures.answers import AnswerMatcher, exact_match, normalize_answer
from stages.measures.runs import PADDING, Run
from stages.tables import Images

_MAX_SIDE, _MAX_PIXELS = 2048, 100_000_000  # a scan of 20 000 pixels is shown small, not decoded whole
NO_PICTURE = "data:,"  # what stands for an image that cannot be read


def thumbnail(data: bytes, side: int) -> str | None:
    """A `data:` address of the image, cut to a square of `side` pixels, or None when it cannot be read."""
    try:
        image = decode(data, max_side=_MAX_SIDE, max_pixels=_MAX_PIXELS)
    except Unreadable:
        return None
    small = ImageOps.fit(image, (side, side))
    out = io.BytesIO()
    small.save(out, "JPEG", quality=82)
    return "data:image/jpeg;base64," + base64.b64encode(out.getvalue()).decode()


def highlight(text: str, answers: Sequence[str]) -> Markup:
    """The text, escaped, with every answer that stands in it verbatim (case aside) marked."""
    wanted = sorted((answer for answer in answers if normalize_answer(answer)), key=len, reverse=True)
    if not wanted:
        return escape(text)
    pattern = re.compile(r"(?<!\w)(" + "|".join(map(re.escape, wanted)) + r")(?!\w)", re.IGNORECASE)
    pieces = pattern.split(text)
    return Markup("").join(
        Markup("<mark>{}</mark>").format(piece) if place % 2 else escape(piece) for place, piece in enumerate(pieces)
    )


def gallery_items(
    questions: Sequence[Question],
    predictions: Mapping[str, str],
    faces: Mapping[str, bool],
    run: Run,
    articles: pa.Table,
    article_of: NDArray[np.int64],
    texts: PassageTexts,
    question_images: Images,
    kb_images: Images,
    *,
    passages: int,
    image_side: int,
) -> list[dict[str, Any]]:
    """What the gallery shows, one entry a question; texts are escaped or `Markup` already.

    Each with its first `passages` passages; the question's image has `image_side` pixels a side, theirs half of it.
    """
    ranked = dict(zip(run.queries, run.documents, strict=True))
    items = []
    for question in questions:
        matcher = AnswerMatcher(question.answers)
        shown = []
        for passage in ranked[question.id][:passages]:
            if passage == PADDING:
                break
            image = articles["image"][int(article_of[passage])].as_py()
            title, text = texts[passage]
            shown.append(
                {
                    "title": title,
                    "text": highlight(text, question.answers),
                    "relevant": matcher.matches(f"{title} {text}"),
                    "image": thumbnail(kb_images.read(image), image_side // 2) if image in kb_images else None,
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
                "image": thumbnail(question_images.read(question.image), image_side) or NO_PICTURE,
                "passages": shown,
                "tags": ["right" if right else "wrong", "face" if faces[question.id] else "no-face"],
            }
        )
    return items


def pictures_missing(items: Sequence[Mapping[str, Any]]) -> int:
    """How many pictures of the gallery, of questions and passages, were absent or could not be read."""
    of_passages = sum(passage["image"] is None for item in items for passage in item["passages"])
    return of_passages + sum(item["image"] == NO_PICTURE for item in items)
