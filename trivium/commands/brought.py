"""What people bring: which of it lies in their folders, and what stops without it. `trivium doctor` shows it."""

from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any

from trivium.commands.delg import AFTER, LISTS, images_of, missing_features
from trivium.commands.finding import Finding, judge
from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.core.parameters import read_parameters, used_values
from trivium.kvqae.rerankers.local_features import SIDES
from trivium.kvqae.rerankers.rrt_parameters import is_left_out
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


def examine_brought(root: Path) -> Iterator[Finding]:
    """What no stage downloads: sets on request, spaCy's and stanza's models, the files of DELG's own tool.

    Args:
        root: the project's folder.

    Raises:
        BadInput: `params.yaml` or `scales/paper.yaml` lacks a setting that names one of them.
    """
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
    there = (root / folder / "resources.json").is_file()
    needed = "complexity-factors stops where complexity.syntax.parser is stanza, as at scales workstation and paper"
    yield judge(
        "stanza", there, f"{'' if there else 'no '}models in {folder}", f"{needed}; its message has the command"
    )
    yield _delg(root, Path(used_values(parameters, "world.local.kvqae_models")))


def _delg(root: Path, brought: Path) -> Finding:
    """Features of DELG's own tool for the images that RRT compares, or an extractor in their place."""
    if (root / brought / "rrt" / "extractor" / "extractor.json").is_file():
        return Finding("DELG", "has", f"an extractor in {brought}/rrt")
    needs = "RRT takes them with world.kvqae: hub, where kvqae.rrt.use is true (docs/kvqae-formats.md)"
    if not all((root / LISTS / f"{side}.txt").is_file() and images_of(root, side).is_dir() for side in SIDES):
        found = "not known which images need features"
        return Finding("DELG", "lacks", found, f"kvqae-local_features lists them; {needs}")
    counts = {side: missing_features(root, side, Images(images_of(root, side)).names) for side in SIDES}
    lacking = [f"{len(missing)} of {total} images of {side}" for side, (missing, total) in counts.items() if missing]
    if lacking:
        found = f"no files in {brought}/delg for {', '.join(lacking)}"
        advice = "`python -m trivium delg` asks for them, but for pictures that cannot be read"
        return Finding("DELG", "lacks", found, f"{advice}; {needs}")
    model = root / "models" / "kvqae" / "rrt"
    left_out = f"RRT is left out still. {AFTER}" if model.is_dir() and is_left_out(model) else ""
    return Finding("DELG", "has", f"files in {brought}/delg for all images that RRT compares", left_out)


def examine_requested(root: Path, parameters: Mapping[str, Any]) -> Iterator[Finding]:
    """Sets that are given on request only: what of each the user's folder holds, and what the lack means now.

    Args:
        root: the project's folder, from which `world.local` counts.
        parameters: `params.yaml`.

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
            said = f"world.{name} is {world[name]}: {STOPS[name]}"
            if world[name] == "sample":
                said = f"world.{name} is sample and needs none; at scale paper it is local: {STOPS[name]}"
            said += f"; ask at {source.page or source.url or ''}"
            yield Finding(f"request: {name}", "lacks", f"{folder} lacks {', '.join(missing)}", said)
        else:
            there = ", ".join(file for file in files if (name, file) not in OPTIONAL)
            without = "; ".join(f"no {file}: {OPTIONAL[name, file]}" for file in absent)
            yield Finding(f"request: {name}", "has", f"{folder} holds {there}", without)


def _is_there(folder: Path, file: str) -> bool:
    path = folder / file
    if file.endswith("/"):
        return path.is_dir() and any(path.iterdir())
    # Annotated texts may come as FrameNet's XML, in a folder of the split's name.
    return path.is_file() or (path.parent.name == "frames" and any(path.with_suffix("").glob("*.xml")))
