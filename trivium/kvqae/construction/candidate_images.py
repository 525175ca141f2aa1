"""Candidate images of each potential question, from its entity's Commons category (kvqae.md §2, step 4).

A candidate has a free licence and is neither the knowledge base's image of the entity nor nearly a copy of it. Near
duplicates are told by the difference hash ("dHash"): the picture is reduced to 9 × 8 grey values; bit (r, c) says
whether grey grows from column c to c + 1 of row r. Copies that were scaled, compressed or brightened keep nearly all of
the 64 bits; a crop, a mirror image or another photograph does not. Of flat pictures the hash says little: all bits of
a flag and nearly all of a logo are 0. So the grey values have to agree as well, to `MAX_GREY` levels of 255 on average.
Scaling and compressing change them by 2 levels, brightening by a sixth by about 20; two photographs that have nothing
in common differ by 40.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from PIL import Image
from pydantic import Field
from tqdm import tqdm

from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.core.parameters import Parameters
from trivium.core.tables import read_table, write_table
from trivium.kvqae.construction.commons import CommonsFile, commons_file_name, licence_standing, read_commons
from trivium.measures.answers import AnswerMatcher
from trivium.vision.decoding import FLAWS, Unreadable, decode_picture

BITS = 64
MAX_GREY = 24.0
_ROWS = _COLUMNS = 8
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


def image_score(file: CommonsFile, label: str, wikidata_id: str) -> int:
    """In how many of four places the entity appears: every category, the description, the title, what it depicts.

    Args:
        file: with its metadata; a file without categories has none that names the entity.
        label: the entity's name; normalised as answers are, found at word boundaries.
        wikidata_id: of the entity, looked for in `depicts`.

    Returns:
        0 to 4.
    """
    matcher = AnswerMatcher([label])
    title = file.name.rpartition(".")[0] or file.name
    named = [matcher.matches(text.replace("_", " ")) for text in file.categories]
    return (
        (bool(named) and all(named))
        + matcher.matches(file.description)
        + matcher.matches(title.replace("_", " "))
        + (wikidata_id in file.depicts)
    )


@dataclass(frozen=True, eq=False)
class Fingerprint:
    """What a picture is compared by.

    Attributes:
        grey: (8, 9), grey values of the reduced picture, 0 to 255.
        bits: its difference hash as a number, row by row, the first bit the highest.
    """

    grey: NDArray[np.int16]
    bits: int


def fingerprint(picture: Image.Image) -> Fingerprint:
    """Reduce a picture to what it is compared by."""
    grey = np.asarray(picture.convert("L").resize((_COLUMNS + 1, _ROWS), Image.Resampling.BOX), dtype=np.int16)
    grows = grey[:, 1:] > grey[:, :-1]
    return Fingerprint(grey, int.from_bytes(np.packbits(grows).tobytes(), "big"))


def hamming(a: int, b: int) -> int:
    """In how many of the 64 bits two hashes differ."""
    return (a ^ b).bit_count()


def near_duplicates(a: Fingerprint, b: Fingerprint, max_bits: int) -> bool:
    """Whether hashes differ in at most `max_bits` and grey values by at most `MAX_GREY` on average."""
    return hamming(a.bits, b.bits) <= max_bits and float(np.abs(a.grey - b.grey).mean()) <= MAX_GREY


class Fingerprints:
    """Fingerprints of a collection's images.

    Args:
        images: shards that hold the images.
        max_side, max_pixels: see `images.decode_picture`.

    Attributes:
        flawed: names of the images read in spite of a flaw, by flaw (`decoding.FLAWS`).
    """

    def __init__(self, images: Images, *, max_side: int, max_pixels: int) -> None:
        self._images, self._max_side, self._max_pixels = images, max_side, max_pixels
        self.flawed: dict[str, set[str]] = {flaw: set() for flaw in FLAWS}

    def __contains__(self, name: str) -> bool:
        return name in self._images

    def of(self, name: str) -> Fingerprint:
        """The image's fingerprint.

        Raises:
            BadInput: no such image.
            Unreadable: its bytes give no picture.
        """
        data = self._images.read(name)
        picture = decode_picture(data, max_side=self._max_side, max_pixels=self._max_pixels)
        for flaw in picture.flaws:
            self.flawed[flaw].add(name)
        return fingerprint(picture.image)


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


REASONS: tuple[Reason, ...] = get_args(Reason)


_UNKNOWN_NAMES = 20  # that the metrics name; there may be any number


class CandidateImagesParameters(Parameters):
    """Section `kvqae.candidate_images`."""

    elsewhere: ClassVar = {"max_pixels": "kvqae.pictures.max_pixels"}
    images: int = Field(ge=1, description="Candidates a question, at most")
    max_bits: int = Field(ge=0, lt=BITS, description="Difference hashes of near duplicates differ in so many bits")
    max_side: int = Field(default=256, ge=16, description="Longer side of a decoded image, pixels")
    max_pixels: int = Field(ge=1, description="Images with more pixels are not decoded, unless they are JPEGs")


def write_candidates(
    parameters: CandidateImagesParameters,
    *,
    subjects: Path,
    commons: Path,
    images: Path,
    kb_images: Path,
    out: Path,
) -> dict[str, float]:
    """Write the candidate images of every potential question that has some.

    `share_without_image` is the paper's: questions without Commons category, or without a candidate in it.
    """
    columns = ["question", "start", *Subject.__dataclass_fields__]
    rows = read_table(subjects, columns).to_pylist()
    entities = read_subjects(rows)
    categories = read_categories(commons, {subject.commons for subject in entities.values() if subject.commons})
    limits = {"max_side": parameters.max_side, "max_pixels": parameters.max_pixels}
    pictures, base = (Fingerprints(Images(folder), **limits) for folder in (images, kb_images))
    counts: Counter[str] = Counter(dict.fromkeys((*REASONS, "reference_not_at_hand", "reference_unreadable"), 0))
    chosen = {
        name: choose_images(
            subject,
            categories.get(subject.commons or "", ()),
            pictures,
            base,
            counts,
            images=parameters.images,
            max_bits=parameters.max_bits,
        )
        for name, subject in tqdm(entities.items(), desc="entities", mininterval=5, leave=False)
    }
    kept = [
        {
            "key": f"{row['question']}_{row['start']}",
            "images": [candidate.name for candidate in candidates],
            "scores": [candidate.score for candidate in candidates],
            "licenses": [candidate.license for candidate in candidates],
        }
        for row in rows
        if (candidates := chosen[row["wikidata_id"]])
    ]
    write_table(out, pa.Table.from_pylist(kept, schema=SCHEMA))
    for flaw in FLAWS:
        counts.update({flaw: len(pictures.flawed[flaw]), f"reference_{flaw}": len(base.flawed[flaw])})
    without_category = sum(row["commons"] is None for row in rows)
    return _metrics(len(rows), kept, chosen, counts) | {"no_commons_category": float(without_category)}


def _metrics(
    questions: int, kept: Sequence[Mapping[str, Any]], chosen: Mapping[str, list[Candidate]], counts: Counter[str]
) -> dict[str, float]:
    unknown = Counter({name: count for name, count in counts.items() if ": " in name})
    named = {name.replace(": ", "_", 1): count for name, count in unknown.most_common(_UNKNOWN_NAMES)}
    scores = Counter(candidate.score for candidates in chosen.values() for candidate in candidates)
    metrics = {
        "questions": questions,
        "questions_without_image": questions - len(kept),
        "share_without_image": (questions - len(kept)) / questions if questions else 0.0,
        "entities": len(chosen),
        "entities_without_image": sum(not candidates for candidates in chosen.values()),
        **{f"images_of_score_{score}": scores[score] for score in range(5)},
        **{name: count for name, count in counts.items() if name not in unknown},
        **named,
    }
    return {name: float(value) for name, value in metrics.items()}
