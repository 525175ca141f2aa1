"""Questions about pictures that other sets bring, and their pictures in a folder."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from trivium.core.errors import BadInput

_SUFFIXES = {".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff"}


@dataclass(frozen=True)
class VisualQuestion:
    """A question about a picture.

    Attributes:
        id: unique in its set, with the picture where a question has several.
        text: what is asked.
        picture: the picture's name without its suffix.
        kind: of the question, as its set has it.
        split: a part of the set that is measured by itself; "" where there is none.
        answers: the valid ones; of OK-VQA one an annotator.
        range: the numbers that are right, (lowest, highest); None where the answer is no number.
    """

    id: str
    text: str
    picture: str
    kind: str
    split: str
    answers: tuple[str, ...]
    range: tuple[float, float] | None = None


def pictures_by_name(folder: Path) -> Mapping[str, Path]:
    """The pictures of a folder, at any depth, by their names without suffix.

    Raises:
        BadInput: no such folder, no picture in it, or two of one name.
    """
    if not folder.is_dir():
        raise BadInput("no such folder", file=folder)
    found: dict[str, Path] = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() in _SUFFIXES and path.is_file():
            if path.stem in found:
                raise BadInput("two pictures of one name", file=path, got=str(found[path.stem]))
            found[path.stem] = path
    if not found:
        raise BadInput("no pictures", file=folder, choices=sorted(_SUFFIXES))
    return found
