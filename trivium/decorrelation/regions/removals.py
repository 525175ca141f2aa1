"""Which objects go from which pictures, as records with masks (decorrelation.md §1)."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from trivium.core.csv_tables import write_csv
from trivium.core.errors import BadInput
from trivium.core.tables import read_table
from trivium.decorrelation.regions import eligibility
from trivium.decorrelation.regions.removal_search import Tally
from trivium.formats.pictures import Picture, Split

USED: tuple[Split, ...] = ("train", "test")  # nothing is chosen by synthetic validation pictures


_REJECTED = tuple(f"rejected_{reason}" for reason in eligibility.REASONS)


_COLUMNS = ("pictures", "removals", "drawn", "drawn_unnamed", *_REJECTED)


def read_named_classes(path: Path, pictures: Sequence[Picture]) -> dict[int, set[str]]:
    """By picture, the classes that any of its captions names (the file of stage `phrases`).

    Raises:
        BadInput: not such a file, or it knows nothing about one of the pictures.
    """
    named: dict[int, set[str]] = defaultdict(set)
    for batch in read_table(path, ["picture", "classes"]).to_batches(max_chunksize=65536):
        for picture, classes in zip(batch["picture"].to_pylist(), batch["classes"].to_pylist(), strict=True):
            named[picture].update(classes)
    for each in pictures:
        if each.captions and each.id not in named:
            raise BadInput("no caption of this picture", file=path, field="picture", got=each.id)
    return dict(named)


def write_classes(path: Path, classes: Sequence[str], tally: Tally) -> None:
    """Write the counts as CSV, a row a split and class, also where nothing was found."""
    rows = ((split, name, *(tally[split, name, column] for column in _COLUMNS)) for split in USED for name in classes)
    write_csv(path, ("split", "class", *_COLUMNS), rows)


def total(tally: Tally, column: str, splits: Sequence[Split] = USED) -> float:
    """The sum of a column over the classes."""
    return float(sum(count for (split, _, name), count in tally.items() if name == column and split in splits))
