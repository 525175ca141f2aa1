"""What goes along with complexity's factors in the examples, and so may turn a δ away from the paper's sign."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import ArrayLike, NDArray

from trivium.complexity.effects.analysed_tables import coded, read_scores
from trivium.complexity.factors.overlap import sentence_of, sentences, shares_participant
from trivium.complexity.factors.registry import FACTORS
from trivium.formats.framed_texts import Example
from trivium.measures.effects import NEITHER, NO, YES
from trivium.page.complexity.material import Material
from trivium.page.html import percent, table

_FEW = 20  # examples below which a value of a property has no mean of its own
_PART = 0.25  # of δ that a property must give by itself to go along with it


def rival_spans(example: Example) -> int:
    """Frame elements, of any frame, that begin in the answer's sentence and do not overlap the answer."""
    spans = sentences(example.text.text)
    answered = sentence_of(spans, example.answer)
    elements = {element.span for frame in example.text.frames for element in frame.elements}
    return sum(sentence_of(spans, span) == answered and not span.overlaps(example.answer) for span in elements)


SHARED = "events that share a participant"
PROPERTIES: Mapping[str, Callable[[Example], Any]] = {
    "the frame element asked for": lambda example: example.answer_element,
    "the number of the frame’s elements": lambda example: len({element.name for element in example.frame.elements}),
    "the number of rival spans (elements of any frame) in the answer’s sentence": rival_spans,
    SHARED: shares_participant,
}


@dataclass(frozen=True)
class Corpus:
    """The examples as the page explains them.

    Attributes:
        factors: (examples,) of 1, 0, -1 by factor.
        properties: (examples,) by name, as in PROPERTIES.
        elements, arcs: (examples,) numbers behind f5 and f4, None without that factor; arcs -1 where not counted.
        scores: (examples,) of the measure analysed, by model.
    """

    factors: Mapping[str, NDArray[np.int8]]
    properties: Mapping[str, NDArray]
    elements: NDArray[np.int64] | None
    arcs: NDArray[np.int64] | None
    scores: Mapping[str, NDArray[np.float64]]


def corpus_of(of: Material) -> Corpus:
    """The examples with their factors and scores, all in the same order."""
    ids, columns = [example.id for example in of.examples], of.factors.to_pydict()
    scores = read_scores(of.data / "scores.parquet", ids, of.used["validate"]["measure"])
    elements, arcs = columns.get("f5_elements"), None
    if "f4_arcs" in columns:
        arcs = np.where(np.array(columns["f4_case"]) == "path", of.factors["f4_arcs"].fill_null(-1).to_numpy(), -1)
    return Corpus(
        factors={factor: coded(columns[factor]) for factor in of.names},
        properties={name: np.array([read(example) for example in of.examples]) for name, read in PROPERTIES.items()},
        elements=None if elements is None else np.array(elements),
        arcs=arcs,
        scores=dict(zip(scores.models, scores.values, strict=True)),
    )


def composition(values: ArrayLike, labels: ArrayLike, codes: ArrayLike) -> float:
    """δ if the score depended on nothing but a property: what its mix on the two sides of a factor gives.

    With m(g) the mean score of all counted examples whose property is g, whichever side they are on:
    100 · (mean of m over E_f - mean of m over Ē_f) points. Values that fewer than 20 examples have share one mean, so
    that no example explains itself.

    Args:
        values: (examples,) scores.
        labels: (examples,) the property.
        codes: (examples,) of 1, 0, -1; each side has an example.
    """
    values, labels, codes = np.asarray(values, dtype=np.float64), np.asarray(labels), np.asarray(codes)
    counted = codes != NEITHER
    _, group = np.unique(labels[counted], return_inverse=True)
    size = np.bincount(group)
    group = np.where(size[group] < _FEW, len(size), group)
    total = np.bincount(group, weights=values[counted])
    means = (total / np.maximum(np.bincount(group), 1))[group]
    side = codes[counted]
    return float(100 * (means[side == YES].mean() - means[side == NO].mean()))


def reason(found: Corpus, model: str, factor: str, delta: float) -> list[dict[str, Any]]:
    """Properties whose mix gives at least a quarter of δ, with its sign: the strongest first.

    Returns:
        name, `points` given by it alone, and its mean on either `sides` (None where it is no number).
    """
    codes, rows = found.factors[factor], []
    for name, labels in found.properties.items():
        points = composition(found.scores[model], labels, codes)
        if name != FACTORS[factor].defining and points * delta > 0 and abs(points) >= _PART * abs(delta):
            numbers = labels.dtype.kind != "U"
            sides = tuple(float(labels[codes == code].mean()) for code in (YES, NO)) if numbers else None
            rows.append({"name": name, "points": points, "sides": sides})
    return sorted(rows, key=lambda row: -abs(row["points"]))


def breakdowns(found: Corpus, models: Sequence[str], labels: Mapping[str, str]) -> list[Markup]:
    """Mean score of every model by number of frame elements, by arcs, and by f3 among events that share participants.

    Each where its factor is asked.
    """
    tables: dict[str, dict[str, NDArray[np.bool_]]] = {}
    if found.elements is not None:
        numbers = sorted(set(found.elements.tolist()))
        tables["By the number of the frame’s elements (behind f5)"] = {str(n): found.elements == n for n in numbers}
    if found.arcs is not None:
        arcs = sorted(set(found.arcs.tolist()), key=lambda n: (n < 0, n))
        tables["By arcs between trigger and answer (behind f4)"] = {
            "not counted" if n < 0 else str(n): found.arcs == n for n in arcs
        }
    if (f3 := found.factors.get("f3")) is not None:
        shared = np.asarray(found.properties[SHARED], dtype=bool)
        tables["f3 by whether something that the question names takes part in another event of the text, too"] = {
            f"{said}, f3 {side}": (shared == whether) & (f3 == code)
            for said, whether in (("shared", True), ("not shared", False))
            for side, code in (("yes", YES), ("no", NO))
        }
    made = []
    for title, columns in tables.items():
        heads = [Markup("{}<br><small>({})</small>").format(name, rows.sum()) for name, rows in columns.items()]
        lines = [[labels[model], *(_mean(found.scores[model][rows]) for rows in columns.values())] for model in models]
        made.append(table(["Model", *heads], lines, title))
    return made


def _mean(values: NDArray[np.float64]) -> str:
    return percent(float(values.mean()) if len(values) else None)
