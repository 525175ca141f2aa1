"""Every removal of every picture, and which of them are used (decorrelation.md §1)."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from trivium.core.errors import BadInput
from trivium.decorrelation.regions.eligibility import Eligible, Limits, eligible
from trivium.decorrelation.regions.regions import Regions, box_regions, segmentation_regions
from trivium.formats.masks import Mask, encode, rasterise_boxes
from trivium.formats.pictures import Picture, Removal, removal_id

RegionKind = Literal["box", "segmentation"]
Tally = Counter[tuple[str, str, str]]  # (split, class, column) → how many


@dataclass(frozen=True)
class Drawing:
    """Which removals of a training picture are used; of other pictures all are.

    Attributes:
        training: one, all, or none of them.
        named: by picture, the classes that its captions name.
        prefer_named: draw one of these where it can be removed.
        seed: of the draws.
    """

    training: Literal["one", "all", "none"]
    named: Mapping[int, Collection[str]]
    prefer_named: bool
    seed: int

    def drawn(self, picture: Picture, classes: Sequence[str]) -> Sequence[str]:
        """The classes whose removals are used, of those that can be removed.

        They depend on this picture alone: neither on others nor on their order.
        """
        if picture.split != "train" or self.training == "all" or not classes:
            return classes
        named = [name for name in classes if self.is_named(picture, name)]
        choices = named if named and self.prefer_named else classes
        return [choices[int(np.random.default_rng([self.seed, picture.id]).integers(len(choices)))]]

    def is_named(self, picture: Picture, class_name: str) -> bool:
        """Whether one of the picture's captions names the class."""
        return class_name in self.named.get(picture.id, ())


def find_removals(
    pictures: Iterable[Picture], *, region: RegionKind, limits: Limits, drawing: Drawing, tally: Tally
) -> Iterator[Removal]:
    """Every removal of every picture, a picture's classes in alphabetical order.

    Args:
        pictures: any order; a picture's removals depend on the picture alone.
        region: what counts as an object's region.
        limits: δ1, δ2, δ3.
        drawing: which removals are used.
        tally: takes the counts by split and class: `pictures` with that class; `rejected_{reason}` (eligibility's
            REASONS) or `removals`; of these `drawn`, and of these `drawn_unnamed` by any caption.

    Raises:
        BadInput: an object whose region cannot be: outside the picture, without area, without segmentation.
    """
    for picture in pictures:
        try:
            regions = box_regions(picture) if region == "box" else segmentation_regions(picture)
            found = _eligible_classes(picture, regions, limits, tally)
            drawn = drawing.drawn(picture, list(found))
            for name, decision in found.items():
                pixels = removed_pixels(picture, decision.removed, regions)
                tally[picture.split, name, "removals"] += 1
                tally[picture.split, name, "drawn"] += name in drawn
                tally[picture.split, name, "drawn_unnamed"] += name in drawn and not drawing.is_named(picture, name)
                yield Removal(
                    id=removal_id(picture.id, name),
                    picture=picture.id,
                    name=picture.name,
                    split=picture.split,
                    class_name=name,
                    removed=decision.removed,
                    remaining=decision.remaining,
                    mask=encode(pixels),
                    height=picture.height,
                    width=picture.width,
                    share=decision.share,
                    drawn=name in drawn,
                )
        except ValueError as error:
            raise BadInput(str(error), row=picture.name, field="objects") from None


def removed_pixels(picture: Picture, removed: Collection[str], regions: Regions) -> Mask:
    """The pixels of B', the region of all objects of the removed classes.

    Raises:
        ValueError: as `rasterise_boxes`.
    """
    if regions.areas is None:
        return np.logical_or.reduce([regions.cells[regions.classes.index(name)] for name in removed])
    going = [each.box for each in picture.objects if each.class_name in removed]
    return rasterise_boxes(going, picture.height, picture.width)


def _eligible_classes(picture: Picture, regions: Regions, limits: Limits, tally: Tally) -> dict[str, Eligible]:
    crowded = {each.class_name for each in picture.objects if each.crowd}
    found = {}
    for name in picture.classes:
        tally[picture.split, name, "pictures"] += 1
        decision = eligible(name, regions, crowded, picture.width * picture.height, limits)
        if isinstance(decision, Eligible):
            found[name] = decision
        else:
            tally[picture.split, name, f"rejected_{decision}"] += 1
    return found
