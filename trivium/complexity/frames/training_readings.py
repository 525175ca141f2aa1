"""What the frame parser is trained on: readings of windows with their gold tags."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trivium.complexity.frames.labels import FrameLabels
from trivium.complexity.frames.parser_folder import Asked
from trivium.complexity.frames.windows import Window
from trivium.formats.framed_texts import AnnotatedText, FrameInstance, Span
from trivium.measures.bio import KindSpan, bio_tags


@dataclass(frozen=True)
class Taught:
    """A reading and the tag of each of its words."""

    asked: Asked
    tags: NDArray[np.int64]


@dataclass(frozen=True)
class Placed:
    """A gold frame in the window that holds its trigger: first and last word of the trigger."""

    text: int
    instance: FrameInstance
    window: Window
    first: int
    last: int


def place_frames(texts: Sequence[AnnotatedText], windows: Sequence[Window]) -> tuple[list[Placed], int]:
    """Every gold frame whose trigger is inside one window, in order, and how many triggers are not."""
    by_text: dict[int, list[Window]] = {}
    for window in windows:
        by_text.setdefault(window.text, []).append(window)
    placed, lost = [], 0
    for place, text in enumerate(texts):
        for instance in text.frames:
            for window in by_text.get(place, ()):
                words = words_under(window, instance.lexical_unit.span)
                if words is not None:
                    placed.append(Placed(place, instance, window, *words))
                    break
            else:
                lost += 1
    return placed, lost


def words_under(window: Window, span: Span) -> tuple[int, int] | None:
    """First and last word that share a character with the span; None when it is not whole in the window."""
    if span.start < window.words[0].start or span.end > window.words[-1].end:
        return None
    touched = [place for place, word in enumerate(window.words) if word.overlaps(span)]
    return (touched[0], touched[-1]) if touched else None


def teach(
    windows: Sequence[Window], placed: Sequence[Placed], labels: FrameLabels
) -> tuple[list[Taught], list[Taught], dict[str, int]]:
    """Readings for triggers (one a window), readings for elements (one a frame), and what could not be tagged.

    Counts: `triggers_overlapping` (the first of them is kept), `elements_overlapping` (likewise),
    `elements_outside_window`, `elements_widened` (their span cuts a word, which is tagged whole).
    """
    frame_numbers = {name: place for place, name in enumerate(labels.frames)}
    name_numbers = {name: place for place, name in enumerate(labels.names)}
    counts = dict.fromkeys(
        ("triggers_overlapping", "elements_overlapping", "elements_outside_window", "elements_widened"), 0
    )
    triggers: dict[int, list[KindSpan]] = {id(window): [] for window in windows}
    elements: list[Taught] = []
    for each in placed:
        frame = frame_numbers[each.instance.frame]
        if not _add(triggers[id(each.window)], (frame, each.first, each.last)):
            counts["triggers_overlapping"] += 1
        spans: list[KindSpan] = []
        for element in each.instance.elements:
            words = words_under(each.window, element.span)
            if words is None:
                counts["elements_outside_window"] += 1
                continue
            tagged = Span(each.window.words[words[0]].start, each.window.words[words[1]].end)
            counts["elements_widened"] += tagged != element.span
            if not _add(spans, (name_numbers[element.name], *words)):
                counts["elements_overlapping"] += 1
        asked = Asked(each.window, 1 + frame, (each.first, each.last))
        elements.append(Taught(asked, bio_tags(spans, len(each.window.words))))
    first = [Taught(Asked(window), bio_tags(triggers[id(window)], len(window.words))) for window in windows]
    return first, elements, counts


def _add(spans: list[KindSpan], span: KindSpan) -> bool:
    """Add a span unless it overlaps one that is there."""
    if any(span[1] <= last and first <= span[2] for _, first, last in spans):
        return False
    spans.append(span)
    return True
