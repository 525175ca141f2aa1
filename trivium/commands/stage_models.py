"""What a key of `params.yaml` means where the file leaves it out: the fields of the stage whose section it is.

Numbers that nobody sweeps are defaults beside their check. Commands know no stage; only the one that a key names is
loaded, by that name, when somebody sets or asks for a key that the file lacks.
"""

import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from pydantic.fields import FieldInfo

from trivium.core.errors import BadInput
from trivium.core.parameters import Parameters, RunParameters

FAMILY = "stages"  # whose modules are imported by name


def model_of(section: str) -> type[Parameters] | None:
    """The model of a section, as its stage's `main` names it; None where there is no such stage."""
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
    """The models of what stands at a dotted place of `params.yaml`: a section, or a part of one; several of a union."""
    parts = place.split(".")
    for depth in (2, 1):
        model = model_of(".".join(parts[:depth]))
        if model is not None:
            found = [model]
            for part in parts[depth:]:
                found = [inner for each in found for inner in _inside(each, part)]
            return found
    return []


def _inside(model: type[Parameters], field: str) -> Iterator[type[Parameters]]:
    if field in model.model_fields:
        yield from _models_in(model.model_fields[field].annotation)


def _models_in(annotation: Any) -> Iterator[type[Parameters]]:
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) in (Union, UnionType):
        for member in get_args(annotation):
            yield from _models_in(member)
    elif isinstance(annotation, type) and issubclass(annotation, Parameters):
        yield annotation


def fields_at(place: str) -> dict[str, FieldInfo]:
    """The fields that a section, or a part of one, may hold; none where no stage says."""
    return {name: field for model in models_at(place) for name, field in model.model_fields.items()}


class Used:
    """The value of any key, as stages see it.

    Args:
        parameters: `params.yaml`; a key that it lacks has the value that the stage's model gives it, which stands
            elsewhere in the file or is a default.
    """

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self._parameters = parameters

    def __call__(self, key: str) -> Any:
        """The value at a dotted key.

        Raises:
            BadInput: neither the file nor a stage has such a key.
        """
        node: Any = self._parameters
        parts = key.split(".")
        for depth, part in enumerate(parts):
            if not isinstance(node, Mapping) or part not in node:
                return self._left_out(".".join(parts[:depth]), parts[depth:], node)
            node = node[part]
        return node

    def _left_out(self, place: str, rest: list[str], node: Any) -> Any:
        key = ".".join([*([place] if place else []), *rest])
        section, _, name = key.rpartition(".")
        for model in models_at(section) if section else []:
            if name in model.elsewhere and "{" not in model.elsewhere[name]:
                return self(model.elsewhere[name])
            if name in model.model_fields and not model.model_fields[name].is_required():
                return model.model_fields[name].get_default(call_default_factory=True)
        choices = sorted(node) if isinstance(node, Mapping) else None
        raise BadInput("no such parameter", field=key, choices=choices)
