"""Stage `decorrelation-pairs`. Write D': painted pictures, with captions that no longer name the removed object."""

from collections import Counter
from pathlib import Path

from trivium.core.stage import Context, stage
from trivium.core.tables import write_table
from trivium.decorrelation.captions.pairs import Captions, PairsParameters, captioner_of, make_pairs
from trivium.decorrelation.removals import PAIRS, read_removals


@stage("decorrelation.pairs", metrics="metrics/decorrelation/pairs_{dataset}_{filling}_{captions}.json")
def main(
    parameters: PairsParameters,
    context: Context,
    *,
    dataset: str,
    filling: str,
    captions: Captions,
    phrases: Path = Path("data/decorrelation/phrases/{dataset}.parquet"),
    removals: Path = Path("data/decorrelation/removals/{dataset}"),
    painted: Path = Path("data/decorrelation/painted/{dataset}/{filling}"),
    base: Path = Path("models/decorrelation/base"),
    out: Path = Path("data/decorrelation/pairs/{dataset}/{filling}_{captions}.parquet"),
) -> dict[str, float]:
    """Write D' with captions by --captions; captioner reads --painted by the model of that name in --base."""
    drawn = [
        removal
        for removal in read_removals(removals / "removals.parquet")
        if removal.split == "train" and removal.drawn
    ]
    captioner = captioner_of(base / "captioner", painted, parameters) if captions == "captioner" else None
    counts: Counter[str] = Counter(pairs=0, pictures=0, different_captions=0, dropped_unnamed=0, dropped_emptied=0)
    pairs = make_pairs(captions, drawn, phrases, parameters, counts, context.engine, captioner)
    write_table(out, pairs, PAIRS)
    return {"removals": float(len(drawn)), **{name: float(count) for name, count in counts.items()}}
