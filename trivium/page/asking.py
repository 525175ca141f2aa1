"""An answer as HTML: the picture with its face framed, passages with pictures, a bar for what each system gave."""

import base64
import io
from collections.abc import Mapping, Sequence
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from PIL import ImageDraw

from trivium.kvqae.asking.answered_question import Answer, Support
from trivium.kvqae.asking.systems import FaceFound, label_of
from trivium.page.common import signed
from trivium.page.kvqae.gallery import thumbnail
from trivium.vision.decoding import PIXELS, decode

SIDE, THUMBNAIL = 480, 96  # pixels of the asked picture's longer side, and of an article's picture
FRAME = "#ff9500"  # seen on light and dark pictures


@cache
def _environment() -> Environment:
    made = Environment(loader=PackageLoader("trivium.page"), autoescape=True, undefined=StrictUndefined)
    made.filters["signed"] = lambda value: ("+" if value >= 0 else "") + signed(value, 2)
    return made


def answer_html(question: str, image: bytes | None, answer: Answer) -> str:
    """The answer, all texts escaped, all pictures inside."""
    return (
        _environment()
        .get_template("ask.html")
        .render(
            question=question,
            answer=answer,
            face=answer.face,
            picture=None if image is None else framed(image, answer.face),
            supports=_supports(answer.supports),
        )
    )


_ENTRIES = """<ol class="ask-entries">{% for entry in answer.entries %}<li><strong>{{ entry.title }}</strong>:
{% if entry.probability is none %}too few pictures for a probability{% else -%}
{{ "%.0f" | format(100 * entry.probability) }} %{% endif %}{{ "" if entry.sure else ", not sure" }}</li>
{% endfor %}</ol>"""


def entries_html(answer: Answer) -> str:
    """What the picture may show, with probabilities; nothing where nothing was looked for."""
    return _environment().from_string(_ENTRIES).render(answer=answer) if answer.entries else ""


def problem_html(problem: str) -> str:
    """Why there is no answer."""
    return _environment().get_template("ask_problem.html").render(problem=problem)


def style() -> str:
    """The page's style sheet; colours are the theme's, so that they follow light and dark."""
    environment = _environment()
    return environment.loader.get_source(environment, "ask.css")[0]  # type: ignore[union-attr]


def framed(image: bytes, face: FaceFound | None) -> str:
    """A `data:` address of the asked picture, small, with a frame around the face."""
    picture = decode(image, max_side=SIDE, max_pixels=PIXELS)
    if face is not None:
        left, top, right, bottom = face.box
        corners = (left * picture.width, top * picture.height, right * picture.width, bottom * picture.height)
        ImageDraw.Draw(picture).rectangle(corners, outline=FRAME, width=max(2, max(picture.size) // 120))
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
