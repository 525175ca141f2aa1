"""Stage `decorrelation-pairs`. D': painted pictures with captions that no longer name what went."""

from collections import Counter
from pathlib import Path
from typing import get_args

from trivium.core.errors import BadInput
from trivium.core.stage import Context, run_stage
from trivium.core.tables import write_table
from trivium.decorrelation.captions.pairs import SCHEMA, Captions, PairsParameters, _Painted, make_pairs
from trivium.decorrelation.regions.removal_table import read_removals


def main(
    parameters: PairsParameters,
    context: Context,
    *,
    captions: str,
    phrases: Path,
    removals: Path,
    out: Path,
    painted: Path | None = None,
    base: Path = Path("models/decorrelation/base"),
) -> dict[str, float]:
    """Write D' with captions by --captions; captioner reads --painted by the model of that name in --base."""
    if captions not in get_args(Captions):
        raise BadInput("no such way to caption", field="--captions", got=captions, choices=get_args(Captions))
    drawn = [each for each in read_removals(removals / "removals.parquet") if each.split == "train" and each.drawn]
    looks = captions == "captioner"
    if looks and (painted is None or base is None):
        raise BadInput("the captioner needs pictures and a model", expected="--painted and --base")
    eye = _Painted(painted, base / "captioner", parameters) if looks and painted and base else None
    counts: Counter[str] = Counter(pairs=0, pictures=0, different_captions=0, dropped_unnamed=0, dropped_emptied=0)
    if captions == "none":
        write_table(out, SCHEMA.empty_table())
    else:
        pairs = make_pairs(captions, drawn, phrases, parameters, counts, context.engine, eye)  # type: ignore[arg-type]
        write_table(out, pairs, SCHEMA)
    return {"removals": float(len(drawn)), **{name: float(count) for name, count in counts.items()}}


if __name__ == "__main__":
    run_stage(main, "decorrelation.pairs", PairsParameters)
