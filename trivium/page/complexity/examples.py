"""Complexity's example browser: a text with frame, trigger and elements, the question, and what each model answered."""

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from markupsafe import Markup

from trivium.formats.framed_texts import Example, Span
from trivium.page.complexity.material import LABELS, Material, order_models
from trivium.page.html import render

_EXACT = 1 - 1e-9
_STATE = {True: "yes", False: "no", None: "uncounted"}


class Mark(NamedTuple):
    """A stretch of text to show in one of the styles of labels.yaml, with a label; the empty label is not shown."""

    span: Span
    style: str
    label: str


class Piece(NamedTuple):
    """Text between two ends of marks: the styles that cover it, and the labels of the marks that begin with it."""

    text: str
    styles: tuple[str, ...]
    labels: tuple[tuple[str, str], ...]


def marks_of(example: Example) -> list[Mark]:
    """Trigger, elements, coreference chain and answer of an example."""
    frame = example.frame
    marks = [Mark(frame.lexical_unit.span, "trigger", frame.frame)]
    for element in frame.elements:
        style = "asked" if element.name == example.answer_element else "element"
        if element.name in example.context_elements:
            style = "given"
        marks.append(Mark(element.span, style, element.name))
    marks += [Mark(mention, "mention", "") for mention in example.chain]
    return [*marks, Mark(example.answer, "answer", "answer")]


def pieces(text: str, marks: Sequence[Mark]) -> list[Piece]:
    """Cut a text at every end of a mark, so that marks may overlap; joined, the pieces are the text."""
    ends = {0, len(text)} | {end for mark in marks for end in (mark.span.start, mark.span.end)}
    cut = []
    for start, end in pairwise(sorted(ends)):
        over = [mark for mark in marks if mark.span.start <= start and end <= mark.span.end]
        labels = tuple((mark.style, mark.label) for mark in over if mark.span.start == start and mark.label)
        cut.append(Piece(text[start:end], tuple(dict.fromkeys(mark.style for mark in over)), labels))
    return cut


def item(
    of: Material, example: Example, codes: Mapping[str, bool | None], answers: Iterable[Mapping[str, Any]]
) -> dict[str, Any]:
    """What the browser shows of one example; the template escapes all of it.

    `codes` say of each factor yes, no, or None where it is not counted; `answers` are rows of scores.parquet, one a
    model.
    """
    longest = of.used["page"]["examples"]["answer_characters"]
    rows = [
        {"model": of.labels[row["model"]], "baseline": row["kind"] == "baseline", "score": row["rouge_l"],
         "text": row["prediction"][:longest] + "…" * (len(row["prediction"]) > longest),
         "exact": row["rouge_l"] > _EXACT}
        for row in answers
    ]  # fmt: skip
    exact = [row["exact"] for row in rows if not row["baseline"]]
    return {
        "example": example,
        "pieces": pieces(example.text.text, marks_of(example)),
        "factors": [(factor, name, _STATE[codes[factor]]) for factor, name in of.names.items()],
        "answers": rows,
        "exact": sum(exact),
        "models": len(exact),
        "right": "all" if exact and all(exact) else "some" if any(exact) else "none",
    }


def examples_html(of: Material) -> tuple[dict[str, Markup], int]:
    """The browser over some examples drawn at random, one of them as a `picture`, and how many there are.

    Answers are those of each model's first seed. The picture shows what is claimed: the shortest of the examples with
    a factor that no model has exactly right, if there is one.
    """
    settings, models = of.used["page"]["examples"], order_models(of.kinds, of.published)
    codes = {row["id"]: {factor: row[factor] for factor in of.names} for row in of.factors.to_pylist()}
    answers: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in sorted(of.scores.to_pylist(), key=lambda row: models.index(row["model"])):
        if row["seed"] == of.first_seeds[row["model"]]:
            answers[row["id"]].append(row)
    drawn = random.Random(settings["seed"]).sample(of.examples, min(settings["examples"], len(of.examples)))
    items = [item(of, example, codes[example.id], answers[example.id]) for example in drawn]
    counts = Counter((factor, state) for shown in items for factor, _, state in shown["factors"])
    html = render("complexity/examples.html", items=items, counts=counts, of=of, styles=LABELS["styles"],
                  seed=settings["seed"])  # fmt: skip

    def tells(item: Mapping[str, Any]) -> tuple[bool, int]:
        hard = item["right"] == "none" and any(state == "yes" for _, _, state in item["factors"])
        return not hard, sum(len(piece.text) for piece in item["pieces"])

    picture = render("complexity/picture.html", item=min(items, key=tells))
    return {"examples": html, "picture": picture}, len(items)
