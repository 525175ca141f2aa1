"""Sources of the construction that a user brings: checked, then linked or copied (kvqae.md §2)."""

from collections.abc import Iterator
from pathlib import Path

from trivium.core.atomic import write_atomically
from trivium.core.image_shards import Images
from trivium.core.tables import read_json_lines, write_json
from trivium.formats.triviaqa import read_triviaqa
from trivium.formats.wikidata import Entity, parse_entity
from trivium.kvqae.construction.commons import read_commons
from trivium.kvqae.construction.spacy_pipeline import read_annotated
from trivium.sources.brought import bring, digests, require_files
from trivium.sources.kvqae.local import bring_images

FILES = ("triviaqa.json", "wikidata.jsonl", "commons.jsonl", "concrete_types.csv")
_ANNOTATED = "annotated.jsonl"


def check_sources(source: Path, out: Path) -> dict[str, float]:
    """Check a folder laid out as `data/kvqae/sources` and bring it there; `annotated.jsonl` may be left out.

    Raises:
        BadInput: a file is missing or malformed, see its reader; or there are no images.
    """
    require_files(source, FILES)
    annotated = [_ANNOTATED] if (source / _ANNOTATED).exists() and (source / _ANNOTATED).stat().st_size else []
    counts = {
        "questions": sum(1 for _ in read_triviaqa(source / "triviaqa.json")),
        "entities": sum(1 for _ in _entities(source / "wikidata.jsonl")),
        "annotated_sentences": len(read_annotated(source / _ANNOTATED)) if annotated else 0,
    }
    with write_atomically(out) as beside:
        bring_images(source / "images", beside / "images")
        images = Images(beside / "images")
        files = list(read_commons(source / "commons.jsonl"))
        counts["commons_files"] = len(files)
        counts["commons_files_without_image"] = sum(file.name not in images for file in files)
        bring(source, beside, [*FILES, *annotated])
        if not annotated:
            (beside / _ANNOTATED).touch()
        write_json(beside / "provenance.json", digests(beside))
    return {name: float(count) for name, count in counts.items()}


def _entities(path: Path) -> Iterator[Entity]:
    for row, record in read_json_lines(path):
        yield parse_entity(record, file=path, row=row)
