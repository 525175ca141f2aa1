"""Stage `decorrelation-removals`. Find which objects can be taken out of which pictures."""

from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from trivium.core.atomic import write_folder
from trivium.core.errors import BadInput
from trivium.core.stage import Context, stage
from trivium.core.tables import write_json, write_table
from trivium.decorrelation import removals
from trivium.formats.corpus_table import load_corpus
from trivium.formats.pictures import Removal

PICTURES = 512  # a shard: a second or two of a core


@stage("decorrelation.removals", metrics="metrics/decorrelation/removals_{dataset}.json")
def main(
    parameters: removals.RemovalsParameters,
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
    splits = [split for split in removals.USED if split == "test" or parameters.training != "none"]
    used = [picture for picture in corpus.pictures if picture.split in splits]
    named = removals.read_named_classes(phrases)
    tally: removals.Tally = Counter()
    boxes: list[Removal] = []

    def search_all() -> Iterator[Removal]:
        alone = 1 if len(used) <= PICTURES else None  # a worker takes a second to start
        search, parts = partial(removals.search_shard, parameters=parameters), removals.shards(used, named, PICTURES)
        for some, own_boxes, counts in context.engine.map(search, parts, description="pictures", processes=alone):
            tally.update(counts)
            boxes.extend(own_boxes)
            yield from some

    with write_folder(out) as folder:
        removals.write_removals(folder / "removals.parquet", search_all())
        for split in splits:
            if not removals.total(tally, "removals", [split]):
                counts = {column: int(removals.total(tally, column, [split])) for column in removals.REJECTED}
                reasons = {column: count for column, count in counts.items() if count}
                raise BadInput(f"nothing can be removed from any {split} picture", file=raw, got=reasons)
        removals.write_removals(folder / "empty.parquet", boxes)
    removals.write_classes(out_classes, corpus.classes, tally)
    with write_folder(out_painted) as folder:
        write_json(folder / "filling.json", {"filling": "none", "counts": {"train": 0, "test": 0, "empty": 0}})
    write_table(out_pairs, removals.PAIRS.empty_table())
    return {
        **{f"pictures_{split}": float(sum(picture.split == split for picture in used)) for split in removals.USED},
        **{f"removals_{split}": removals.total(tally, "removals", [split]) for split in removals.USED},
        "drawn_train": removals.total(tally, "drawn", ["train"]),
        "drawn_unnamed": removals.total(tally, "drawn_unnamed", ["train"]),
        **{column: removals.total(tally, column) for column in removals.REJECTED},
        "empty_boxes": float(len(boxes)),
        **{f"rejected_{reason}": removals.total(tally, reason) for reason in removals.EMPTY_REASONS},
    }
