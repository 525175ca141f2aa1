"""Extractors of DELG-style features, one interface for all; a folder says which one a re-ranker needs (kvqae.md §4).

`extractor.json` names the kind: `sift` (no weights), or `delg_files` (features that DELG's own tool has extracted).
`none` says that the re-ranker is left out.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from trivium.core.errors import BadInput
from trivium.core.tables import read_json
from trivium.vision.decoding import REASONS, Unreadable, decode_picture
from trivium.vision.local_descriptors.delg_files import NO_FILES, SHARED, DelgFiles
from trivium.vision.local_descriptors.folder import Description

CONFIG = "extractor.json"
DELG_FILES = "delg_files"
NONE = "none"
KINDS = ("sift", DELG_FILES)
WHY_NOT = (*REASONS, NO_FILES, SHARED)


@dataclass(frozen=True)
class Extractor:
    """Describes images given by name and encoded bytes.

    Attributes:
        global_dimension: g.
        describe: descriptors of one image, or one of `WHY_NOT`.
    """

    global_dimension: int
    describe: Callable[[str, bytes], Description | str]


def read_kind(folder: Path) -> object:
    """Return the kind in a folder's `extractor.json`: one of `KINDS`, `NONE`, or an unknown value."""
    config = read_json(folder / CONFIG)
    return config.get("kind") if isinstance(config, dict) else None


def load_extractor(
    folder: Path,
    *,
    most: int,
    max_side: int,
    max_pixels: int,
    files: Path | None,
    shared: frozenset[str] = frozenset(),
) -> Extractor:
    """Load the extractor of a folder.

    Args:
        folder: with `extractor.json`.
        most: local descriptors kept an image.
        max_side, max_pixels: see `decoding.decode_picture`.
        files, shared: folder of DELG's files and names that two images share there, for the kind `delg_files` alone.

    Raises:
        BadInput: unknown kind, or no files where they are needed.
    """
    kind = read_kind(folder)
    if kind == "sift":
        from trivium.vision.local_descriptors.sift import SiftExtractor

        sift = SiftExtractor(most)

        def describe(name: str, data: bytes) -> Description | str:
            try:
                picture = decode_picture(data, max_side=max_side, max_pixels=max_pixels)
            except Unreadable as problem:
                return problem.reason
            return replace(sift(picture.image), flaws=picture.flaws)

        return Extractor(sift.global_dimension, describe)
    if kind == DELG_FILES:
        dimension = read_json(folder / CONFIG).get("global_dimension")
        if not isinstance(dimension, int) or dimension < 1:
            raise BadInput("bad size", file=folder / CONFIG, field="global_dimension", got=dimension,
                           expected="of DELG's global descriptors, such as 2048")  # fmt: skip
        if files is None or not files.is_dir():
            raise BadInput("no folder of DELG's files", field="world.local.kvqae_models", got=str(files),
                           expected="NAME.delg_global and NAME.delg_local of the images that `python -m trivium delg` "
                           "asks for (docs/kvqae-formats.md); or no RRT, with kvqae.rrt.use: false")  # fmt: skip
        from_files = DelgFiles(files, most, dimension, shared)
        return Extractor(dimension, lambda name, data: from_files(name))
    raise BadInput("no such extractor", file=folder / CONFIG, field="kind", got=kind, choices=KINDS)
