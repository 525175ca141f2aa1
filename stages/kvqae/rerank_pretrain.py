"""Stage `kvqae-rerank_pretrain`. Train the zero-shot cross-encoder on TriviaQA, with BM25's passages (kvqae.md §4).

It starts from the text encoder's weights, as in the paper; in the sample from more layers of MiniLM than the stand-in
of the text encoder has, with which it needs half as many steps.
"""

from functools import partial
from pathlib import Path

from trivium.core.atomic import write_atomically
from trivium.core.stage import Context, Source, stage
from trivium.core.tables import write_json
from trivium.core.tasks import run_task
from trivium.kvqae.reader.inputs import TrainingData
from trivium.kvqae.rerankers.cross_encoder import RerankPretrainParameters, train_cross_encoder
from trivium.sources.brought import bring


def write_base(parameters: RerankPretrainParameters, *, source: Source, base: Path, out: Path) -> dict[str, float]:
    """Write a Hugging Face folder: the sample's packaged MiniLM, returning its `layers`; hub and local take `base`."""
    with write_atomically(out) as target:
        if source == "sample":
            from trivium.sources.plain_weights import save_text

            return {"layers": float(save_text(target, layers=parameters.layers))}
        bring(base, target, sorted(str(path.relative_to(base)) for path in base.rglob("*") if path.is_file()))
        return {}


@stage("kvqae.rerank_pretrain", metrics="metrics/kvqae/rerank_pretrain.json", curves=True)
def main(
    parameters: RerankPretrainParameters,
    context: Context,
    *,
    source: Source,
    text: Path = Path("models/kvqae/base/text"),
    questions: Path = Path("data/kvqae/{kvqae.dataset}/triviaqa"),
    runs: Path = Path("data/kvqae/runs/bm25_triviaqa"),
    kb: Path = Path("data/kvqae/kb"),
    out: Path = Path("models/kvqae/cross_encoder/zero_shot"),
    out_base: Path = Path("models/kvqae/rerank_base"),
    out_base_counts: Path = Path("metrics/kvqae/rerank_base.json"),
) -> dict[str, float]:
    """Write the encoder that the cross-encoder starts from, and train it."""
    write_json(out_base_counts, write_base(parameters, source=source, base=text, out=out_base))
    task = partial(
        train_cross_encoder,
        parameters=parameters,
        base=out_base,
        base_name=str(out_base),
        new_perceptron=True,
        source=TrainingData(questions, runs, kb),
        data="TriviaQA without the questions of ViQuAE",
    )
    return run_task(context, task, out, description="cross-encoder")
