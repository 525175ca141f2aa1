"""What goes from a shard of pictures, and their boxes without objects: a worker's part of stage `removals`."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from trivium.decorrelation.regions.eligibility import Limits
from trivium.decorrelation.regions.empty_boxes import find_empty_boxes
from trivium.decorrelation.regions.removal_search import Drawing, RegionKind, Tally, find_removals
from trivium.formats.pictures import Picture, Removal

Shard = tuple[Sequence[Picture], Drawing]


@dataclass(frozen=True)
class Settings:
    """What is the same for all pictures: see `find_removals` and `find_empty_boxes`."""

    region: RegionKind
    limits: Limits
    tries: int


@dataclass(frozen=True)
class Found:
    """Of a shard's pictures, in their order.

    Attributes:
        removals: of all pictures.
        boxes: without objects, of test pictures.
        tally: counts of `find_removals`.
        rejected: counts of `find_empty_boxes`.
    """

    removals: Sequence[Removal]
    boxes: Sequence[Removal]
    tally: Tally
    rejected: Counter[str]


def shards(pictures: Sequence[Picture], drawing: Drawing, size: int) -> Iterator[Shard]:
    """The pictures, `size` at a time, each time with the classes that their own captions name."""
    for start in range(0, len(pictures), size):
        part = pictures[start : start + size]
        named = {each.id: drawing.named[each.id] for each in part if each.id in drawing.named}
        yield part, replace(drawing, named=named)


def search(settings: Settings, shard: Shard) -> Found:
    """What can go from the pictures of a shard; raises as `find_removals`."""
    pictures, drawing = shard
    tally: Tally = Counter()
    rejected: Counter[str] = Counter()
    going = find_removals(pictures, region=settings.region, limits=settings.limits, drawing=drawing, tally=tally)
    removals = list(going)
    test = (picture for picture in pictures if picture.split == "test")
    boxes = list(find_empty_boxes(test, tries=settings.tries, seed=drawing.seed, rejected=rejected))
    return Found(removals, boxes, tally, rejected)
