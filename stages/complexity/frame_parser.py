"""Stage `complexity-frame_parser`. Trigger, frame and elements: a parser trained on annotated texts."""

from functools import partial
from pathlib import Path

from trivium.complexity.frames.parser_folder import describe_parser, load_parser
from trivium.complexity.frames.parser_training import LICENCE, FrameParserParameters, parser_job, write_frames
from trivium.complexity.frames.scores import evaluate
from trivium.core.stage import Context, run_stage
from trivium.core.tasks import run_task
from trivium.formats.frame_corpora import read_texts
from trivium.nets.device import pick_device


def main(
    parameters: FrameParserParameters,
    context: Context,
    *,
    base: Path = Path("models/complexity/base/camembert"),
    texts: Path = Path("data/complexity/raw/calor/frames"),
    out: Path = Path("models/complexity/frame_parser"),
    out_frames: Path = Path("metrics/complexity/frame_parser_frames.csv"),
) -> dict[str, float]:
    """Train on `texts`/train.jsonl, follow on validation.jsonl, measure on test.jsonl; write the parser and a CSV.

    The parser is saved before it is measured, and what was saved is what is measured.
    """
    tested = read_texts(texts / "test.jsonl")
    task = partial(parser_job, parameters=parameters, base=base, texts=texts)
    metrics = run_task(context, task, out, description="frame parser")
    saved = load_parser(out)
    saved.to(pick_device())
    scores = evaluate(
        saved,
        tested,
        batch_size=parameters.batch,
        permutations=parameters.permutations,
        seed=parameters.seed,
    )
    metrics |= scores.metrics
    metrics |= {"frames": float(len(saved.labels.frames)), "lexical_units": float(len(saved.labels.units))}
    metrics |= {"steps": float(parameters.steps)}
    describe_parser(out, base=base, data=str(texts), licence=LICENCE, metrics=scores.metrics)
    write_frames(out_frames, scores.frames)
    return metrics


if __name__ == "__main__":
    run_stage(
        main,
        "complexity.frame_parser",
        FrameParserParameters,
        metrics="metrics/complexity/frame_parser.json",
        curves="metrics/complexity/curves/frame_parser.csv",
    )
