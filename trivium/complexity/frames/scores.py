"""Scores of a frame parser on annotated texts, beside the most frequent frame of each lemma (complexity.md §1)."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np

from trivium.complexity.frames.labels import MostFrequentFrame, Unit, ambiguous_units
from trivium.complexity.frames.parser_folder import FrameParser
from trivium.complexity.frames.parsing import find_elements, find_triggers, frames_of_triggers, parse
from trivium.complexity.frames.windows import Placed, Window, place_frames, span_of, windows_of
from trivium.formats.framed_texts import AnnotatedText, FrameInstance
from trivium.measures.frames import SetScore, f1_randomization, mcnemar_exact, score_sets

Item = tuple[Any, ...]


def triggers_in(frames: Iterable[FrameInstance]) -> set[Item]:
    """(span) of each trigger of a text."""
    return {(each.lexical_unit.span,) for each in frames}


def frames_in(frames: Iterable[FrameInstance]) -> set[Item]:
    """(trigger span, frame) of each instance of a text."""
    return {(each.lexical_unit.span, each.frame) for each in frames}


def elements_in(frames: Iterable[FrameInstance]) -> set[Item]:
    """(trigger span, frame, element, span) of each element of a text."""
    return {
        (each.lexical_unit.span, each.frame, element.name, element.span) for each in frames for element in each.elements
    }


def score_texts(
    found: Sequence[Sequence[FrameInstance]],
    texts: Sequence[AnnotatedText],
    items: Callable[[Iterable[FrameInstance]], set[Item]],
) -> list[SetScore]:
    """Exact match, text by text, of what `items` takes from frames."""
    return [score_sets(items(each), items(text.frames)) for each, text in zip(found, texts, strict=True)]


def total(scores: Iterable[SetScore]) -> SetScore:
    """Micro average: counts are summed."""
    listed = list(scores)
    return SetScore(sum(s.right for s in listed), sum(s.found for s in listed), sum(s.true for s in listed))


@dataclass(frozen=True)
class FrameScores:
    """What was measured: flat metrics, and one row a frame."""

    metrics: dict[str, float]
    frames: list[dict[str, Any]]


def evaluate(
    parser: FrameParser, texts: Sequence[AnnotatedText], *, batch_size: int, permutations: int, seed: int
) -> FrameScores:
    """Every score on held-out texts.

    Metrics: `trigger_*`, `frame_*` (trigger and frame) and `element_*` (trigger, frame, element, span), each with
    precision, recall and F1, end to end; `frame_f1_unmasked`, without the lexicon's mask; `frame_accuracy` of gold
    triggers and `frame_accuracy_unmasked`; `element_given_frame_*`, of gold triggers and frames. For the baseline
    `baseline_frame_accuracy`, `baseline_trigger_*`, `baseline_frame_*`; margins over it, with the p of McNemar's exact
    test for accuracy and of the paired randomization test for F1; and accuracies of the ambiguous lexical units.
    """
    plain = [text.text for text in texts]
    windows, cut = windows_of(plain, parser.tokenizer, parser.max_tokens)
    placed, lost = place_frames(texts, windows)
    baseline = MostFrequentFrame(parser.labels)
    found = parse(parser, plain, windows, batch_size)
    guessed = [baseline.parse(text) for text in plain]
    metrics = {
        "texts": float(len(texts)),
        "true_frames": float(sum(len(text.frames) for text in texts)),
        "sentences_cut": float(cut),
        "triggers_outside_windows": float(lost),
    }
    for prefix, frames in (("", found), ("baseline_", guessed)):
        metrics |= total(score_texts(frames, texts, triggers_in)).named(f"{prefix}trigger")
        metrics |= total(score_texts(frames, texts, frames_in)).named(f"{prefix}frame")
    metrics |= total(score_texts(found, texts, elements_in)).named("element")
    metrics["frame_f1_unmasked"] = _unmasked_f1(parser, texts, windows, batch_size)
    metrics["frame_f1_margin"] = metrics["frame_f1"] - metrics["baseline_frame_f1"]
    metrics["frame_f1_margin_p"] = f1_randomization(
        score_texts(found, texts, frames_in),
        score_texts(guessed, texts, frames_in),
        permutations=permutations,
        seed=seed,
    )
    right = _accuracies(parser, texts, placed, batch_size, metrics)
    metrics |= _given_frames(parser, texts, placed, batch_size).named("element_given_frame")
    return FrameScores(metrics, _by_frame(parser, found, texts, right))


def _unmasked_f1(
    parser: FrameParser, texts: Sequence[AnnotatedText], windows: Sequence[Window], batch_size: int
) -> float:
    triggers = find_triggers(parser, [text.text for text in texts], windows, batch_size, masked=False)
    found = {
        (window.text, span_of(window, first, last), parser.labels.frames[frame])
        for window, row in zip(windows, triggers, strict=True)
        for frame, first, last in row
    }
    true = {(place, *item) for place, text in enumerate(texts) for item in frames_in(text.frames)}
    return score_sets(found, true).f1


def _accuracies(
    parser: FrameParser,
    texts: Sequence[AnnotatedText],
    placed: Sequence[Placed],
    batch_size: int,
    metrics: dict[str, float],
) -> list[tuple[str, bool, bool]]:
    """Adds accuracies given the gold trigger; returns (frame, parser right, baseline right) of every gold frame.

    Like the baseline, the parser is told the gold lexical unit: it chooses among the frames that the lexicon has for
    it. A trigger outside the windows counts as wrong for the parser.
    """
    labels = parser.labels
    baseline = MostFrequentFrame(labels)
    given = [(each.window, each.first) for each in placed]
    known = [labels.units.get(_unit(each.instance)) for each in placed]
    masks = [None if unit is None else np.array([frame in unit for frame in labels.frames]) for unit in known]
    chosen, unmasked = (
        {
            id(each.instance): labels.frames[frame] == each.instance.frame
            for each, frame in zip(placed, frames_of_triggers(parser, given, allowed, batch_size), strict=True)
        }
        for allowed in (masks, [None] * len(given))
    )
    gold = [instance for text in texts for instance in text.frames]
    if not gold:
        return []
    ambiguous = ambiguous_units(labels)
    among = [_unit(instance) in ambiguous for instance in gold]
    mine = [chosen.get(id(instance), False) for instance in gold]
    theirs = [baseline.frame(*_unit(instance)) == instance.frame for instance in gold]
    metrics |= {
        "frame_accuracy": _mean(mine),
        "frame_accuracy_unmasked": _mean([unmasked.get(id(instance), False) for instance in gold]),
        "baseline_frame_accuracy": _mean(theirs),
        "frame_accuracy_margin": _mean(mine) - _mean(theirs),
        "frame_accuracy_margin_p": mcnemar_exact(mine, theirs),
        "ambiguous_share": _mean(among),
    }
    if any(among):
        metrics["ambiguous_frame_accuracy"] = _mean(list(compress(mine, among)))
        metrics["baseline_ambiguous_frame_accuracy"] = _mean(list(compress(theirs, among)))
    return [(each.frame, *right) for each, right in zip(gold, zip(mine, theirs, strict=True), strict=True)]


def _unit(instance: FrameInstance) -> Unit:
    return instance.lexical_unit.lemma, instance.lexical_unit.part_of_speech


def _given_frames(
    parser: FrameParser, texts: Sequence[AnnotatedText], placed: Sequence[Placed], batch_size: int
) -> SetScore:
    """Elements of gold triggers with gold frames; those of frames that the parser does not know are missed."""
    numbers = {name: place for place, name in enumerate(parser.labels.frames)}
    known = [each for each in placed if each.instance.frame in numbers]
    given = [(each.window, (numbers[each.instance.frame], each.first, each.last)) for each in known]
    found = {
        (each.text, each.instance.lexical_unit.span, each.instance.frame, *element)
        for each, elements in zip(known, find_elements(parser, given, batch_size), strict=True)
        for element in elements
    }
    true = {(place, *item) for place, text in enumerate(texts) for item in elements_in(text.frames)}
    return score_sets(found, true)


def _by_frame(
    parser: FrameParser,
    found: Sequence[Sequence[FrameInstance]],
    texts: Sequence[AnnotatedText],
    right: Sequence[tuple[str, bool, bool]],
) -> list[dict[str, Any]]:
    """One row a frame of the texts or of the lexicon."""
    rows = []
    for frame in sorted({row[0] for row in right} | set(parser.labels.frames)):
        only = [[each for each in instances if each.frame == frame] for instances in found]
        true = [[each for each in text.frames if each.frame == frame] for text in texts]
        scores = total(score_sets(frames_in(a), frames_in(b)) for a, b in zip(only, true, strict=True))
        elements = total(score_sets(elements_in(a), elements_in(b)) for a, b in zip(only, true, strict=True))
        mine = [row for row in right if row[0] == frame]
        rows.append(
            {
                "frame": frame,
                "true": scores.true,
                "found": scores.found,
                "precision": scores.precision,
                "recall": scores.recall,
                "f1": scores.f1,
                "element_f1": elements.f1,
                "accuracy": _mean([row[1] for row in mine]) if mine else "",
                "baseline_accuracy": _mean([row[2] for row in mine]) if mine else "",
            }
        )
    return rows


def _mean(decisions: Sequence[bool]) -> float:
    return sum(decisions) / len(decisions)
