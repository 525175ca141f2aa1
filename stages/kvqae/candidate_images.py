"""Stage `kvqae-candidate_images`. Free pictures from the entities' Commons categories, best score first."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, get_args

import pyarrow as pa
from pydantic import Field
from tqdm import tqdm

from trivium.core.image_shards import Images
from trivium.core.parameters import Parameters
from trivium.core.stage import Context, run_stage
from trivium.core.tables import read_table, write_table
from trivium.kvqae.construction.candidate_images import (
    BITS,
    SCHEMA,
    Candidate,
    Fingerprints,
    Reason,
    Subject,
    choose_images,
    read_categories,
    read_subjects,
)

REASONS: tuple[Reason, ...] = get_args(Reason)


_UNKNOWN_NAMES = 20  # that the metrics name; there may be any number


class CandidateImagesParameters(Parameters):
    """Section `kvqae.candidate_images`."""

    elsewhere: ClassVar = {"max_pixels": "kvqae.pictures.max_pixels"}
    images: int = Field(ge=1, description="Candidates a question, at most")
    max_bits: int = Field(ge=0, lt=BITS, description="Difference hashes of near duplicates differ in so many bits")
    max_side: int = Field(default=256, ge=16, description="Longer side of a decoded image, pixels")
    max_pixels: int = Field(ge=1, description="Images with more pixels are not decoded, unless they are JPEGs")


def main(
    parameters: CandidateImagesParameters,
    context: Context,
    *,
    subjects: Path = Path("data/kvqae/construction/subjects.parquet"),
    commons: Path = Path("data/kvqae/sources/commons.jsonl"),
    images: Path = Path("data/kvqae/sources/images"),
    kb_images: Path = Path("data/kvqae/raw/images/kb"),
    out: Path = Path("data/kvqae/construction/candidates.parquet"),
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
    counts.update({"broken_exif": len(pictures.broken_exif), "reference_broken_exif": len(base.broken_exif)})
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


if __name__ == "__main__":
    run_stage(main, "kvqae.candidate_images", CandidateImagesParameters, metrics="metrics/kvqae/candidate_images.json")
