"""Stage `decorrelation-removals`. Which objects can be taken out of which pictures."""

from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Literal

from pydantic import Field

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.parameters import Parameters
from trivium.core.stage import Context, run_stage
from trivium.core.tables import write_json, write_table
from trivium.decorrelation.removals import (
    EMPTY_REASONS,
    PAIRS,
    REJECTED,
    USED,
    Drawing,
    Limits,
    Tally,
    read_named_classes,
    search_shard,
    shards,
    total,
    write_classes,
    write_removals,
)
from trivium.formats.corpus_table import load_corpus
from trivium.formats.pictures import Removal

PICTURES = 512  # a shard: a second or two of a core


class RemovalsParameters(Parameters):
    """Section `decorrelation.removals`."""

    region: Literal["box", "segmentation"] = Field(description="What counts as an object's region, and is painted over")
    delta1: float = Field(gt=0, le=1, description="δ1: of a class that stays, less than this share is covered")
    delta2: float = Field(ge=0, le=1, description="δ2: a class of which more than this share is covered goes too")
    delta3: float = Field(gt=0, le=1, description="δ3: less than this share of the picture is covered")
    training: Literal["one", "all", "none"] = Field(
        description="Removals of a training picture that are used; none where only test pictures are there"
    )
    prefer_named: bool = Field(
        default=True, description="Of a training picture, draw a class that one of its captions names"
    )
    empty_tries: int = Field(default=1000, ge=1, description="Places tried for a test picture's box without any object")
    seed: int = Field(ge=0, description="Of the draws, together with the picture's id")


def main(
    parameters: RemovalsParameters,
    context: Context,
    *,
    dataset: str,
    raw: Path = Path("data/decorrelation/raw/{dataset}"),
    phrases: Path = Path("data/decorrelation/phrases/{dataset}.parquet"),
    out: Path = Path("data/decorrelation/removals/{dataset}"),
    out_classes: Path = Path("metrics/decorrelation/removals_{dataset}.csv"),
    out_painted: Path = Path("data/decorrelation/painted/{dataset}/none"),
    out_pairs: Path = Path("data/decorrelation/pairs/{dataset}/none_none.parquet"),
) -> dict[str, float]:
    """Find what can be removed from training and test pictures, and a box without objects in test pictures.

    Writes `removals.parquet` and `empty.parquet` into `out`, and the counts by split and class to `out_classes`; an
    empty D' into `out_painted` and `out_pairs`, for trainings on D alone.
    """
    corpus = load_corpus(raw)
    splits = [split for split in USED if split == "test" or parameters.training != "none"]
    used = [picture for picture in corpus.pictures if picture.split in splits]
    drawing = Drawing(parameters.training, read_named_classes(phrases), parameters.prefer_named, parameters.seed)
    limits = Limits(parameters.delta1, parameters.delta2, parameters.delta3)
    search = partial(search_shard, region=parameters.region, limits=limits, tries=parameters.empty_tries)
    tally: Tally = Counter()
    rejected: Counter[str] = Counter()
    boxes: list[Removal] = []

    def removals() -> Iterator[Removal]:
        alone = 1 if len(used) <= PICTURES else None  # a worker takes a second to start
        for result in context.engine.map(
            search, shards(used, drawing, PICTURES), description="pictures", processes=alone
        ):
            tally.update(result.tally)
            rejected.update(result.rejected)
            boxes.extend(result.boxes)
            yield from result.removals

    with write_atomically(out) as folder:
        folder.mkdir()
        write_removals(folder / "removals.parquet", removals())
        for split in splits:
            if not total(tally, "removals", [split]):
                counts = {column: int(total(tally, column, [split])) for column in REJECTED}
                reasons = {column: count for column, count in counts.items() if count}
                raise BadInput(f"nothing can be removed from any {split} picture", file=raw, got=reasons)
        write_removals(folder / "empty.parquet", boxes)
    write_classes(out_classes, corpus.classes, tally)
    with write_atomically(out_painted) as folder:
        folder.mkdir()
        write_json(folder / "filling.json", {"filling": "none", "counts": {"train": 0, "test": 0, "empty": 0}})
    write_table(out_pairs, PAIRS.empty_table())
    return {
        **{f"pictures_{split}": float(sum(picture.split == split for picture in used)) for split in USED},
        **{f"removals_{split}": total(tally, "removals", [split]) for split in USED},
        "drawn_train": total(tally, "drawn", ["train"]),
        "drawn_unnamed": total(tally, "drawn_unnamed", ["train"]),
        **{column: total(tally, column) for column in REJECTED},
        "empty_boxes": float(len(boxes)),
        **{f"rejected_{reason}": float(rejected[reason]) for reason in EMPTY_REASONS},
    }


if __name__ == "__main__":
    run_stage(main, "decorrelation.removals", metrics="metrics/decorrelation/removals_{dataset}.json")
