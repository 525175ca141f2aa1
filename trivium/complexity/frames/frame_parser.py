"""Train the frame parser on frame-annotated texts and measure it on held-out ones (complexity.md §1)."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from pydantic import Field

from trivium.complexity.frames.labels import collect_labels
from trivium.complexity.frames.parser_folder import FrameParser, save_parser, start_parser
from trivium.complexity.frames.parser_training import FrameTrainingParameters, train
from trivium.complexity.frames.parsing import parse
from trivium.complexity.frames.scores import elements_in, frames_in, score_texts, total
from trivium.complexity.frames.training_readings import place_frames, teach
from trivium.complexity.frames.windows import windows_of
from trivium.core.csv_tables import write_csv
from trivium.core.errors import BadInput
from trivium.core.tasks import Curve, Metrics, Point
from trivium.formats.frame_corpora import read_texts
from trivium.formats.framed_texts import AnnotatedText
from trivium.nets.device import pick_device

LICENCE = "mit"


class FrameParserParameters(FrameTrainingParameters):
    """Section `complexity.frame_parser`."""

    seed: int = Field(ge=0, description="Of new weights and of the order of the sentences")
    max_tokens: int = Field(ge=8, le=4096, description="Tokens of a sentence; longer ones are read in pieces")
    batch: int = Field(default=128, ge=1, description="Readings at a time when nothing is trained")
    validation_texts: int = Field(ge=0, description="Validation texts read at each validation, from the first on")
    permutations: int = Field(default=10_000, ge=1, description="Of the paired randomization test against the baseline")


def parser_job(
    checkpoints: Path, *, parameters: FrameParserParameters, base: Path, texts: Path, out: Path, log: Curve
) -> tuple[Metrics, list[Point]]:
    """Train on `texts`/train.jsonl, follow on validation.jsonl, save the parser, as a task of the engine.

    Its card is written once more where it is measured.
    """
    training, validation = (read_texts(texts / f"{name}.jsonl") for name in ("train", "validation"))
    torch.manual_seed(parameters.seed)
    parser = start_parser(base, collect_labels(training), parameters.max_tokens)
    parser.to(pick_device())
    followed = validation[: parameters.validation_texts]
    metrics = train_parser(parser, training, followed, parameters, work=checkpoints, log=log)
    save_parser(out, parser, base=base, data=str(texts), licence=LICENCE)
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
    """Train on annotated texts; returns the last loss and what could not be taught.

    Raises:
        BadInput: no frame can be taught, or see `train`.
    """
    windows, cut = windows_of([text.text for text in texts], parser.tokenizer, parser.max_tokens)
    placed, lost = place_frames(texts, windows)
    triggers, elements, counts = teach(windows, placed, parser.labels)
    if not elements:
        raise BadInput("no frame to learn from", got=f"{len(texts)} texts", expected="annotated texts")
    plain = [text.text for text in validation]
    read, _ = windows_of(plain, parser.tokenizer, parser.max_tokens)

    def validate() -> dict[str, float]:
        found = parse(parser, plain, read, parameters.batch)
        return {
            "validation_frame_f1": total(score_texts(found, validation, frames_in)).f1,
            "validation_element_f1": total(score_texts(found, validation, elements_in)).f1,
        }

    metrics = train(
        parser,
        triggers,
        elements,
        parameters,
        seed=parameters.seed,
        work=work,
        validate=validate,
        log=log,
    )
    metrics |= {"train_texts": float(len(texts)), "train_sentences": float(len(windows))}
    metrics |= {"train_frames": float(len(placed)), "train_sentences_cut": float(cut)}
    metrics |= {"train_triggers_outside_windows": float(lost)}
    # Such words cannot be told apart: the tokenizer should keep punctuation from letters.
    metrics |= {"train_words_sharing_tokens": float(sum(len(w.words) - len(set(w.first_tokens)) for w in windows))}
    return metrics | {f"train_{name}": float(count) for name, count in counts.items()}


def write_frames(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """One CSV line a frame; accuracies are empty where the held-out texts lack it."""
    write_csv(path, list(rows[0]), rows)
