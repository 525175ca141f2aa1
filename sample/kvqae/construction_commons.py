"""The sample world's Commons: photographs of the subjects, described well and badly, free and not (kvqae.md §2)."""

import hashlib
import io
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from PIL import Image

from sample.kvqae.entities import Entity
from sample.kvqae.write import Picture, draw
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
_BATCH = 32


@dataclass(frozen=True)
class File:
    """A file of a category: a photograph of `view`, or the reference, or a copy of it (then `view` is 0)."""

    entity: Entity
    name: str
    record: dict[str, Any]
    view: int = 0
    copy: bool = False


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
    special = [File(subject, own, _record(subject, own, rng))] if rng.random() < _REFERENCE else []
    if rng.random() < _NEAR_DUPLICATE:
        name = f"{own.removesuffix('.jpg')} (small).jpg"
        special.append(File(subject, name, _record(subject, name, rng), copy=True))
    photographs = []
    for number in range(rng.randint(1, most - len(special))):
        name = f"{subject.title} {number + 1:02d}.jpg"
        if rng.random() >= _NAMED["title"]:
            name = f"DSC {subject.number:05d} {number + 1:02d}.jpg"
        photographs.append(File(subject, name, _record(subject, name, rng), view=FIRST_VIEW + number))
    files = special + photographs
    rng.shuffle(files)
    return files


def _record(subject: Entity, name: str, rng: random.Random) -> dict[str, Any]:
    """A line of `commons.jsonl`, but for the sha1."""
    year = rng.randint(subject.start, subject.end)
    described = rng.random() < _NAMED["description"]
    category = subject.title
    if rng.random() < _NAMED["categories"]:
        categories = [category, *([f"{category} in {year}"] if rng.random() < 0.3 else [])]
    else:
        categories = [category, f"{year} in {subject.country.name}"]
    return {
        "category": category,
        "title": f"File:{name}",
        "description": f"{subject.name}, {year}" if described else f"From an album of {subject.country.name}, {year}",
        "categories": categories,
        "depicts": [subject.wikidata_id] if rng.random() < _NAMED["depicts"] else [],
        "license": rng.choices(list(_LICENSES), list(_LICENSES.values()))[0],
    }


def draw_files(
    files: Sequence[File], references: Images, engine: Engine, *, size: int, difficulty: Difficulty
) -> Iterator[tuple[File, bytes]]:
    """Encode the files: photographs are drawn in parallel, references taken from the knowledge base's images."""
    for file in files:
        if not file.view:
            data = references.read(file.name if not file.copy else str(file.entity.image))
            yield file, _smaller(data) if file.copy else data
    views = {file.name: file for file in files if file.view}
    pictures = [Picture(name, *file.entity.picture, file.view) for name, file in views.items() if file.entity.picture]
    shards = [pictures[start : start + _BATCH] for start in range(0, len(pictures), _BATCH)]
    for shard in engine.map(partial(draw, size=size, difficulty=difficulty), shards, description="images/commons"):
        yield from ((views[name], data) for name, data in shard)


def sha1_of(data: bytes) -> str:
    """Commons names the bytes of a file by their SHA-1."""
    return hashlib.sha1(data, usedforsecurity=False).hexdigest()


def _smaller(data: bytes) -> bytes:
    with Image.open(io.BytesIO(data)) as image:
        side = round(image.width * _COPY_SIZE), round(image.height * _COPY_SIZE)
        out = io.BytesIO()
        image.convert("RGB").resize(side, Image.Resampling.BICUBIC).save(out, "JPEG", quality=_COPY_QUALITY)
    return out.getvalue()
