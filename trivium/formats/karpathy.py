"""Karpathy's split file: which picture is in which split, and its captions (decorrelation.md §4, §6)."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trivium.core.errors import BadInput
from trivium.core.tables import read_json
from trivium.formats.json_fields import Field
from trivium.formats.pictures import Caption, Split

SPLIT_NAMES: dict[str, Split] = {"train": "train", "restval": "train", "val": "validation", "test": "test"}


@dataclass(frozen=True)
class SplitPicture:
    """A picture as the split file knows it.

    Attributes:
        id: `imgid`.
        name: `filename`.
        split: `restval` counts as train.
        coco_id: `cocoid`, which COCO's annotations name; None where the file has none.
        captions: those that are not empty, outer white space stripped.
    """

    id: int
    name: str
    split: Split
    coco_id: int | None
    captions: tuple[Caption, ...]


def read_karpathy(path: Path) -> tuple[list[SplitPicture], Counter[str]]:
    """Read a split file.

    Returns:
        The pictures in the order of the file, and what was dropped: `captions_empty`, `pictures_without_caption`.

    Raises:
        BadInput: names picture and field of one that is missing or of a wrong type, of an unknown split, and of an
            `imgid`, `sentid`, `cocoid` or `filename` that stands twice.
    """
    tree = read_json(path)
    images = tree.get("images") if isinstance(tree, dict) else None
    if not isinstance(images, list) or not images:
        raise BadInput("no pictures", file=path, field="images", expected="Karpathy's format, a list of pictures")
    counts: Counter[str] = Counter(captions_empty=0, pictures_without_caption=0)
    seen: dict[str, set[Any]] = {"imgid": set(), "filename": set(), "cocoid": set(), "sentid": set()}
    pictures = []
    for image in Field(images, path, name="images").items():
        picture = _picture(image, seen, counts)
        if picture.captions:
            pictures.append(picture)
        else:
            counts["pictures_without_caption"] += 1
    return pictures, counts


def _picture(image: Field, seen: dict[str, set[Any]], counts: Counter[str]) -> SplitPicture:
    identifier, name = image["imgid"].integer(), image["filename"].text(empty=False)
    coco_id = None if (field := image.get("cocoid")) is None else field.integer()
    split = SPLIT_NAMES[image["split"].name_of(SPLIT_NAMES)]
    for key in ("imgid", "filename", "cocoid"):
        _once(image, key, seen)
    captions = []
    for sentence in image["sentences"].items():
        number, text = sentence["sentid"].integer(), sentence["raw"].text().strip()
        _once(sentence, "sentid", seen)
        if text:
            captions.append(Caption(number, text))
        else:
            counts["captions_empty"] += 1
    return SplitPicture(identifier, name, split, coco_id, tuple(captions))


def _once(record: Field, key: str, seen: dict[str, set[Any]]) -> None:
    value = record.value.get(key)
    if value in seen[key]:
        record[key].refuse("stands twice")
    if value is not None:
        seen[key].add(value)
