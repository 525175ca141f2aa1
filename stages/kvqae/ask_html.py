"""An answer as HTML: the picture with its face framed, passages with pictures, a bar for what each system gave."""

import base64
import io
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from PIL import ImageDraw

from stages.kvqae.ask_systems import LABELS, FaceFound
from stages.kvqae.asking import Answer, Support
from stages.kvqae.images import decode
from stages.report.common import signed
from stages.report.gallery import thumbnail

SIDE, THUMBNAIL = 480, 96  # pixels of the asked picture's longer side, and of an article's picture
MAX_PIXELS = 200_000_000  # what the systems could read is shown
FRAME = "#ff9500"  # seen on light and dark pictures


@cache
def _environment() -> Environment:
    made = Environment(loader=PackageLoader("stages.kvqae"), autoescape=True, undefined=StrictUndefined)
    made.filters["signed"] = lambda value: ("+" if value >= 0 else "") + signed(value, 2)
    return made


def answer_html(question: str, image: bytes | None, answer: Answer) -> str:
    """The answer, all texts escaped, all pictures inside."""
    largest = max((abs(value) for each in answer.supports for value in each.contributions.values()), default=0) or 1.0
    return (
        _environment()
        .get_template("ask.html")
        .render(
            question=question,
            answer=answer,
            face=answer.face,
            picture=None if image is None else framed(image, answer.face),
            supports=[_support(each, largest) for each in answer.supports],
        )
    )


def problem_html(problem: str) -> str:
    """Why there is no answer."""
    return _environment().get_template("ask_problem.html").render(problem=problem)


def style() -> str:
    """The page's style sheet; colours are the theme's, so that they follow light and dark."""
    environment = _environment()
    return environment.loader.get_source(environment, "ask.css")[0]  # type: ignore[union-attr]


def framed(image: bytes, face: FaceFound | None) -> str:
    """A `data:` address of a picture that the systems could read, small, with a frame around the face."""
    picture = decode(image, max_side=SIDE, max_pixels=MAX_PIXELS)
    if face is not None:
        left, top, right, bottom = face.box
        corners = (left * picture.width, top * picture.height, right * picture.width, bottom * picture.height)
        ImageDraw.Draw(picture).rectangle(corners, outline=FRAME, width=max(2, max(picture.size) // 120))
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=85)
    return "data:image/jpeg;base64," + base64.b64encode(out.getvalue()).decode()


def _support(support: Support, largest: float) -> dict[str, object]:
    """Bars are as long as their share of the largest contribution to any passage; half the track is the most."""
    start, end = support.mark or (len(support.text), len(support.text))
    return {
        "title": support.title,
        "before": support.text[:start],
        "marked": support.text[start:end],
        "after": support.text[end:],
        "score": support.score,
        "picture": None if support.picture is None else thumbnail(support.picture, THUMBNAIL),
        "bars": [
            {"label": LABELS[system], "value": value, "share": 50 * abs(value) / largest}
            for system, value in support.contributions.items()
            if value
        ],
    }
