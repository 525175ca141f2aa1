"""Sets given on request only: which of their files the user's folders hold, and what stops without them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trivium.core.errors import BadInput
from trivium.sources.pins import REQUESTED, Pins

STOPS = {
    "fquad": "complexity-world and all that follows it stop",
    "calor": "complexity-world and all that follows it stop",
    "flickr30k": "decorrelation-world@flickr30k and all that follows it stop",
}
# Needed beside the files that requested.yaml can pin.
PHOTOGRAPHS = {"flickr30k": ("images/",)}
# May be absent, and what does not work then.
OPTIONAL = {("calor", "syntax.conllu"): "complexity.syntax.parser cannot be conllu"}


@dataclass(frozen=True)
class Holding:
    """What the folder of a set holds.

    Attributes:
        source: `world.<name>` as it is set.
        folder: `world.local.<name>`.
        files: what the folder must hold.
        missing: those of `files` that it does not hold.
        optional_missing: what may be absent and is, with what does not work then.
        page: where to ask for the set.
    """

    name: str
    source: str
    folder: Path
    files: tuple[str, ...]
    missing: tuple[str, ...]
    optional_missing: Mapping[str, str]
    page: str

    @property
    def stops(self) -> str:
        """What the lack means for the world that is set now."""
        if self.source == "sample":
            return f"world.{self.name} is sample and needs none; at scale paper it is local: {STOPS[self.name]}"
        return f"world.{self.name} is {self.source}: {STOPS[self.name]}"


def holdings(root: Path, parameters: Mapping[str, Any], listed: Path = REQUESTED) -> Iterator[Holding]:
    """Look into the folder of every set that is given on request; nothing is opened.

    Args:
        root: the project's folder, from which `world.local` counts.
        parameters: `params.yaml`.
        listed: the list of these sets.

    Raises:
        BadInput: a set has no source or folder in `world`.
    """
    world = parameters.get("world", {})
    for name, source in Pins(listed).sources.items():
        for field, section in ((f"world.{name}", world), (f"world.local.{name}", world.get("local", {}))):
            if name not in section:
                raise BadInput("missing", file=root / "params.yaml", field=field, choices=sorted(section))
        folder = Path(world["local"][name])
        listed_files = (*(source.files or ()), *PHOTOGRAPHS.get(name, ()))
        absent = [file for file in listed_files if not _is_there(root / folder, file)]
        yield Holding(
            name,
            source=world[name],
            folder=folder,
            files=tuple(file for file in listed_files if (name, file) not in OPTIONAL),
            missing=tuple(file for file in absent if (name, file) not in OPTIONAL),
            optional_missing={file: OPTIONAL[name, file] for file in absent if (name, file) in OPTIONAL},
            page=source.page or source.url or "",
        )


def _is_there(folder: Path, file: str) -> bool:
    path = folder / file
    if file.endswith("/"):
        return path.is_dir() and any(path.iterdir())
    # Annotated texts may come as FrameNet's XML, in a folder of the split's name.
    return path.is_file() or (path.parent.name == "frames" and any(path.with_suffix("").glob("*.xml")))
