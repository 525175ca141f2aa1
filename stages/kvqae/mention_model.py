"""Stage `kvqae-mention_model`. Train a small spaCy pipeline that finds mentions, or name an installed one."""

from pathlib import Path

from pydantic import Field

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.parameters import Parameters
from trivium.core.stage import Context, stage
from trivium.core.tables import write_json
from trivium.kvqae.construction import spacy_pipeline
from trivium.nets.cards import write_card


class MentionModelParameters(Parameters):
    """Section `kvqae.mention_model`; all but `model` is of the trained one."""

    model: str = Field(
        min_length=1, description="An installed spaCy pipeline such as en_core_web_lg (the paper's), or trained"
    )
    seed: int = Field(default=0, ge=0, description="Of weights, order and dropout")
    held_out: float = Field(
        default=0.15, gt=0, lt=1, description="Share of the sentences, the last ones, that only measure"
    )
    epochs: int = Field(default=6, ge=1, description="Times each sentence is seen")
    batch: int = Field(default=16, ge=1, description="Sentences in a step")
    learning_rate: float = Field(default=0.002, gt=0, description="Adam's")
    dropout: float = Field(default=0.1, ge=0, lt=1, description="Share of the activations left out in training")
    width: int = Field(default=64, ge=8, description="Of the word vectors")
    depth: int = Field(default=4, ge=1, description="Convolutions: words to each side that a word's vector sees")
    rows: int = Field(default=1000, ge=100, description="Of each table of hashed word features")


@stage("kvqae.mention_model", metrics="metrics/kvqae/mention_model.json", curves=True)
def main(
    parameters: MentionModelParameters,
    context: Context,
    *,
    annotated: Path = Path("data/kvqae/sources/annotated.jsonl"),
    out: Path = Path("models/kvqae/spacy"),
) -> dict[str, float]:
    """Write a spaCy pipeline to the folder --out, or `pipeline.json` that names an installed one."""
    if parameters.model != "trained":
        meta = spacy_pipeline.load_package(parameters.model).meta
        with write_atomically(out) as target:
            write_json(target / spacy_pipeline.POINTER, {"model": parameters.model})
            write_card(
                target,
                title=f"spaCy's {parameters.model}",
                description="Named entities and dependencies; this folder only names the installed package.",
                base=f"{parameters.model} {meta['version']}",
                data="see the package",
                metrics={},
                licence=meta.get("license") or None,
                library="spacy",
            )
        return {"trained": 0.0}
    sentences = spacy_pipeline.read_annotated(annotated)
    cut = len(sentences) - round(parameters.held_out * len(sentences))
    training, held_out = sentences[:cut], sentences[cut:]
    if not training or not held_out:
        raise BadInput(
            "too few sentences to train on some and to measure on others", file=annotated, got=len(sentences),
            field="kvqae.mention_model.held_out",
        )  # fmt: skip
    pipeline = spacy_pipeline.build_pipeline(width=parameters.width, depth=parameters.depth, rows=parameters.rows)
    loss = spacy_pipeline.train_pipeline(
        pipeline, training, seed=parameters.seed, epochs=parameters.epochs, batch=parameters.batch,
        learning_rate=parameters.learning_rate, dropout=parameters.dropout, log=context.tracker.log,
    )  # fmt: skip
    scores = spacy_pipeline.measure_pipeline(pipeline, held_out)
    with write_atomically(out) as target:
        pipeline.to_disk(target)
        write_card(
            target,
            title="spaCy pipeline that finds mentions",
            description="Named entities and dependencies of English questions; small, and of one domain.",
            base="random weights",
            data=f"{len(training)} sentences of {annotated} (the sample world's are generated)",
            metrics=scores,
            licence=None,
            library="spacy",
        )
    counts = {
        "trained": 1.0,
        "seed": parameters.seed,
        "sentences": len(training),
        "held_out_sentences": len(held_out),
        "loss": loss,
    }
    return counts | scores
