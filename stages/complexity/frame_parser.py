"""Stage `complexity-frame_parser`. Trigger, frame and elements: a parser trained on annotated texts."""

from pathlib import Path
from typing import Any

import torch

from trivium.complexity.frames.frame_parser import FrameParserParameters, train_parser, write_frames
from trivium.complexity.frames.labels import collect_labels
from trivium.complexity.frames.parser_folder import describe_parser, load_parser, save_parser, start_parser
from trivium.complexity.frames.scores import evaluate
from trivium.formats.frame_corpora import read_texts
from trivium.harness.stage import Context, run_stage
from trivium.nets.device import pick_device


def main(
    parameters: FrameParserParameters,
    context: Context,
    *,
    base: Path,
    texts: Path,
    out: Path,
    out_frames: Path,
) -> dict[str, float]:
    """Train on `texts`/train.jsonl, follow on validation.jsonl, measure on test.jsonl; write the parser and a CSV.

    The parser is saved before it is measured, and what was saved is what is measured.
    """
    split = {name: read_texts(texts / f"{name}.jsonl") for name in ("train", "validation", "test")}
    torch.manual_seed(parameters.seed)
    labels = collect_labels(split["train"])
    parser = start_parser(base, labels, parameters.max_tokens)
    parser.to(pick_device())
    validation = split["validation"][: parameters.validation_texts]
    metrics = train_parser(parser, split["train"], validation, parameters, context)
    origin: dict[str, Any] = {"base": base, "data": str(texts), "licence": "mit"}
    save_parser(out, parser, **origin)
    saved = load_parser(out)
    saved.to(pick_device())
    scores = evaluate(
        saved,
        split["test"],
        batch_size=parameters.batch,
        permutations=parameters.permutations,
        seed=parameters.seed,
    )
    metrics |= scores.metrics
    metrics |= {"frames": float(len(labels.frames)), "lexical_units": float(len(labels.units))}
    metrics |= {"steps": float(parameters.steps)}
    describe_parser(out, **origin, metrics=scores.metrics)
    write_frames(out_frames, scores.frames)
    return metrics


if __name__ == "__main__":
    run_stage(main, "complexity.frame_parser", FrameParserParameters)
