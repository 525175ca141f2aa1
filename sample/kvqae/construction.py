"""The sample's sources for constructing the data set (kvqae.md §2), about the entities of the sample world.

Some photographs of Commons are well described and some badly; some licences are free and some not.
"""

import hashlib
import io
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image

from sample.kvqae.construction_questions import Candidate, annotate_sentences, ask_candidates
from sample.kvqae.entities import Entity
from sample.kvqae.write import Picture, draw_pictures, item_claim, wikidata_items
from sample.render.photo import Difficulty, encode
from trivium.core.engine import Engine
from trivium.core.image_shards import Images, write_images
from trivium.core.tables import read_json_lines, write_json, write_json_lines

ABSTRACT = ("country", "noble family", "order")  # kinds that the construction drops
# Shares of the persons; the last one is of all entities (the paper drops 31 % as living or abstract, and 3 % for want
# of a Commons category or of a picture in it).
LIVING, NO_GENDER, NO_OCCUPATION, MORE_OCCUPATIONS = 0.28, 0.03, 0.03, 0.2
NO_CATEGORY = 0.03
NO_ARTICLE = 5  # number of items without an article
CYCLE = ("Q3624078", "Q6256")  # sovereign state and country, subclasses of each other
_FIRST_WITHOUT_ARTICLE = 2 * 10**9


def write_sources(
    out: Path, raw: Path, entities: Sequence[Entity], engine: Engine, *, seed: int, questions: int, linked: float,
    files: int, annotated: int, size: int, difficulty: Difficulty,
) -> dict[str, float]:  # fmt: skip
    """Write the files of the sources, without the concrete types, to the folder `out`; returns counts.

    Args:
        raw: raw files of the sample world, whose `entities` and `seed` are given.
        questions, linked: number of candidate questions, and share of them whose links include the right page.
        files: largest number of files in a Commons category.
        annotated: number of sentences with their analysis.
        size: side of a photograph in pixels.
    """
    candidates = ask_candidates(entities, seed, questions, linked=linked, told=_read_told(raw / "triviaqa/train.jsonl"))
    write_json(out / "triviaqa.json", {"Data": [candidate.record() for candidate in candidates], "Domain": "sample"})
    items = list(plant(entities, seed))
    write_json_lines(out / "wikidata.jsonl", items)
    planned = plan_files(_subjects(candidates, items), seed, files)
    hashes: dict[str, str] = {}

    def images() -> Iterator[tuple[str, bytes]]:
        references = Images(raw / "images" / "kb")
        for name, data in draw_files(planned, references, engine, size=size, difficulty=difficulty):
            hashes[name] = hashlib.sha1(data, usedforsecurity=False).hexdigest()
            yield name, data

    write_images(out / "images", images())
    write_json_lines(out / "commons.jsonl", ({**file.record, "sha1": hashes[file.name]} for file in planned))
    known = {name for entity in entities for name in (entity.name, *entity.aliases)}
    sentences = annotate_sentences(seed, annotated, known)
    write_json_lines(out / "annotated.jsonl", (sentence.record() for sentence in sentences))
    return {
        "questions": len(candidates),
        "questions_linked_share": sum(candidate.linked for candidate in candidates) / len(candidates),
        "commons_files": len(planned),
    }


def _read_told(trivia: Path) -> dict[str, str]:
    """Return the words of TriviaQA's training questions and answers about each entity, by its Wikipedia id."""
    told: defaultdict[str, str] = defaultdict(str)
    for _, record in read_json_lines(trivia):
        said = " ".join([record["input"], *record["output"]["answer"]])
        for source in record["output"]["provenance"]:
            for identifier in source["wikipedia_id"]:
                told[identifier] += f" {said}"
    return told


def plant(entities: Sequence[Entity], seed: int) -> Iterator[dict[str, Any]]:
    """Yield Wikidata's JSON of all entities, with claims removed or added as the seed determines."""
    rng = random.Random(f"planted {seed}")
    persons = {entity.wikidata_id: entity.gender is not None for entity in entities}
    occupations = [entity.occupation.id for entity in entities if entity.occupation]
    items = list(wikidata_items(entities))
    for item in items:
        claims = item["claims"]
        if persons.get(item["id"]):  # cases are drawn independently: a person may have several
            for share, key in ((LIVING, "P570"), (NO_GENDER, "P21")):
                if rng.random() < share:
                    del claims[key]
            drawn = rng.random()
            if drawn < NO_OCCUPATION:
                del claims["P106"]
            elif drawn < NO_OCCUPATION + MORE_OCCUPATIONS:
                claims["P106"].append(item_claim("P106", rng.choice(occupations)))
        if "P373" in claims and rng.random() < NO_CATEGORY:
            del claims["P373"]
        if item["id"] == CYCLE[0]:
            claims["P279"] = [item_claim("P279", CYCLE[1])]
        yield item
    for number in range(NO_ARTICLE):
        yield {**items[0], "id": f"Q{_FIRST_WITHOUT_ARTICLE + number}"}


def _subjects(candidates: Sequence[Candidate], items: Sequence[dict[str, Any]]) -> list[Entity]:
    """Return the entities that need photographs: linked, dead, of a concrete type, with an image and a category."""
    claims = {item["id"]: item["claims"] for item in items if "P373" in item["claims"]}
    wanted = {identifier for identifier, claim in claims.items() if "P570" in claim or "P569" not in claim}
    subjects = {
        candidate.entity.number: candidate.entity
        for candidate in candidates
        if candidate.linked and candidate.entity.image and candidate.entity.wikidata_id in wanted
    }
    return [entity for entity in subjects.values() if entity.kind.name not in ABSTRACT]


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
    """File of a category: a photograph of a `view`, or the reference, or a copy of it (then `view` is 0)."""

    entity: Entity
    name: str
    record: dict[str, Any]
    view: int = 0


def plan_files(subjects: Sequence[Entity], seed: int, most: int) -> list[File]:
    """Choose the files of the subjects' categories: at most `most` each, in random order, all names different.

    Subjects have an image, none is given twice; `most` is at least 3.
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
    """Return a line of `commons.jsonl` without the sha1."""
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
    """Yield (name, JPEG) of the files: references from the knowledge base, other photographs drawn in parallel."""
    for file in (file for file in files if not file.view):
        data = references.read(str(file.entity.image))
        yield file.name, data if file.name == file.entity.image else _smaller(data)
    pictures = [Picture(one.name, *one.entity.picture, one.view) for one in files if one.view and one.entity.picture]
    yield from draw_pictures(pictures, engine, size=size, difficulty=difficulty, description="images/commons")


def _smaller(data: bytes) -> bytes:
    with Image.open(io.BytesIO(data)) as image:
        side = round(image.width * _COPY_SIZE), round(image.height * _COPY_SIZE)
        return encode(image.convert("RGB").resize(side, Image.Resampling.BICUBIC), quality=_COPY_QUALITY)
