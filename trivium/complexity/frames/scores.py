"""Scores of a frame parser on annotated texts, beside the most frequent frame of each lemma (complexity.md §1)."""

from collections.abc import Callable, Iterable, Sequence
from itertools import compress
from statistics import fmean
from typing import Any

from trivium.complexity.frames.labels import MostFrequentFrame
from trivium.complexity.frames.parser_folder import AnyParser
from trivium.complexity.frames.tagger import FrameParser
from trivium.complexity.frames.windows import Instances, place_frames
from trivium.formats.framed_texts import AnnotatedText, FrameInstance
from trivium.measures.frames import SetScore, f1_randomization, mcnemar_exact, score_sets

Item = tuple[Any, ...]


def triggers_in(frames: Iterable[FrameInstance]) -> set[Item]:
    """(span) of each trigger of a text."""
    return {(frame.lexical_unit.span,) for frame in frames}


def frames_in(frames: Iterable[FrameInstance]) -> set[Item]:
    """(trigger span, frame) of each instance of a text."""
    return {(frame.lexical_unit.span, frame.frame) for frame in frames}


def elements_in(frames: Iterable[FrameInstance]) -> set[Item]:
    """(trigger span, frame, element, span) of each element of a text."""
    return {
        (frame.lexical_unit.span, frame.frame, element.name, element.span)
        for frame in frames
        for element in frame.elements
    }


def score_texts(
    predicted: Instances,
    texts: Sequence[AnnotatedText],
    items: Callable[[Iterable[FrameInstance]], set[Item]],
) -> list[SetScore]:
    """Exact match, text by text, of what `items` takes from frames."""
    return [score_sets(items(listed), items(text.frames)) for listed, text in zip(predicted, texts, strict=True)]


def total(scores: Iterable[SetScore]) -> SetScore:
    """Micro average: counts are summed."""
    listed = list(scores)
    return SetScore(sum(s.right for s in listed), sum(s.found for s in listed), sum(s.true for s in listed))


def evaluate(parser: AnyParser, texts: Sequence[AnnotatedText], *, permutations: int, seed: int) -> dict[str, float]:
    """Every score on held-out texts, as flat metrics.

    They are `trigger_*`, `frame_*` (trigger and frame) and `element_*` (trigger, frame, element, span), each with
    precision, recall and F1, end to end; `frame_accuracy` of gold triggers; `element_given_frame_*`, of gold triggers
    and frames. For the baseline `baseline_frame_accuracy`, `baseline_trigger_*`, `baseline_frame_*`; margins over it,
    with the p of McNemar's exact test for accuracy and of the paired randomization test for F1; and accuracies of the
    ambiguous lexical units. Of a parser with an encoder, `frame_f1_unmasked` and `frame_accuracy_unmasked`, too:
    without the lexicon's mask.
    """
    plain, gold = [text.text for text in texts], [text.frames for text in texts]
    pieces: Any  # of the parser's kind
    pieces, cut = parser.prepare(plain)
    baseline = MostFrequentFrame(parser.labels)
    predicted = parser.parse(plain, pieces)
    guessed = [baseline.parse(text) for text in plain]
    metrics = {"texts": float(len(texts)), "true_frames": float(sum(map(len, gold))), "sentences_cut": float(cut)}
    for prefix, frames in (("", predicted), ("baseline_", guessed)):
        metrics |= total(score_texts(frames, texts, triggers_in)).named(f"{prefix}trigger")
        metrics |= total(score_texts(frames, texts, frames_in)).named(f"{prefix}frame")
    metrics |= total(score_texts(predicted, texts, elements_in)).named("element")
    metrics["frame_f1_margin"] = metrics["frame_f1"] - metrics["baseline_frame_f1"]
    metrics["frame_f1_margin_p"] = f1_randomization(
        score_texts(predicted, texts, frames_in),
        score_texts(guessed, texts, frames_in),
        permutations=permutations,
        seed=seed,
    )
    metrics |= total(score_texts(parser.with_elements(plain, gold), texts, elements_in)).named("element_given_frame")
    if isinstance(parser, FrameParser):
        metrics["triggers_outside_windows"] = float(place_frames(gold, pieces)[1])
        unmasked = parser.parse(plain, pieces, masked=False)
        metrics["frame_f1_unmasked"] = total(score_texts(unmasked, texts, frames_in)).f1
        if any(gold):
            named = parser.frames_of(plain, gold, masked=False)
            metrics["frame_accuracy_unmasked"] = fmean(_right(named, gold))
    right = _right(parser.frames_of(plain, gold), gold)
    theirs = _right([[baseline.frame(instance.lexical_unit) for instance in frames] for frames in gold], gold)
    if right:
        ambiguous = {unit for unit, counts in parser.labels.units.items() if len(counts) > 1}
        among = [instance.lexical_unit.name in ambiguous for frames in gold for instance in frames]
        metrics |= {
            "frame_accuracy": fmean(right),
            "baseline_frame_accuracy": fmean(theirs),
            "frame_accuracy_margin": fmean(right) - fmean(theirs),
            "frame_accuracy_margin_p": mcnemar_exact(right, theirs),
            "ambiguous_share": fmean(among),
        }
        if any(among):
            metrics["ambiguous_frame_accuracy"] = fmean(list(compress(right, among)))
            metrics["baseline_ambiguous_frame_accuracy"] = fmean(list(compress(theirs, among)))
    return metrics


def _right(named: Sequence[Sequence[str]], gold: Instances) -> list[bool]:
    """Whether the named frame of each gold trigger is right."""
    return [
        name == instance.frame
        for names, frames in zip(named, gold, strict=True)
        for name, instance in zip(names, frames, strict=True)
    ]
