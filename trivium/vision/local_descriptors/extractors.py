"""Extractors of DELG-style features, one interface for all; a folder says which one a re-ranker needs (kvqae.md §4).

`extractor.json` names the kind: `sift` (no weights), `delg` (our network; `delg.json` and weights lie beside), or
`delg_files` (features that DELG's own tool has extracted). `none` says that the re-ranker is left out.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from PIL import Image

from trivium.core.errors import BadInput
from trivium.core.tables import read_json
from trivium.vision.decoding import REASONS, Picture, Unreadable, decode_picture
from trivium.vision.local_descriptors.delg_files import NO_FILES, SHARED, DelgFiles
from trivium.vision.local_descriptors.folder import Description

CONFIG = "extractor.json"
DELG_FILES = "delg_files"
NONE = "none"
KINDS = ("sift", "delg", DELG_FILES)
WHY_NOT = (*REASONS, NO_FILES, SHARED)


class PictureExtractor(Protocol):
    """Describes pictures; `global_dimension` is g."""

    global_dimension: int

    def __call__(self, images: Sequence[Image.Image]) -> list[Description]:
        """Global and local descriptors of RGB pictures."""
        ...


class Extractor(Protocol):
    """Describes images given by name and encoded bytes; `global_dimension` is g."""

    global_dimension: int

    def prepare(self, name: str, data: bytes) -> Picture | str:
        """What `describe` looks at; made without the device."""
        ...

    def describe(self, prepared: Picture | str) -> Description | str:
        """Descriptors of one image, or one of `WHY_NOT`."""
        ...


class _Decoding:
    """Decodes images for an extractor that looks at pictures."""

    def __init__(self, extractor: PictureExtractor, max_side: int, max_pixels: int) -> None:
        self.global_dimension = extractor.global_dimension
        self._extractor, self._max_side, self._max_pixels = extractor, max_side, max_pixels

    def prepare(self, name: str, data: bytes) -> Picture | str:
        try:
            return decode_picture(data, max_side=self._max_side, max_pixels=self._max_pixels)
        except Unreadable as problem:
            return problem.reason

    def describe(self, prepared: Picture | str) -> Description | str:
        if isinstance(prepared, str):
            return prepared
        return replace(self._extractor([prepared.image])[0], flaws=prepared.flaws)


class _Reading:
    """Takes what DELG's tool wrote about an image of this name."""

    def __init__(self, files: DelgFiles) -> None:
        self.global_dimension = files.global_dimension
        self._files = files

    def prepare(self, name: str, data: bytes) -> str:
        return name

    def describe(self, prepared: Picture | str) -> Description | str:
        assert isinstance(prepared, str)  # the image's name
        return self._files(prepared)


def read_kind(folder: Path) -> object:
    """What a folder's `extractor.json` names: one of `KINDS` or `NONE`, or whatever else it holds."""
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
    """The extractor of a folder.

    Args:
        folder: with `extractor.json`.
        most: local descriptors kept an image.
        max_side, max_pixels: see `images.decode_picture`.
        files, shared: folder of DELG's files and names that two images share there, for the kind `delg_files` alone.

    Raises:
        BadInput: unknown kind, no files where they are needed, or weights that do not fit.
    """
    kind = read_kind(folder)
    if kind == "sift":
        from trivium.vision.local_descriptors.sift import SiftExtractor

        return _Decoding(SiftExtractor(most), max_side, max_pixels)
    if kind == "delg":
        from trivium.nets.device import pick_device
        from trivium.vision.local_descriptors.delg import DelgExtractor

        return _Decoding(DelgExtractor(folder, most, pick_device()), max_side, max_pixels)
    if kind == DELG_FILES:
        dimension = read_json(folder / CONFIG).get("global_dimension")
        if not isinstance(dimension, int) or dimension < 1:
            raise BadInput("bad size", file=folder / CONFIG, field="global_dimension", got=dimension,
                           expected="of DELG's global descriptors, such as 2048")  # fmt: skip
        if files is None or not files.is_dir():
            raise BadInput("no folder of DELG's files", field="world.local.kvqae_models", got=str(files),
                           expected="NAME.delg_global and NAME.delg_local of the images that `python -m trivium delg` "
                           "asks for (docs/kvqae-formats.md); or no RRT, with kvqae.rrt.use: false")  # fmt: skip
        return _Reading(DelgFiles(files, most, dimension, shared))
    raise BadInput("no such extractor", file=folder / CONFIG, field="kind", got=kind, choices=KINDS)
