"""Which classes can be removed from which pictures, and boxes in which nothing is annotated (decorrelation.md §1, §3).

The region of a class is the union of its objects' boxes. All regions of a picture are cut into the same cells, each
inside or outside a region as a whole; so unions and intersections are logic on cells, and areas are sums of theirs.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import Field

from trivium.core.parameters import Parameters
from trivium.core.tables import in_groups, read_table, write_csv, write_table
from trivium.formats.masks import Box, Mask, encode, rasterise_boxes, rasterise_segmentation
from trivium.formats.pictures import Picture, Removal, Split, removal_id

Cells = NDArray[np.bool_]


@dataclass(frozen=True)
class Regions:
    """The regions of a picture's classes, over cells.

    Attributes:
        classes: of the picture, sorted.
        cells: (classes, rows, columns) whether a cell belongs to a class's region.
        areas: of the cells, in square pixels, (rows, columns); (1, 1) where all have one.
    """

    classes: tuple[str, ...]
    cells: NDArray[np.bool_]
    areas: NDArray[Any]

    def area(self, cells: Cells) -> float:
        """Area of a set of cells, in square pixels."""
        return float(np.broadcast_to(self.areas, cells.shape)[cells].sum())

    def coverage(self, region: Cells) -> NDArray[np.float64]:
        """area(region ∩ B_k) / area(B_k) of every class k, (classes,)."""
        return self._areas(self.cells & region) / self._of_classes

    @cached_property
    def _of_classes(self) -> NDArray[np.float64]:
        return self._areas(self.cells)

    def _areas(self, cells: Cells) -> NDArray[np.float64]:
        """(classes, rows, columns) → (classes,)."""
        return (cells * self.areas).sum(axis=(1, 2))


def box_regions(picture: Picture) -> Regions:
    """Regions of boxes, exactly: cells lie between the lines through their sides."""
    left, top, width, height = (
        np.array([instance.box for instance in picture.objects], dtype=np.float64).reshape(-1, 4).T
    )
    right, bottom = left + width, top + height
    columns, rows = np.unique([left, right]), np.unique([top, bottom])
    cells = np.zeros((len(picture.classes), max(len(rows) - 1, 0), max(len(columns) - 1, 0)), dtype=bool)
    for place, instance in enumerate(picture.objects):
        first_row, last_row = np.searchsorted(rows, [top[place], bottom[place]])
        first_column, last_column = np.searchsorted(columns, [left[place], right[place]])
        number = picture.classes.index(instance.class_name)
        cells[number, first_row:last_row, first_column:last_column] = True
    return Regions(picture.classes, cells, np.outer(np.diff(rows), np.diff(columns)))


def segmentation_regions(picture: Picture) -> Regions:
    """Regions of segmentations, or of the box where there is none; cells are pixels."""
    cells = np.zeros((len(picture.classes), picture.height, picture.width), dtype=bool)
    for instance in picture.objects:
        outline = instance.segmentation
        pixels = None if outline is None else rasterise_segmentation(outline, picture.height, picture.width)
        if pixels is None or not pixels.any():  # it holds no pixel's centre
            pixels = rasterise_boxes([instance.box], picture.height, picture.width)
        cells[picture.classes.index(instance.class_name)] |= pixels
    return Regions(picture.classes, cells, np.ones((1, 1), bool))


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


REASONS = ("single_class", "crowd", "crowd_covered", "nothing_remains", "overlap", "size")


@dataclass(frozen=True)
class Eligible:
    """What goes with a class that can be removed, {c_r} ∪ C_r+, and what stays, both sorted; area(B') / area(x)."""

    removed: tuple[str, ...]
    remaining: tuple[str, ...]
    share: float


def eligible(
    class_name: str, regions: Regions, crowded: Collection[str], area: float, parameters: RemovalsParameters
) -> Eligible | str:
    """What goes with a class, or the first of REASONS why it cannot be removed.

    With B_k the region of class k and c_r the class: C_r+ = {k: area(B_r ∩ B_k) / area(B_k) > δ2} goes with it, and
    B' is the union of all that goes. Every class k that stays must satisfy area(B' ∩ B_k) / area(B_k) < δ1, and
    area(B') / area(x) < δ3. Without C_r+ this is the paper's rule for a single class.

    `crowded` are classes with a crowd among their objects. A crowd is never removed, so such a class cannot vanish:
    neither as c_r (`crowd`) nor with it (`crowd_covered`). `area` is the picture's, in square pixels.
    """
    if len(regions.classes) < 2:
        return "single_class"
    if class_name in crowded:
        return "crowd"
    chosen = regions.classes.index(class_name)
    goes = regions.coverage(regions.cells[chosen]) > parameters.delta2
    goes[chosen] = True  # also with δ2 = 1
    removed, remaining = (tuple(compress(regions.classes, chosen)) for chosen in (goes, ~goes))
    if not set(removed).isdisjoint(crowded):
        return "crowd_covered"
    if not remaining:
        return "nothing_remains"
    region = np.logical_or.reduce(regions.cells[goes], axis=0)
    if (regions.coverage(region)[~goes] >= parameters.delta1).any():
        return "overlap"
    share = regions.area(region) / area
    if share >= parameters.delta3:
        return "size"
    return Eligible(removed, remaining, share)


Named = Mapping[int, Collection[str]]  # by picture, the classes that its captions name
Tally = Counter[tuple[str, str, str]]  # (split, class or "", column) → how many


def draw_classes(
    picture: Picture, classes: Sequence[str], named: Collection[str], parameters: RemovalsParameters
) -> Sequence[str]:
    """The classes whose removals are used, of those that can be removed: of a training picture one is drawn.

    They depend on this picture alone: neither on others nor on their order. `named` are the classes that its captions
    name; one of these is preferred where the parameters say so.
    """
    if picture.split != "train" or parameters.training == "all" or not classes:
        return classes
    choices = [name for name in classes if name in named and parameters.prefer_named] or classes
    return [choices[int(np.random.default_rng([parameters.seed, picture.id]).integers(len(choices)))]]


def find_removals(
    pictures: Iterable[Picture], named: Named, parameters: RemovalsParameters, tally: Tally
) -> Iterator[Removal]:
    """Find every removal of every picture, a picture's classes in alphabetical order.

    A picture's removals depend on the picture alone. `tally` takes the counts by split and class: `pictures` with
    that class; `rejected_{reason}` (REASONS) or `removals`; of these `drawn`, and of these `drawn_unnamed` by any
    caption.
    """
    for picture in pictures:
        is_box, own_named = parameters.region == "box", named.get(picture.id, ())
        regions = box_regions(picture) if is_box else segmentation_regions(picture)
        decisions = _eligible_classes(picture, regions, parameters, tally)
        drawn = draw_classes(picture, list(decisions), own_named, parameters)
        for name, decision in decisions.items():
            if is_box:
                boxes = [instance.box for instance in picture.objects if instance.class_name in decision.removed]
                pixels = rasterise_boxes(boxes, picture.height, picture.width)
            else:
                pixels = np.logical_or.reduce(regions.cells[[name in decision.removed for name in regions.classes]])
            tally[picture.split, name, "removals"] += 1
            tally[picture.split, name, "drawn"] += name in drawn
            tally[picture.split, name, "drawn_unnamed"] += name in drawn and name not in own_named
            yield _removal(picture, name, decision, pixels, drawn=name in drawn)


def _removal(picture: Picture, class_name: str, decision: Eligible, pixels: Mask, *, drawn: bool) -> Removal:
    return Removal(
        id=removal_id(picture.id, class_name) if class_name else f"{picture.id}_empty",
        picture=picture.id,
        name=picture.name,
        split=picture.split,
        class_name=class_name,
        removed=decision.removed,
        remaining=decision.remaining,
        mask=encode(pixels),
        height=picture.height,
        width=picture.width,
        share=decision.share,
        drawn=drawn,
    )


def _eligible_classes(
    picture: Picture, regions: Regions, parameters: RemovalsParameters, tally: Tally
) -> dict[str, Eligible]:
    crowded = {instance.class_name for instance in picture.objects if instance.crowd}
    decisions = {}
    for name in picture.classes:
        tally[picture.split, name, "pictures"] += 1
        decision = eligible(name, regions, crowded, picture.width * picture.height, parameters)
        if isinstance(decision, Eligible):
            decisions[name] = decision
        else:
            tally[picture.split, name, f"rejected_{decision}"] += 1
    return decisions


EMPTY_REASONS = ("empty_no_object", "empty_no_place")


def find_empty_boxes(pictures: Iterable[Picture], *, tries: int, seed: int, tally: Tally) -> Iterator[Removal]:
    """Find a box in every picture without anything that is annotated, as removals of no class.

    It depends on the picture and `seed` alone. `tally` takes the counts of pictures without a box, by split and
    EMPTY_REASONS.
    """
    for picture in pictures:
        boxes, (height, width) = [instance.box for instance in picture.objects], (picture.height, picture.width)
        if not boxes:
            tally[picture.split, "", "empty_no_object"] += 1
            continue
        box = empty_box(boxes, height, width, others=picture.others, tries=tries, seed=(seed, picture.id))
        if box is None:
            tally[picture.split, "", "empty_no_place"] += 1
            continue
        decision = Eligible((), picture.classes, box[2] * box[3] / (width * height))
        yield _removal(picture, "", decision, rasterise_boxes([box], height, width), drawn=True)


def empty_box(
    boxes: Sequence[Box], height: int, width: int, *, others: Sequence[Box] = (), tries: int, seed: Sequence[int]
) -> Box | None:
    """A box of whole pixels, as large as one of the objects (drawn), which has no pixel in common with anything.

    `boxes` are of the picture's objects, crowds too, at least one, in any order; `others` of things of no class,
    which must not be touched either. Returns (left, top, width, height), or None when no place was found after so
    many tries.
    """
    rng = np.random.default_rng(seed)
    ordered = sorted(boxes)
    left, top, wide, high = np.array([*ordered, *others]).T
    _, _, model_width, model_height = ordered[rng.integers(len(ordered))]
    columns, rows = min(math.ceil(model_width), width), min(math.ceil(model_height), height)
    x = rng.integers(width - columns + 1, size=(tries, 1))
    y = rng.integers(height - rows + 1, size=(tries, 1))
    disjoint = (x + columns <= left) | (left + wide <= x) | (y + rows <= top) | (top + high <= y)
    free = np.flatnonzero(disjoint.all(axis=1))
    return (float(x[free[0], 0]), float(y[free[0], 0]), float(columns), float(rows)) if len(free) else None


Shard = tuple[Sequence[Picture], Named]


def shards(pictures: Sequence[Picture], named: Named, size: int) -> Iterator[Shard]:
    """The pictures, `size` at a time, each time with the classes that their own captions name."""
    for part in in_groups(pictures, size):
        yield part, {picture.id: named[picture.id] for picture in part if picture.id in named}


def search_shard(shard: Shard, *, parameters: RemovalsParameters) -> tuple[list[Removal], list[Removal], Tally]:
    """Find the removals of a shard's pictures, in order, and boxes without objects in its test pictures; with counts.

    See `find_removals` and `find_empty_boxes`.
    """
    pictures, named = shard
    tally: Tally = Counter()
    tested = (picture for picture in pictures if picture.split == "test")
    removals = list(find_removals(pictures, named, parameters, tally))
    boxes = list(find_empty_boxes(tested, tries=parameters.empty_tries, seed=parameters.seed, tally=tally))
    return removals, boxes, tally


USED: tuple[Split, ...] = ("train", "test")  # nothing is chosen by synthetic validation pictures
REJECTED = tuple(f"rejected_{reason}" for reason in REASONS)
_COLUMNS = ("pictures", "removals", "drawn", "drawn_unnamed", *REJECTED)


def read_named_classes(path: Path) -> dict[int, set[str]]:
    """Read {picture: the classes that any of its captions names} from the file of stage `phrases`."""
    named: dict[int, set[str]] = defaultdict(set)
    for batch in read_table(path, ["picture", "classes"]).to_batches(max_chunksize=65536):
        for picture, classes in zip(batch["picture"].to_pylist(), batch["classes"].to_pylist(), strict=True):
            named[picture].update(classes)
    return dict(named)


def write_classes(path: Path, classes: Sequence[str], tally: Tally) -> None:
    """Write the counts as CSV, a row a split and class, also where nothing was found."""
    rows = ((split, name, *(tally[split, name, column] for column in _COLUMNS)) for split in USED for name in classes)
    write_csv(path, ("split", "class", *_COLUMNS), rows)


def total(tally: Tally, column: str, splits: Sequence[Split] = USED) -> float:
    """The sum of a column over the classes."""
    return float(sum(count for (split, _, name), count in tally.items() if name == column and split in splits))


SCHEMA = pa.schema(  # the fields of `Removal`, in their order
    [
        ("removal", pa.string()),
        ("picture", pa.int64()),
        ("name", pa.string()),
        ("split", pa.string()),
        ("class", pa.string()),
        ("removed", pa.list_(pa.string())),
        ("remaining", pa.list_(pa.string())),
        ("mask", pa.string()),
        ("height", pa.int32()),
        ("width", pa.int32()),
        ("share", pa.float64()),
        ("drawn", pa.bool_()),
    ]
)
PAIRS = pa.schema([("removal", pa.string()), ("picture", pa.int64()), ("caption", pa.int64()), ("text", pa.string())])
_ROWS = 4096  # written at a time


def write_removals(path: Path, removals: Iterable[Removal]) -> None:
    """Write removals as Parquet, in the order given, a few thousand in memory at a time."""
    rows = (dict(zip(SCHEMA.names, vars(removal).values(), strict=True)) for removal in removals)
    batches = (pa.RecordBatch.from_pylist(chunk, schema=SCHEMA) for chunk in in_groups(rows, _ROWS))
    write_table(path, batches, SCHEMA)


def read_removals(path: Path) -> list[Removal]:
    """The removals, in the file's order."""
    rows = read_table(path, SCHEMA.names).select(SCHEMA.names).to_pylist()
    fields: Iterator[list[Any]] = (
        [tuple(value) if isinstance(value, list) else value for value in row.values()] for row in rows
    )
    return [Removal(*values) for values in fields]
