"""Candidate images of each potential question, from its entity's Commons category (kvqae.md §2, step 4).

A candidate has a free licence and is neither the knowledge base's image of the entity nor nearly a copy of it.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from trivium.core.errors import BadInput
from trivium.kvqae.construction.commons_names import commons_file_name
from trivium.kvqae.construction.handed_on import CommonsFile, read_commons
from trivium.kvqae.construction.image_score import image_score
from trivium.kvqae.construction.licences import licence_standing
from trivium.kvqae.construction.near_duplicates import Fingerprint, Fingerprints, near_duplicates
from trivium.vision.decoding import Unreadable

SCHEMA = pa.schema(
    [
        ("key", pa.string()),
        ("images", pa.list_(pa.string())),
        ("scores", pa.list_(pa.int32())),
        ("licenses", pa.list_(pa.string())),
    ]
)


# Why a file of a category is no candidate; the first that applies counts.
Reason = Literal["licence_restricted", "licence_unknown", "reference", "not_at_hand", "unreadable", "near_duplicate"]


@dataclass(frozen=True)
class Subject:
    """The entity that pictures are looked for.

    Attributes:
        wikidata_id: of the entity.
        name: its label in Wikidata.
        commons: its Commons category, None when it has none.
        reference: the knowledge base's image of it, a file name.
    """

    wikidata_id: str
    name: str
    commons: str | None
    reference: str


@dataclass(frozen=True)
class Candidate:
    """An image that may stand for the entity."""

    name: str
    score: int
    license: str


def choose_images(
    subject: Subject,
    files: Sequence[CommonsFile],
    commons: Fingerprints,
    base: Fingerprints,
    counts: Counter[str],
    *,
    images: int,
    max_bits: int,
) -> list[Candidate]:
    """The best candidates of an entity, best score first, ties by title.

    Args:
        subject: the entity.
        files: of its Commons category.
        commons: their images.
        base: images of the knowledge base.
        counts: receives the files left out by reason, unknown licences by name, and references that cannot be read.
        images: candidates at most; files beyond are not decoded.
        max_bits: hashes of near duplicates differ in at most so many bits.
    """
    reference = _reference_fingerprint(subject, base, counts)
    scores = {file.title: image_score(file, subject.name, subject.wikidata_id) for file in files}
    free = [file for file in files if _has_free_licence(file, counts)]
    chosen: list[Candidate] = []
    for file in sorted(free, key=lambda file: (-scores[file.title], file.title)):
        if len(chosen) == images:
            break
        if reason := _refusal(file, subject, commons, reference, max_bits):
            counts[reason] += 1
        else:
            chosen.append(Candidate(file.name, scores[file.title], file.license))
    return chosen


def _has_free_licence(file: CommonsFile, counts: Counter[str]) -> bool:
    standing = licence_standing(file.license)
    if standing != "free":
        counts[f"licence_{standing}"] += 1
    if standing == "unknown":
        counts[f"licence_unknown: {file.license.strip().lower() or 'none'}"] += 1
    return standing == "free"


def _reference_fingerprint(subject: Subject, base: Fingerprints, counts: Counter[str]) -> Fingerprint | None:
    if subject.reference not in base:
        counts["reference_not_at_hand"] += 1
        return None
    try:
        return base.of(subject.reference)
    except Unreadable:
        counts["reference_unreadable"] += 1
        return None


def _refusal(
    file: CommonsFile, subject: Subject, commons: Fingerprints, reference: Fingerprint | None, max_bits: int
) -> Reason | None:
    """Why a free file is no candidate; what costs least is asked first."""
    if commons_file_name(file.name) == commons_file_name(subject.reference):
        return "reference"
    if file.name not in commons:
        return "not_at_hand"
    try:
        own = commons.of(file.name)
    except Unreadable:
        return "unreadable"
    return "near_duplicate" if reference and near_duplicates(own, reference, max_bits) else None


def read_subjects(rows: Sequence[Mapping[str, Any]]) -> dict[str, Subject]:
    """The entities of the rows of `subjects.parquet`, by their id."""
    return {row["wikidata_id"]: Subject(**{name: row[name] for name in Subject.__dataclass_fields__}) for row in rows}


def read_categories(path: Path, wanted: set[str]) -> dict[str, list[CommonsFile]]:
    """The files of the wanted categories; `BadInput` when a category has a file twice."""
    files: dict[str, dict[str, CommonsFile]] = defaultdict(dict)
    for file in read_commons(path):
        category = file.category.replace("_", " ")
        if category in wanted:
            if file.title in files[category]:
                raise BadInput("file twice in a category", file=path, field="title", got=file.title)
            files[category][file.title] = file
    return {category: list(several.values()) for category, several in files.items()}
