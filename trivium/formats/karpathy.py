"""Karpathy's split file: which picture is in which split, and its captions (decorrelation.md §4, §6)."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trivium.core.errors import BadInput
from trivium.core.tables import read_json
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
    for index, image in enumerate(images):
        picture = _picture(image, path, f"images[{index}]", seen, counts)
        if picture.captions:
            pictures.append(picture)
        else:
            counts["pictures_without_caption"] += 1
    return pictures, counts


def _picture(
    image: dict[str, Any], path: Path, row: str, seen: dict[str, set[Any]], counts: Counter[str]
) -> SplitPicture:
    identifier, name = _field(image, "imgid", int, path, row), _field(image, "filename", str, path, row)
    coco_id = _field(image, "cocoid", int, path, row) if "cocoid" in image else None
    split = _field(image, "split", str, path, row)
    if split not in SPLIT_NAMES:
        raise BadInput("unknown split", file=path, row=row, field="split", got=split, choices=SPLIT_NAMES)
    for field, value in (("imgid", identifier), ("filename", name), ("cocoid", coco_id)):
        _once(value, field, path, row, seen)
    captions = []
    for index, sentence in enumerate(_field(image, "sentences", list, path, row)):
        place = f"{row}.sentences[{index}]"
        text = _field(sentence, "raw", str, path, place).strip()
        number = _field(sentence, "sentid", int, path, place)
        _once(number, "sentid", path, place, seen)
        if text:
            captions.append(Caption(number, text))
        else:
            counts["captions_empty"] += 1
    return SplitPicture(identifier, name, SPLIT_NAMES[split], coco_id, tuple(captions))


def _field(record: Any, field: str, kind: type, path: Path, row: str) -> Any:
    value = record.get(field) if isinstance(record, dict) else None
    if not isinstance(value, kind) or isinstance(value, bool) or value == "":
        if field == "raw" and value == "":  # an empty caption is counted, not refused
            return value
        raise BadInput("missing or wrong", file=path, row=row, field=field, got=value, expected=kind.__name__)
    return value


def _once(value: Any, field: str, path: Path, row: str, seen: dict[str, set[Any]]) -> None:
    if value is None:
        return
    if value in seen[field]:
        raise BadInput("stands twice", file=path, row=row, field=field, got=value)
    seen[field].add(value)
