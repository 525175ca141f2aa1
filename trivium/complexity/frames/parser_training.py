"""Training of a frame parser on frame-annotated texts (complexity.md §1).

With an encoder, both kinds of reading are trained together, for a fixed number of steps; a training can be resumed.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from transformers import get_linear_schedule_with_warmup

from trivium.complexity.frames.labels import FrameLabels, collect_labels
from trivium.complexity.frames.parser_folder import AnyParser, save_parser, start_parser
from trivium.complexity.frames.scores import elements_in, frames_in, score_texts, total
from trivium.complexity.frames.tagger import FrameParser, Reading, collate
from trivium.complexity.frames.windows import PlacedFrame, Window, place_frames, span_of, words_under
from trivium.core.errors import BadInput
from trivium.core.parameters import Parameters
from trivium.core.tasks import Curve, Metrics, Point
from trivium.formats.frame_corpora import read_texts
from trivium.formats.framed_texts import AnnotatedText
from trivium.measures.frames import KindSpan, bio_tags
from trivium.nets import training
from trivium.nets.frame_parser import tagging_loss
from trivium.nets.tokens import pad

TaughtReading = tuple[Reading, NDArray[np.int64]]  # with the tag of each of its words


def teach(
    windows: Sequence[Window], placed: Sequence[PlacedFrame], labels: FrameLabels
) -> tuple[list[TaughtReading], list[TaughtReading], dict[str, int]]:
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
    elements: list[TaughtReading] = []
    for gold in placed:
        frame = frame_numbers[gold.instance.frame]
        if not _add(triggers[id(gold.window)], (frame, gold.first, gold.last)):
            counts["triggers_overlapping"] += 1
        spans: list[KindSpan] = []
        for element in gold.instance.elements:
            words = words_under(gold.window, element.span)
            if words is None:
                counts["elements_outside_window"] += 1
                continue
            counts["elements_widened"] += span_of(gold.window, *words) != element.span
            if not _add(spans, (name_numbers[element.name], *words)):
                counts["elements_overlapping"] += 1
        reading = Reading(gold.window, 1 + frame, (gold.first, gold.last))
        elements.append((reading, bio_tags(spans, len(gold.window.words))))
    first = [(Reading(window), bio_tags(triggers[id(window)], len(window.words))) for window in windows]
    return first, elements, counts


def _add(spans: list[KindSpan], span: KindSpan) -> bool:
    """Add a span unless it overlaps one that is there."""
    if any(span[1] <= last and first <= span[2] for _, first, last in spans):
        return False
    spans.append(span)
    return True


class FrameParserParameters(Parameters):
    """Section `complexity.frame_parser`; the kind `linear` reads `seed`, `no_frames`, `partial` and `permutations`."""

    kind: Literal["encoder", "linear"] = Field(
        default="encoder", description="An encoder that tags words, or linear models, which need no base model"
    )
    seed: int = Field(ge=0, description="Of new weights and of the order of the sentences")
    max_tokens: int = Field(ge=8, le=4096, description="Tokens of a sentence; longer ones are read in pieces")
    batch: int = Field(default=128, ge=1, description="Readings at a time when nothing is trained")
    windows: int = Field(ge=1, description="Sentences read for triggers in a step")
    frames: int = Field(ge=1, description="Frames whose elements are read in a step")
    mini_batch: int = Field(default=64, ge=1, description="Readings at a time; halves itself when GPU memory runs out")
    steps: int = Field(ge=1, description="Optimiser steps")
    learning_rate: float = Field(gt=0, description="AdamW's, at its highest")
    weight_decay: float = Field(default=0.01, ge=0, description="AdamW's")
    warmup: float = Field(
        default=0.1, ge=0, lt=1, description="Share of the steps in which the learning rate rises; then it falls"
    )
    max_gradient_norm: float = Field(default=1.0, gt=0, description="A longer gradient is scaled to this norm")
    validate_every: int = Field(ge=1, description="Steps between validations")
    checkpoint_every: int = Field(ge=1, description="Steps between checkpoints")
    validation_texts: int = Field(ge=0, description="Validation texts read at each validation, from the first on")
    permutations: int = Field(default=10_000, ge=1, description="Of the paired randomization test against the baseline")
    no_frames: tuple[str, ...] = Field(
        default=(), description="Names of annotations that say that a word evokes no frame, such as Other_sense"
    )
    partial: bool = Field(default=False, description="A word without annotation may evoke a frame all the same")


def mean_loss(parser: FrameParser, taught: Sequence[TaughtReading]) -> torch.Tensor:
    """Mean cross-entropy over the words of readings of one kind."""
    logits = parser.logits(collate([reading for reading, _ in taught], parser.tokenizer.pad_token_id))
    tags = pad([tags for _, tags in taught], -100)
    return tagging_loss(logits, tags.to(logits.device))


def _add_gradient(parser: FrameParser, taught: Sequence[TaughtReading], micro_batch: int) -> float:
    """Add the gradient of the mean loss over words of readings of one kind; returns the loss."""
    words = [len(tags) for _, tags in taught]
    return training.add_gradient(
        len(taught), micro_batch, lambda part: mean_loss(parser, taught[part]) * (sum(words[part]) / sum(words))
    )


def parser_job(
    checkpoints: Path, *, parameters: FrameParserParameters, base: Path, texts: Path, out: Path, log: Curve
) -> tuple[Metrics, list[Point]]:
    """Train on `texts`/train.jsonl, follow on validation.jsonl, save the parser, as a task of the engine.

    The stage that evaluates it writes its card again, with scores.
    """
    training = read_texts(texts / "train.jsonl")
    parser: AnyParser
    if parameters.kind == "linear":
        from trivium.complexity.frames.linear.parser import LinearFrameParser

        parser = LinearFrameParser.learn(
            training, no_frames=frozenset(parameters.no_frames), partial=parameters.partial, seed=parameters.seed
        )
        metrics = {"train_texts": float(len(training))}
    else:
        followed = read_texts(texts / "validation.jsonl")[: parameters.validation_texts]
        torch.manual_seed(parameters.seed)
        parser = start_parser(base, collect_labels(training), parameters.max_tokens)
        parser.batch = parameters.batch
        metrics = train_parser(parser, training, followed, parameters, work=checkpoints, log=log)
    save_parser(out, parser, base=base, data=str(texts))
    return metrics, log.points


def train_parser(
    parser: FrameParser,
    texts: Sequence[AnnotatedText],
    validation: Sequence[AnnotatedText],
    parameters: FrameParserParameters,
    *,
    work: Path,
    log: Callable[..., None],
) -> Metrics:
    """Train in place on annotated texts; goes on from the checkpoint in `work` if there is one.

    A step sees readings for triggers and readings for elements; its loss is the sum of the two means over words. The
    weights after the last step are kept: the learning rate has fallen to 0 by then.

    Returns:
        `loss` of the last step, and counts of what was taught and of what could not be (`train_*`).

    Raises:
        BadInput: no frame can be taught, the loss is not finite, or the checkpoint is of another model.
    """
    windows, cut = parser.prepare([text.text for text in texts])
    placed, lost = place_frames([text.frames for text in texts], windows)
    triggers, elements, counts = teach(windows, placed, parser.labels)
    if not elements:
        raise BadInput("no frame to learn from", got=f"{len(texts)} texts", expected="annotated texts")
    plain, steps = [text.text for text in validation], parameters.steps

    def batch(step: int) -> list[list[TaughtReading]]:
        return [
            [taught[row] for row in training.rows_of_step(len(taught), size, step, parameters.seed)]
            for taught, size in ((triggers, parameters.windows), (elements, parameters.frames))
        ]

    def validate() -> dict[str, float]:
        predicted = parser.parse(plain)
        return {
            f"validation_{name}_f1": total(score_texts(predicted, validation, items)).f1
            for name, items in (("frame", frames_in), ("element", elements_in))
        }

    optimizer = torch.optim.AdamW(
        parser.network.parameters(), lr=parameters.learning_rate, weight_decay=parameters.weight_decay, fused=True
    )
    progress = training.train(
        parser.network,
        optimizer,
        get_linear_schedule_with_warmup(optimizer, round(parameters.warmup * steps), steps),
        steps=steps,
        batches=lambda first: map(batch, range(first, steps)),
        gradient=lambda kinds, micro_batch: (sum(_add_gradient(parser, kind, micro_batch) for kind in kinds), {}),
        micro_batch=parameters.mini_batch,
        unit="readings",
        max_gradient_norm=parameters.max_gradient_norm,
        work=work,
        checkpoint_every=parameters.checkpoint_every,
        log=log,
        name="frame parser",
        validation=training.Validation(validate, parameters.validate_every, at_end=False),
    )
    # Words that share a token cannot be told apart: the tokenizer should keep punctuation from letters.
    shared = sum(len(window.words) - len(set(window.first_tokens)) for window in windows)
    counts |= {"texts": len(texts), "sentences": len(windows), "frames": len(placed), "sentences_cut": cut}
    counts |= {"triggers_outside_windows": lost, "words_sharing_tokens": shared}
    return {"loss": progress.loss} | {f"train_{name}": float(count) for name, count in counts.items()}
