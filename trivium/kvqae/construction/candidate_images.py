"""Find candidate images of each potential question in its entity's Commons category (kvqae.md §2, step 4).

A candidate has a free licence and is neither the knowledge base's image of the entity nor a near duplicate of it: one
whose difference hash ("dHash") is nearly the same. The picture is reduced to 9 × 8 grey values; bit (r, c) says whether
grey grows from column c to c + 1 of row r. All bits of a flag are 0, so the grey values must agree as well, to
`MAX_GREY` levels of 255 on average: brightening by a sixth changes them by 20, unrelated photographs differ by 40.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from PIL import Image
from pydantic import Field
from tqdm import tqdm

from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.core.parameters import Parameters
from trivium.core.tables import read_json_records
from trivium.kvqae.construction.commons import CommonsFile, commons_file_name, licence_standing
from trivium.measures.answers import AnswerMatcher
from trivium.vision.decoding import FLAWS, Unreadable, decode_picture

BITS = 64
MAX_GREY = 24.0
MAX_SIDE = 256  # of a decoded image, pixels
SCHEMA = pa.schema(
    [
        ("key", pa.string()),
        ("images", pa.list_(pa.string())),
        ("scores", pa.list_(pa.int32())),
        ("licenses", pa.list_(pa.string())),
    ]
)
# Why a file of a category is no candidate; the first that applies counts.
REASONS = ("licence_restricted", "licence_unknown", "reference", "not_at_hand", "unreadable", "near_duplicate")
_UNKNOWN_NAMES = 20  # most names of unknown licences in the metrics


def image_score(file: CommonsFile, label: str, wikidata_id: str) -> int:
    """Count in how many of four places the entity is named: every category, description, title, depicted items.

    Its label is normalised as answers are and matched at word boundaries.
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


def fingerprint(picture: Image.Image) -> NDArray[np.int16]:
    """Reduce a picture to (8, 9) grey values, 0 to 255."""
    return np.asarray(picture.convert("L").resize((9, 8), Image.Resampling.BOX), dtype=np.int16)


def hash_distance(a: NDArray[np.int16], b: NDArray[np.int16]) -> int:
    """Count the bits, of 64, in which the difference hashes of two fingerprints differ."""
    return int(((np.diff(a) > 0) != (np.diff(b) > 0)).sum())


def near_duplicates(a: NDArray[np.int16], b: NDArray[np.int16], max_bits: int) -> bool:
    """Whether hashes differ in at most `max_bits` and grey values by at most `MAX_GREY` on average."""
    return hash_distance(a, b) <= max_bits and float(np.abs(a - b).mean()) <= MAX_GREY


class Fingerprints:
    """Fingerprints of the images of a folder of shards; `flawed` are images read in spite of a flaw, by flaw."""

    def __init__(self, folder: Path, max_pixels: int) -> None:
        self._images, self._max_pixels = Images(folder), max_pixels
        self.flawed: dict[str, set[str]] = {flaw: set() for flaw in FLAWS}

    def of(self, name: str) -> NDArray[np.int16] | str:
        """Return the image's fingerprint, or the reason why there is none."""
        if name not in self._images:
            return "not_at_hand"
        try:
            picture = decode_picture(self._images.read(name), max_side=MAX_SIDE, max_pixels=self._max_pixels)
        except Unreadable:
            return "unreadable"
        for flaw in picture.flaws:
            self.flawed[flaw].add(name)
        return fingerprint(picture.image)


class CandidateImagesParameters(Parameters):
    """Part of section `kvqae.generate`."""

    places: ClassVar = {"max_pixels": "kvqae.pictures.max_pixels"}
    images: int = Field(ge=1, description="Candidates a question, at most")
    max_bits: int = Field(ge=0, lt=BITS, description="Difference hashes of near duplicates differ in so many bits")
    max_pixels: int = Field(ge=1, description="Images with more pixels are not decoded, unless they are JPEGs")


def choose_images(
    subject: Mapping[str, Any],
    files: Sequence[CommonsFile],
    commons: Fingerprints,
    base: Fingerprints,
    counts: Counter[str],
    parameters: CandidateImagesParameters,
) -> list[tuple[CommonsFile, int]]:
    """Choose the best candidates of an entity and their scores, best first, ties by title; others are not decoded.

    `subject` is a row of `SUBJECT_SCHEMA`, `files` are those of its Commons category, `commons` their images and `base`
    those of the knowledge base. `counts` receives the files left out by reason, unknown licences by name, and
    references that cannot be read.
    """
    reference = base.of(subject["reference"])
    if isinstance(reference, str):
        counts[f"reference_{reference}"] += 1
    scores = {file.title: image_score(file, subject["name"], subject["wikidata_id"]) for file in files}
    free = []
    for file in files:
        if (standing := licence_standing(file.license)) == "free":
            free.append(file)
            continue
        counts[f"licence_{standing}"] += 1
        if standing == "unknown":
            counts[f"licence_unknown: {file.license.strip().lower() or 'none'}"] += 1
    chosen: list[tuple[CommonsFile, int]] = []
    for file in sorted(free, key=lambda file: (-scores[file.title], file.title)):
        if len(chosen) == parameters.images:
            break
        same_name = commons_file_name(file.name) == commons_file_name(subject["reference"])
        own = "reference" if same_name else commons.of(file.name)  # the cheapest check comes first
        if isinstance(own, str):
            counts[own] += 1
        elif not isinstance(reference, str) and near_duplicates(own, reference, parameters.max_bits):
            counts["near_duplicate"] += 1
        else:
            chosen.append((file, scores[file.title]))
    return chosen


def read_categories(path: Path, names: set[str]) -> dict[str, list[CommonsFile]]:
    """Read the files of the named categories."""
    files: dict[str, dict[str, CommonsFile]] = defaultdict(dict)
    for _, file in read_json_records(path, CommonsFile):
        category = file.category.replace("_", " ")
        if category in names:
            if file.title in files[category]:
                raise BadInput("file twice in a category", file=path, field="title", got=file.title)
            files[category][file.title] = file
    return {category: list(several.values()) for category, several in files.items()}


def find_candidates(
    rows: Sequence[Mapping[str, Any]],
    parameters: CandidateImagesParameters,
    *,
    commons: Path,
    images: Path,
    kb_images: Path,
) -> tuple[list[dict[str, Any]], dict[str, float]]:
    """Find the candidate images of every potential question that has some, rows of `SCHEMA`; returns counts, too.

    `rows` have `SUBJECT_SCHEMA`, `commons` lists the files of categories, `images` has their images. The count
    `share_without_image` is the paper's: questions without Commons category, or without a candidate in it.
    """
    entities = {row["wikidata_id"]: row for row in rows}
    categories = read_categories(commons, {row["commons"] for row in entities.values() if row["commons"]})
    pictures, base = (Fingerprints(folder, parameters.max_pixels) for folder in (images, kb_images))
    counts: Counter[str] = Counter(dict.fromkeys((*REASONS, "reference_not_at_hand", "reference_unreadable"), 0))
    chosen = {
        name: choose_images(row, categories.get(row["commons"] or "", ()), pictures, base, counts, parameters)
        for name, row in tqdm(entities.items(), desc="entities", mininterval=5, leave=False)
    }
    kept = [
        {
            "key": f"{row['question']}_{row['start']}",
            "images": [file.name for file, _ in candidates],
            "scores": [score for _, score in candidates],
            "licenses": [file.license for file, _ in candidates],
        }
        for row in rows
        if (candidates := chosen[row["wikidata_id"]])
    ]
    unknown = Counter({name: count for name, count in counts.items() if ": " in name})
    scores = Counter(score for candidates in chosen.values() for _, score in candidates)
    metrics = {
        "questions": len(rows),
        "questions_without_image": len(rows) - len(kept),
        "share_without_image": (len(rows) - len(kept)) / len(rows) if rows else 0.0,
        "no_commons_category": sum(row["commons"] is None for row in rows),
        "entities": len(chosen),
        "entities_without_image": sum(not candidates for candidates in chosen.values()),
        **{flaw: len(names) for flaw, names in pictures.flawed.items()},
        **{f"reference_{flaw}": len(names) for flaw, names in base.flawed.items()},
        **{f"images_of_score_{score}": scores[score] for score in range(5)},
        **{name: count for name, count in counts.items() if name not in unknown},
        **{name.replace(": ", "_", 1): count for name, count in unknown.most_common(_UNKNOWN_NAMES)},
    }
    return kept, {name: float(value) for name, value in metrics.items()}
