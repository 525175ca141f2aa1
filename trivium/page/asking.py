"""An answer as HTML: the picture with its face framed, passages with pictures, a bar for what each system gave."""

import base64
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from PIL import ImageDraw

from trivium.kvqae.asking.answered_question import Answer, Support
from trivium.kvqae.asking.systems import FaceFound, label_of
from trivium.measures.answers import exact_match
from trivium.page.html import signed
from trivium.page.inline_pictures import thumbnail
from trivium.vision.decoding import PIXELS, decode

SIDE, THUMBNAIL = 480, 96  # pixels of the asked picture's longer side, and of an article's picture
FRAME, OTHER = "#ff9500", "#ffffff"  # seen on light and dark pictures; of the face that was looked at, of others
# Gradio's variables, and the report's colour of each.
COLOURS = {
    "body_background_fill": "paper",
    "body_text_color": "ink",
    "body_text_color_subdued": "soft",
    "background_fill_primary": "card",
    "background_fill_secondary": "published",
    "border_color_primary": "line",
    "color_accent_soft": "mark",
    "link_text_color": "accent",
    "link_text_color_active": "accent",
    "link_text_color_hover": "accent",
    "link_text_color_visited": "accent",
    "block_background_fill": "card",
    "block_border_color": "line",
    "block_label_background_fill": "card",
    "block_label_border_color": "line",
    "block_label_text_color": "soft",
    "block_title_text_color": "soft",
    "input_background_fill": "paper",
    "input_border_color": "line",
    "input_border_color_focus": "accent",
    "input_placeholder_color": "soft",
    "checkbox_background_color": "paper",
    "checkbox_background_color_selected": "accent",
    "checkbox_border_color": "soft",
    "checkbox_border_color_selected": "accent",
    "checkbox_label_background_fill": "card",
    "checkbox_label_text_color": "ink",
    "checkbox_label_text_color_selected": "ink",
    "table_text_color": "ink",
    "table_border_color": "line",
    "table_even_background_fill": "card",
    "table_odd_background_fill": "card",
    "table_row_focus": "published",
    "button_primary_background_fill": "accent",
    "button_primary_background_fill_hover": "accent",
    "button_primary_text_color": "paper",
    "button_secondary_background_fill": "card",
    "button_secondary_background_fill_hover": "published",
    "button_secondary_text_color": "ink",
}


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
            right=expected is not None and bool(exact_match(answer.text, expected.answers)),
            face=answer.face,
            place=answer.faces.index(answer.face) + 1 if answer.face in answer.faces else None,
            picture=None if image is None else framed(image, answer.face, answer.faces),
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
    (light, dark), names = _palettes(), ("good", "bad")
    own = [
        f"{where}{{{';'.join(f'--ask-{name}:{palette[name]}' for name in names)}}}"
        for where, palette in ((".ask-answer", light), (".dark .ask-answer", dark))
    ]
    return "\n".join([*own, _source("ask.css")])


def colours() -> dict[str, str]:
    """The report's colours for Gradio's theme; names that end with `_dark` are for dark screens."""
    light, dark = _palettes()
    found = {name: light[colour] for name, colour in COLOURS.items()}
    found |= {f"{name}_dark": dark[colour] for name, colour in COLOURS.items()}
    return found | {"color_accent": "*link_text_color"}  # Gradio has no name for a dark one


def _palettes() -> tuple[dict[str, str], dict[str, str]]:
    """The report's colours by their names, light and dark."""
    text = _source("style.css")
    found = [
        re.search(rf"^{re.escape(where)}{{(.*?)}}$", text, re.MULTILINE)
        for where in (":root", ":root[data-theme=dark]")
    ]
    light, dark = (dict(re.findall(r"--([\w-]+):([^;]+)", each[1])) for each in found if each)
    return light, dark


def _source(name: str) -> str:
    environment = _environment()
    return environment.loader.get_source(environment, name)[0]  # type: ignore[union-attr]


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
