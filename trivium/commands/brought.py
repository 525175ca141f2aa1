"""The lines of `trivium doctor` about what people bring: what lies in their folders, and what stops without it."""

from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any, Literal, NamedTuple

from trivium.core.errors import BadInput
from trivium.core.parameters import read_parameters, used_values
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
# `make setup` may have put uv there alone, and there is no pip: spaCy takes uv where it finds it.
SPACY_DOWNLOAD = 'PATH="$PWD/.uv/bin:$PATH" .venv/bin/python -m spacy download'
State = Literal["has", "lacks", "needs"]


class Finding(NamedTuple):
    """A line of `trivium doctor`: `has` it, `lacks` it (something works less well or not), or `needs` it."""

    name: str
    state: State
    result: str
    meaning: str = ""


def judge(name: str, is_there: bool, result: str, meaning: str, *, needed: bool = False) -> Finding:
    """A finding whose meaning is shown only where something is missing."""
    return Finding(name, "has", result) if is_there else Finding(name, "needs" if needed else "lacks", result, meaning)


def examine_brought(root: Path) -> Iterator[Finding]:
    """Look for what no stage downloads: sets on request, spaCy's and stanza's models, the files of DELG's own tool."""
    parameters = root / "params.yaml"
    yield from examine_requested(root, read_parameters(parameters))
    pipeline, needed = used_values(parameters, "kvqae.mention_model.model"), "kvqae-mention_model stops"
    if pipeline == "trained":
        pipeline = used_values(root / "scales" / "paper.yaml", "kvqae.mention_model.model")
        needed = f"the sample trains its own; at scales workstation and paper {needed}"
    try:
        yield Finding("spaCy", "has", f"{pipeline} {installed(pipeline)}")
    except PackageNotFoundError:
        yield Finding("spaCy", "lacks", f"no {pipeline}", f"{needed}; `{SPACY_DOWNLOAD} {pipeline}`")
    folder = used_values(parameters, "complexity.syntax.stanza_folder")
    has_models = (root / folder / "resources.json").is_file()
    needed = "complexity-factors stops where complexity.syntax.parser is stanza, as at scales workstation and paper"
    result = f"{'' if has_models else 'no '}models in {folder}"
    yield judge("stanza", has_models, result, f"{needed}; its message has the command")
    brought = used_values(parameters, "world.local.kvqae_models")
    has_extractor = (root / brought / "rrt/extractor/extractor.json").is_file()
    has_features = has_extractor or any((root / brought).glob("delg/*/*.delg_global"))
    needed = "RRT is left out with world.kvqae: hub; `python -m trivium delg` asks for them (docs/kvqae-formats.md)"
    yield judge("DELG", has_features, f"{'' if has_features else 'no '}features in {brought}", needed)


def examine_requested(root: Path, parameters: Mapping[str, Any]) -> Iterator[Finding]:
    """Look for sets that are given on request only: what the user's folders hold, and what a lack means.

    Raises:
        BadInput: a set has no source or folder in `world`.
    """
    world = parameters.get("world", {})
    for name, source in Pins(REQUESTED).sources.items():
        for field, section in ((f"world.{name}", world), (f"world.local.{name}", world.get("local", {}))):
            if name not in section:
                raise BadInput("missing", file=root / "params.yaml", field=field, choices=sorted(section))
        folder, files = Path(world["local"][name]), (*(source.files or ()), *PHOTOGRAPHS.get(name, ()))
        absent = [file for file in files if not _is_there(root / folder, file)]
        if missing := [file for file in absent if (name, file) not in OPTIONAL]:
            meaning = f"world.{name} is {world[name]}: {STOPS[name]}"
            if world[name] == "sample":
                meaning = f"world.{name} is sample and needs none; at scale paper it is local: {STOPS[name]}"
            meaning += f"; ask at {source.page or source.url or ''}"
            yield Finding(f"request: {name}", "lacks", f"{folder} lacks {', '.join(missing)}", meaning)
        else:
            present = ", ".join(file for file in files if (name, file) not in OPTIONAL)
            meaning = "; ".join(f"no {file}: {OPTIONAL[name, file]}" for file in absent)
            yield Finding(f"request: {name}", "has", f"{folder} holds {present}", meaning)


def _is_there(folder: Path, file: str) -> bool:
    path = folder / file
    if file.endswith("/"):
        return path.is_dir() and any(path.iterdir())
    # Annotated texts may come as FrameNet's XML, in a folder of the split's name.
    return path.is_file() or (path.parent.name == "frames" and any(path.with_suffix("").glob("*.xml")))
