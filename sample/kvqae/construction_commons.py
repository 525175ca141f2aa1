"""The sample world's Commons: photographs of the subjects, described well and badly, free and not (kvqae.md §2)."""

import io
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from PIL import Image

from sample.kvqae.entities import Entity
from sample.kvqae.write import Picture, draw_pictures
from sample.render.difficulty import Difficulty
from trivium.core.engine import Engine
from trivium.core.image_shards import Images

FIRST_VIEW = 1000  # the released questions' photographs are views below
# How often a category holds the reference photograph itself, and a smaller copy of it.
_REFERENCE, _NEAR_DUPLICATE = 0.5, 0.4
_COPY_SIZE, _COPY_QUALITY = 0.8, 70
# How often a photograph's title, description, category and "depicts" name the subject.
_NAMED = {"title": 0.7, "description": 0.6, "categories": 0.85, "depicts": 0.4}
_LICENSES = {
    "cc-by-sa-4.0": 0.3, "cc-by-sa-3.0": 0.2, "cc-by-2.0": 0.1, "pd": 0.14, "cc0": 0.08, "fal": 0.02,
    "cc-by-nc-2.0": 0.05, "fairuse": 0.06, "": 0.05,
}  # fmt: skip


@dataclass(frozen=True)
class File:
    """A file of a category: a photograph of `view`, or the reference, or a copy of it (then `view` is 0)."""

    entity: Entity
    name: str
    record: dict[str, Any]
    view: int = 0


def plan_files(subjects: Sequence[Entity], seed: int, most: int) -> list[File]:
    """Which files are in the subjects' categories: at most `most` each, in random order; no name twice.

    Args:
        subjects: entities with an image, none twice.
        seed: of the world.
        most: files of a category, at least 3.
    """
    rng = random.Random(f"commons {seed}")
    return [file for subject in subjects for file in _category(subject, rng, most)]


def _category(subject: Entity, rng: random.Random, most: int) -> list[File]:
    own = str(subject.image)
    names = [own] if rng.random() < _REFERENCE else []
    names += [f"{own.removesuffix('.jpg')} (small).jpg"] if rng.random() < _NEAR_DUPLICATE else []
    views = dict.fromkeys(names, 0)
    for number in range(rng.randint(1, most - len(names))):
        start = subject.title if rng.random() < _NAMED["title"] else f"DSC {subject.number:05d}"
        views[f"{start} {number + 1:02d}.jpg"] = FIRST_VIEW + number
    files = [File(subject, name, _record(subject, name, rng), view) for name, view in views.items()]
    rng.shuffle(files)
    return files


def _record(subject: Entity, name: str, rng: random.Random) -> dict[str, Any]:
    """A line of `commons.jsonl`, but for the sha1."""
    year, category = rng.randint(subject.start, subject.end), subject.title
    described = subject.name if rng.random() < _NAMED["description"] else f"From an album of {subject.country.name}"
    other = [] if rng.random() < _NAMED["categories"] else [f"{year} in {subject.country.name}"]
    return {
        "category": category,
        "title": f"File:{name}",
        "description": f"{described}, {year}",
        "categories": [category, *other],
        "depicts": [subject.wikidata_id] if rng.random() < _NAMED["depicts"] else [],
        "license": rng.choices(list(_LICENSES), list(_LICENSES.values()))[0],
    }


def draw_files(
    files: Sequence[File], references: Images, engine: Engine, *, size: int, difficulty: Difficulty
) -> Iterator[tuple[str, bytes]]:
    """(name, JPEG) of the files: references from the knowledge base's images, photographs drawn in parallel."""
    for file in (file for file in files if not file.view):
        data = references.read(str(file.entity.image))
        yield file.name, data if file.name == file.entity.image else _smaller(data)
    pictures = [Picture(one.name, *one.entity.picture, one.view) for one in files if one.view and one.entity.picture]
    yield from draw_pictures(pictures, engine, size=size, difficulty=difficulty, description="images/commons")


def _smaller(data: bytes) -> bytes:
    with Image.open(io.BytesIO(data)) as image:
        side = round(image.width * _COPY_SIZE), round(image.height * _COPY_SIZE)
        out = io.BytesIO()
        image.convert("RGB").resize(side, Image.Resampling.BICUBIC).save(out, "JPEG", quality=_COPY_QUALITY)
    return out.getvalue()
