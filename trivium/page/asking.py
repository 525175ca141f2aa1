"""An answer as HTML: the picture with its face framed, passages with pictures, a bar for what each system gave."""

import base64
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from PIL import ImageDraw

from trivium.core.folding import fold
from trivium.kvqae.asking.answer import Answer, FaceFound, Support, label_of
from trivium.measures.answers import exact_match
from trivium.page.html import signed
from trivium.page.inline_pictures import thumbnail
from trivium.vision.decoding import PIXELS, decode

SIDE, THUMBNAIL = 480, 96  # pixels of the asked picture's longer side, and of an article's picture
FRAME, OTHER = "#ff9500", "#ffffff"  # seen on light and dark pictures; of the face that was looked at, of others


@cache
def _environment() -> Environment:
    made = Environment(loader=PackageLoader("trivium.page"), autoescape=True, undefined=StrictUndefined)
    made.filters["signed"] = lambda value: ("+" if value >= 0 else "") + signed(value, 2)
    return made


@dataclass(frozen=True)
class Expected:
    """What is known of a question of the test set.

    Attributes:
        answers: the valid ones, the original one first.
        entity: title of the article about what the picture shows; empty where the knowledge base has none.
    """

    answers: Sequence[str]
    entity: str


def answer_html(question: str, image: bytes | None, answer: Answer, expected: Expected | None = None) -> str:
    """The answer, all texts escaped, all pictures inside; with what is expected, where that is known."""
    return (
        _environment()
        .get_template("ask.html")
        .render(
            question=question,
            answer=answer,
            expected=expected,
            right=expected is not None and bool(exact_match(fold(answer.text), map(fold, expected.answers))),
            face=answer.face,
            place=answer.faces.index(answer.face) + 1 if answer.face in answer.faces else None,
            picture=None if image is None else framed(image, answer.face, answer.faces),
            supports=_supports(answer.supports),
        )
    )


def problem_html(problem: str) -> str:
    """Why there is no answer."""
    return _environment().get_template("ask_problem.html").render(problem=problem)


def style() -> str:
    """The page's style sheet; its colours are those of Gradio's theme, so that they follow light and dark."""
    environment = _environment()
    return environment.loader.get_source(environment, "ask.css")[0]  # type: ignore[union-attr]


def framed(image: bytes, face: FaceFound | None, faces: Sequence[FaceFound] = ()) -> str:
    """A `data:` address of the asked picture, small, with a frame around the face; several faces have their numbers."""
    picture = decode(image, max_side=SIDE, max_pixels=PIXELS)
    drawing, width = ImageDraw.Draw(picture), max(2, max(picture.size) // 120)
    for number, each in enumerate(faces if len(faces) > 1 else [face] if face is not None else [], 1):
        left, top, right, bottom = each.box
        corners = (left * picture.width, top * picture.height, right * picture.width, bottom * picture.height)
        colour = FRAME if each == face else OTHER
        drawing.rectangle(corners, outline=colour, width=width)
        if len(faces) > 1:
            at = (max(corners[0], 0) + 2 * width, max(corners[1], 0) + width)
            drawing.text(
                at, str(number), fill=colour, font_size=6 * width, stroke_width=width // 2, stroke_fill="black"
            )
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=85)
    return "data:image/jpeg;base64," + base64.b64encode(out.getvalue()).decode()


def _supports(supports: Sequence[Support]) -> list[dict[str, object]]:
    """What the template shows of each passage: its text and two groups of bars, re-rankers first."""
    groups = [
        ("re-ranking", [each.reranking for each in supports if each.reranking is not None]),
        ("retrieval", [each.contributions for each in supports]),
    ]
    bars = [(title, _bars(several)) for title, several in groups if several]
    return [
        _support(support) | {"groups": [{"title": title, **rows[place]} for title, rows in bars]}
        for place, support in enumerate(supports)
    ]


def _bars(several: Sequence[Mapping[str, float]]) -> list[dict[str, object]]:
    """Bars are as long as their share of the largest contribution to any passage; half the track is the most."""
    largest = max((abs(value) for each in several for value in each.values()), default=0) or 1.0
    return [
        {
            "sum": sum(each.values()),
            "bars": [
                {"label": label_of(system), "value": value, "share": 50 * abs(value) / largest}
                for system, value in each.items()
                if value
            ],
        }
        for each in several
    ]


def _support(support: Support) -> dict[str, object]:
    start, end = support.mark or (len(support.text), len(support.text))
    return {
        "title": support.title,
        "before": support.text[:start],
        "marked": support.text[start:end],
        "after": support.text[end:],
        "picture": None if support.picture is None else thumbnail(support.picture, THUMBNAIL),
    }
