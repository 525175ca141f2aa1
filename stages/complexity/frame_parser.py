"""Stage `complexity-frame_parser`. Trigger, frame and elements: a parser trained on annotated texts."""

from functools import partial
from pathlib import Path

from trivium.complexity.frames.parser_folder import describe_parser, load_parser
from trivium.complexity.frames.parser_training import FrameParserParameters, parser_job
from trivium.complexity.frames.scores import evaluate
from trivium.complexity.frames.tagger import FrameParser
from trivium.core.stage import Context, stage
from trivium.core.tasks import run_task
from trivium.formats.frame_corpora import read_texts


@stage("complexity.frame_parser", metrics="metrics/complexity/frame_parser.json", curves=True)
def main(
    parameters: FrameParserParameters,
    context: Context,
    *,
    base: Path = Path("models/complexity/base/camembert"),
    texts: Path = Path("data/complexity/raw/calor/frames"),
    out: Path = Path("models/complexity/frame_parser"),
) -> dict[str, float]:
    """Train on `texts`/train.jsonl, follow on validation.jsonl, measure on test.jsonl; write the parser.

    The parser is saved first, and the saved parser is evaluated.
    """
    tested = read_texts(texts / "test.jsonl")
    task = partial(parser_job, parameters=parameters, base=base, texts=texts)
    metrics = run_task(context, task, out, description="frame parser")
    saved = load_parser(out, parameters.batch)
    if isinstance(saved, FrameParser):
        metrics["steps"] = float(parameters.steps)
    scores = evaluate(saved, tested, permutations=parameters.permutations, seed=parameters.seed)
    metrics |= {"frames": float(len(saved.labels.frames)), "lexical_units": float(len(saved.labels.units))}
    describe_parser(out, saved, base=base, data=str(texts), metrics=scores)
    return metrics | scores
