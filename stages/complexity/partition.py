"""Second module of stage `complexity-validate`. The evaluation set cut by complexity, easiest to hardest."""

from pathlib import Path

import numpy as np
from pydantic import Field

from trivium.complexity import partitions
from trivium.complexity.effects.analysed_tables import Measure, read_factors, read_names, read_scores
from trivium.core.atomic import write_atomically
from trivium.core.parameters import Parameters, shared
from trivium.core.stage import stage
from trivium.core.tables import write_csv
from trivium.formats.frame_corpora import read_examples, read_texts
from trivium.formats.squad import as_squad

FALLBACK = ("f5", "f6")  # the two that the paper validates for all models


class PartitionParameters(Parameters):
    """Section `complexity.partition`; the cards tell where the evaluation set and its syntax come from."""

    source: str = shared("world.calor", description="Of the evaluation set")
    world_seed: int = shared("complexity.world.seed", ge=0, description="Of the sample world")
    parser: str = shared("complexity.syntax.parser", description="Source of its syntax")
    measure: Measure = Field(description="The score that cards and curves show")
    majority: float = Field(ge=0, lt=1, description="A factor counts when validated for more than this share of models")


@stage("complexity.partition", metrics="metrics/complexity/partition.json")
def main(
    parameters: PartitionParameters,
    *,
    questions: Path = Path("data/complexity/raw/calor/questions.jsonl"),
    texts: Path = Path("data/complexity/raw/calor/frames/test.jsonl"),
    training: Path = Path("data/complexity/raw/calor/frames/train.jsonl"),
    factors: Path = Path("data/complexity/factors.parquet"),
    scores: Path = Path("data/complexity/scores.parquet"),
    effects: Path = Path("data/complexity/effects.parquet"),
    out: Path = Path("data/complexity/partitions"),
    out_curves: Path = Path("metrics/complexity/partitions.csv"),
    out_frames: Path = Path("metrics/complexity/illustrations.csv"),
) -> dict[str, float]:
    """Write a folder of data sets with a card each, the curves (CSV) and the frames (CSV)."""
    table, names = read_factors(factors), read_names(factors)
    examples = read_examples(questions, texts)
    read = read_scores(scores, table.ids, parameters.measure)
    validated = partitions.chosen_factors(effects, table.names, parameters.majority)
    chosen = validated or tuple(name for name in FALLBACK if name in table.names) or table.names
    parts = partitions.parts_of(dict(zip(table.names, table.factors, strict=True)), chosen)
    rows = partitions.curve_rows(parts, dict(zip(read.models, read.values, strict=True)))
    places = [
        f"cut from: Calor, {parameters.source}, world seed {parameters.world_seed}, whose licence it has",
        f"syntax, for f4: {parameters.parser}",
    ]
    with write_atomically(out) as folder:
        for part in parts:
            of_part = [as_squad(examples[at]) for at in np.flatnonzero(part.members)]
            says = partitions.definition(part, chosen, names, validated=bool(validated))
            partitions.write_part(folder, part, rows, of_part, says, language="fr", measure=parameters.measure,
                       places=places)  # fmt: skip
    write_csv(out_curves, partitions.PARTITION_COLUMNS, rows)
    frames = partitions.frame_rows(table, read, examples, read_texts(training))
    write_csv(out_frames, list(frames[0]), frames)
    counts = [part for part in parts if part.kind == "count"]
    by_level = np.stack([read.values[:, part.members].mean(axis=1) for part in counts], axis=1)
    return {
        "fallback": float(not validated),
        "factors": float(len(chosen)),
        **{f"uses_{name}": float(name in chosen) for name in table.names},
        "partitions": float(len(parts)),
        "partitions_without_examples": float(len(chosen) + 1 + 2 * len(table.names) - len(parts)),
        "models_falling": float((np.diff(by_level, axis=1) < 0).all(axis=1).sum() if len(counts) > 1 else 0),
        **{f"{part.name}_examples": float(part.members.sum()) for part in parts},
        **{f"{row['partition']}_score": row["score"] for row in rows if row["model"] == partitions.MEAN},
    }
