"""`make scale S=paper`: merge a file of `scales/` into `params.yaml`, keep its comments, and show what changed.

    trivium scale --scale paper

A scale names only the keys that differ. It may also name a key that `params.yaml` leaves out, if the stage of that
section knows the key; otherwise the scale is refused. A matrix, such as `decorrelation.cells`, takes any entry.
An entry that the scale sets to null is taken out. `git checkout params.yaml` undoes the change.
"""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, MutableMapping
from importlib import import_module
from pathlib import Path
from typing import Any, get_type_hints

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import YAMLError
from ruamel.yaml.representer import RoundTripRepresenter

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.parameters import RunParameters
from trivium.core.reading import read_text

FAMILY = "stages"  # whose modules are imported by name: a section's model stands in its stage

# Mappings of which a scale may add entries and take them out: cells of a matrix, models, factors.
MATRICES = {f"decorrelation.{name}" for name in ("paintings", "pairings", "cells")} | {
    "complexity.factors",
    "complexity.finetune.models",
    "complexity.plain_readers",
    "decorrelation.train.models",
    "kvqae.read.rows",
    "kvqae.reader_pretrain.losses",
    "kvqae.reader_finetune.losses",
    "kvqae.rerankers",
}


class _WithNull(RoundTripRepresenter):
    """Writes `null` where ruamel would write nothing."""


_WithNull.add_representer(type(None), lambda how, _: how.represent_scalar("tag:yaml.org,2002:null", "null"))


def fields_of(section: str) -> set[str]:
    """The parameters that the stage of a section, such as `kvqae.fuse`, takes; none where there is no such stage."""
    if section == "run":
        return set(RunParameters.model_fields)
    if str(Path.cwd()) not in sys.path:  # the installed command: stages lie in the project, not in the package
        sys.path.append(str(Path.cwd()))
    file = Path(import_module(FAMILY).__path__[0], *section.split(".")).with_suffix(".py")
    if "." not in section or not file.is_file():
        return set()
    return set(get_type_hints(import_module(f"{FAMILY}.{section}").main)["parameters"].model_fields)


def merge(
    parameters: MutableMapping[str, Any], scale: Mapping[str, Any], file: Path | str, place: str = ""
) -> Iterator[tuple[str, Any, Any]]:
    """Put the values of `scale` into `parameters`, in place.

    Yields:
        (dotted key, old value, new value) for each value that changes; None for what was not there.

    Raises:
        BadInput: a key that neither `parameters` nor the section's stage has.
    """
    for key, new in scale.items():
        name, old = f"{place}.{key}".removeprefix("."), parameters.get(key)
        if place in MATRICES and new is None:
            if parameters.pop(key, None) is not None:
                yield name, old, None
        elif key in parameters:
            if isinstance(old, MutableMapping) and isinstance(new, Mapping):
                yield from merge(old, new, file, name)
                if not old and isinstance(parameters, CommentedMap):  # a comment behind the key would part it from {}
                    parameters.ca.items.pop(key, None)
                    parameters[key] = {}
            elif old != new:
                yield name, list(old) if isinstance(old, list) else old, new
                if isinstance(old, CommentedSeq) and isinstance(new, list):
                    old[:] = new  # in place: a comment behind a list belongs to the list
                else:
                    parameters[key] = new
        elif place in MATRICES or place.rpartition(".")[0] in MATRICES:  # who reads an entry knows its fields
            parameters[key] = new
            yield name, None, new
        elif key in (fields := fields_of(place)):  # the stage has a default for it
            if isinstance(parameters, CommentedMap):
                parameters.insert(0, key, new)  # a comment behind the last key may belong to what comes after
            else:
                parameters[key] = new
            yield name, None, new
        else:
            choices = [*parameters, *sorted(fields - set(parameters))]
            raise BadInput("unknown key", file=file, field=name, choices=choices)


def rescale(params: Path, scale: Path | Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """Merge a scale, or a file of one, into a parameter file, atomically; nothing is written when nothing changes.

    Returns:
        The changes, as `merge` yields them.

    Raises:
        BadInput: see `merge`; or a file is not there, not UTF-8, not YAML or not a mapping.
    """
    yaml = YAML()
    yaml.preserve_quotes, yaml.width, yaml.Representer = True, 10_000, _WithNull  # lines stay as they are

    def load(file: Path) -> Any:
        try:
            tree = yaml.load(read_text(file))
        except YAMLError as error:
            raise BadInput(f"not YAML: {error}", file=file) from None
        if not isinstance(tree, Mapping):
            raise BadInput("not a mapping of sections", file=file)
        return tree

    tree = load(params)
    changes = list(merge(tree, scale if isinstance(scale, Mapping) else load(scale), str(scale)))
    if changes:
        with write_atomically(params) as temporary:
            yaml.dump(tree, temporary)
    return changes


def scale_file(name: str) -> Path:
    """The file of a scale, given by its name in `scales/` or by a path that ends in `.yaml`.

    Raises:
        BadInput: there is none; those that there are are listed.
    """
    file = Path(name) if name.endswith(".yaml") else Path("scales") / f"{name}.yaml"
    if not file.is_file():
        choices = sorted(path.stem for path in Path("scales").glob("*.yaml"))
        raise BadInput("no such scale", field="--scale", got=name, choices=choices)
    return file


def options(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    text = "the scale to merge: a name in scales/, such as paper, or a file"
    parser.add_argument("--scale", required=True, help=text)
    parser.add_argument("--params", type=Path, default=Path("params.yaml"), help="file to change (%(default)s)")


def run(arguments: Namespace) -> None:
    """Merge, and print each change."""
    changes = rescale(arguments.params, scale_file(arguments.scale))
    for name, old, new in changes:
        print(f"{name}: {old} → {new}")
    print(f"{len(changes)} changes in {arguments.params}" + ("; `git checkout` it to go back" if changes else ""))
