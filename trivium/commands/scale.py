"""`make scale S=paper`: merge a file of `scales/` into `params.yaml`, keep its comments, and show what changed.

    trivium scale --scale scales/paper.yaml

A scale names only the keys that differ. It may also name a key that `params.yaml` leaves out, if the stage of that
section knows the key; otherwise the scale is refused. A matrix, such as `decorrelation.cells`, takes any entry.
An entry that the scale sets to null is taken out. `git checkout params.yaml` undoes the change.
"""

import argparse
import io
import sys
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from importlib import import_module
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import YAMLError
from ruamel.yaml.representer import RoundTripRepresenter
from ruamel.yaml.util import load_yaml_guess_indent

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.parameters import Parameters, RunParameters

FAMILY = "stages"  # whose modules are imported by name: a section's model stands in its stage

# Mappings of which a scale may add entries and take them out: cells of a matrix, models, factors.
MATRICES = {f"decorrelation.{name}" for name in ("paintings", "pairings", "cells")} | {
    "complexity.factors",
    "complexity.finetune.models",
    "decorrelation.train.models",
}


class _WithNull(RoundTripRepresenter):
    """Writes `null` where ruamel would write nothing; a class of its own, as representers belong to classes."""


_WithNull.add_representer(type(None), lambda how, _: how.represent_scalar("tag:yaml.org,2002:null", "null"))


def model_of(section: str) -> type[Parameters] | None:
    """The model of a section of `params.yaml`, as its stage's `main` names it; None where there is no such stage."""
    if section == "run":
        return RunParameters
    module = f"stages.{section}" if "." in section else f"stages.page.{section}"
    if str(Path.cwd()) not in sys.path:  # the installed command: stages lie in the project, not in the package
        sys.path.append(str(Path.cwd()))
    try:
        stage = import_module(module)
    except ModuleNotFoundError as error:
        if error.name and f"{module}.".startswith(f"{error.name}."):
            return None
        raise
    model: type[Parameters] | None = get_type_hints(stage.main).get("parameters")
    return model


def models_at(place: str) -> list[type[Parameters]]:
    """The models of a section, or of a part of one, at a dotted place of `params.yaml`; several where it is a union."""
    parts = place.split(".")
    for depth in (2, 1):
        model = model_of(".".join(parts[:depth]))
        if model is not None:
            models = [model]
            for part in parts[depth:]:
                fields = [one.model_fields[part] for one in models if part in one.model_fields]
                models = [inner for field in fields for inner in _models_in(field.annotation)]
            return models
    return []


def _models_in(annotation: Any) -> Iterator[type[Parameters]]:
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) in (Union, UnionType):
        for member in get_args(annotation):
            yield from _models_in(member)
    elif isinstance(annotation, type) and issubclass(annotation, Parameters):
        yield annotation


def merge(
    parameters: MutableMapping[str, Any], scale: Mapping[str, Any], file: Path | str, prefix: str = ""
) -> Iterator[tuple[str, Any, Any]]:
    """Put the values of `scale` into `parameters`, in place.

    Yields:
        (dotted key, old value, new value) for each value that changes; None for what was not there.

    Raises:
        BadInput: a key that neither `parameters` nor the section's stage has, or a section where there is a value, or
            the other way round.
    """
    for key, new in scale.items():
        name = f"{prefix}{key}"
        if prefix.removesuffix(".") in MATRICES and (new is None or key not in parameters):
            old = parameters.pop(key, None)
            if new is not None:
                parameters[key] = new
            if old != new:
                yield name, old, new
            continue
        if key not in parameters and prefix.removesuffix(".").rpartition(".")[0] in MATRICES:
            parameters[key] = new  # a field of an entry, which has a default; who reads the entry refuses it else
            yield name, None, new
            continue
        if key not in parameters:
            yield from _put_in(parameters, key, new, file, prefix)
            continue
        old = parameters[key]
        if isinstance(old, Mapping) != isinstance(new, Mapping):
            kind = "a section" if isinstance(old, Mapping) else "a value"
            raise BadInput("wrong kind", file=file, field=name, got=new, expected=kind)
        if isinstance(old, MutableMapping):
            yield from merge(old, new, file, f"{name}.")
            if not old and isinstance(parameters, CommentedMap):  # a comment behind the key would part it from its {}
                parameters.ca.items.pop(key, None)
                parameters[key] = {}
        elif old != new:
            yield name, list(old) if isinstance(old, list) else old, new
            if isinstance(old, CommentedSeq) and isinstance(new, list):
                old[:] = new  # in place: a comment behind a list belongs to the list
            else:
                parameters[key] = new


def _put_in(
    parameters: MutableMapping[str, Any], key: str, new: Any, file: Path | str, prefix: str
) -> Iterator[tuple[str, Any, Any]]:
    """Put in a value that its stage has a default for, and `parameters` leaves out."""
    name = f"{prefix}{key}"
    fields = {field for model in models_at(prefix.removesuffix(".")) for field in model.model_fields}
    if key not in fields and not models_at(name):
        choices = [*parameters, *sorted(fields - set(parameters))]
        raise BadInput("unknown key", file=file, field=name, choices=choices)
    inside = isinstance(new, Mapping) and bool(models_at(name))
    value: Any = CommentedMap() if inside else new
    if isinstance(parameters, CommentedMap):
        parameters.insert(0, key, value)  # a comment behind the last key may belong to what comes after the section
    else:
        parameters[key] = value
    if inside:
        yield from merge(value, new, file, f"{name}.")
    else:
        yield name, None, new


def rescale(params: Path, scale: Path) -> list[tuple[str, Any, Any]]:
    """Merge a scale into a parameter file, atomically; nothing is written when nothing changes or on bad input.

    Returns:
        The changes, as `merge` yields them.

    Raises:
        BadInput: see `merge`; or a file is not there (the files beside it are listed), not UTF-8 or not YAML.
    """
    text = _read(params)
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 10_000  # lines stay as they are
    yaml.Representer = _WithNull
    parameters, wanted = _parse(yaml, text, params), _parse(yaml, _read(scale), scale) or {}
    _, indent, offset = load_yaml_guess_indent(text)
    yaml.indent(mapping=2, sequence=indent or 2, offset=offset or 0)
    for tree, file in ((parameters, params), (wanted, scale)):
        if not isinstance(tree, Mapping):
            raise BadInput("not a mapping of sections", file=file)
    changes = list(merge(parameters, wanted, scale))
    if changes:
        out = io.StringIO()
        yaml.dump(parameters, out)
        with write_atomically(params) as beside:
            beside.write_text(out.getvalue(), encoding="utf-8")
    return changes


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        there = sorted(file.stem for file in path.parent.glob("*.yaml"))
        raise BadInput("no such file", file=path, choices=there) from None
    except UnicodeDecodeError as error:
        raise BadInput(f"not UTF-8: {error.reason} at byte {error.start}", file=path) from None


def _parse(yaml: YAML, text: str, path: Path) -> Any:
    try:
        return yaml.load(text)
    except YAMLError as error:
        raise BadInput(f"not YAML: {error}", file=path) from None


def parser() -> argparse.ArgumentParser:
    """What the command takes."""
    made = argparse.ArgumentParser(
        prog="trivium scale", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--scale", type=Path, required=True, help="the file to merge, such as scales/paper.yaml")
    made.add_argument("--params", type=Path, default=Path("params.yaml"), help="file to change (%(default)s)")
    return made


def main(argv: Sequence[str] | None = None) -> None:
    """Merge, and print each change."""
    arguments = parser().parse_args(argv)
    try:
        changes = rescale(arguments.params, arguments.scale)
    except BadInput as error:
        print(error, file=sys.stderr)
        raise SystemExit(1) from None
    for name, old, new in changes:
        print(f"{name}: {old} → {new}")
    print(f"{len(changes)} changes in {arguments.params}" + ("; `git checkout` it to go back" if changes else ""))


if __name__ == "__main__":
    main()
