"""Parameters of stages: sections of `params.yaml`, checked; this is the only place that reads that file."""

from collections import ChainMap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar

import pydantic
import yaml

from trivium.core.arithmetic import Portable
from trivium.core.errors import BadInput

_YAML_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml is ten times as fast, and not everywhere


P = TypeVar("P", bound="Parameters")


class Parameters(pydantic.BaseModel):
    """One section of `params.yaml`: frozen, unknown keys and infinity refused, every field described and in a range.

    Attributes:
        places: fields whose value several stages share, by the dotted key of `params.yaml` where it stands: those that
            `shared` declares, and what a class says of inherited ones. The key may name arguments of the stage, as
            `decorrelation.cells.{cell}` does. What the stage's own section says comes first; a field with a default may
            be absent in either place.
    """

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    places: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        """Gather the places: what the class says comes first, then what its fields say, then what it inherits."""
        extras = {
            name: field.json_schema_extra for name, field in cls.model_fields.items() if name in cls.__annotations__
        }
        own = {name: str(extra["place"]) for name, extra in extras.items() if isinstance(extra, dict)}
        inherited = (dict(base.places) for base in cls.__mro__[1:] if issubclass(base, Parameters))
        cls.places = dict(ChainMap(dict(vars(cls).get("places", {})), own, *inherited))


def shared(key: str, default: Any = ..., **field: Any) -> Any:
    """A field whose value stands at a dotted key of `params.yaml` (see `Parameters.places`); `field` is for `Field`."""
    return pydantic.Field(default, json_schema_extra={"place": key}, **field)


class RunParameters(Parameters):
    """Section `run`, the harness's own; a parameter file may leave it out."""

    mlflow: bool = pydantic.Field(default=False, description="Curves and parameters into MLflow")
    portable: Portable = pydantic.Field(
        default="intel",
        description="The same bits on every such processor; false: the fastest kernels of this one, bf16",
    )
    workers: int | None = pydantic.Field(
        default=None, ge=1, description="Processes of stages that work by shards, null: STAGE_WORKERS, else all cores"
    )
    gpu_workers: int = pydantic.Field(
        default=2, ge=1, description="At most so many of them a GPU, where each loads its networks onto it"
    )
    engine: Literal["local", "ray"] = pydantic.Field(
        default="local", description="Who works by shards: processes of this machine, or a Ray cluster"
    )
    ray_address: str | None = pydantic.Field(
        default=None,
        min_length=1,
        description="Of the cluster, such as 10.0.0.1:6379 or auto; null: one on this machine",
    )
    ray_storage: str | None = pydantic.Field(
        default=None,
        min_length=1,
        description="Folder that all its machines reach, or s3://…, for files on their way",
    )


def read_parameters(path: Path) -> dict[str, Any]:
    """Read a whole `params.yaml`.

    Raises:
        BadInput: the file is absent, is not UTF-8, is not YAML, or is not a mapping.
    """
    try:
        tree = yaml.load(path.read_text(encoding="utf-8"), _YAML_LOADER)
    except FileNotFoundError:
        raise BadInput("no such parameter file", file=path) from None
    except UnicodeDecodeError as error:
        raise BadInput(f"not UTF-8: {error.reason} at byte {error.start}", file=path) from None
    except yaml.YAMLError as error:
        raise BadInput(f"not YAML: {error}", file=path) from None
    if not isinstance(tree, dict):
        raise BadInput("not a mapping of sections", file=path)
    return tree


def read_beside(module: str, *path: str) -> Any:
    """Read a YAML file beside a module of the project, which is named by its `__file__`, or in a folder there."""
    return yaml.load(Path(module).parent.joinpath(*path).read_text(encoding="utf-8"), _YAML_LOADER)


def flatten(tree: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (dotted key, value) of every value that is no mapping."""
    if isinstance(tree, Mapping) and tree:
        for key, value in tree.items():
            yield from flatten(value, f"{prefix}.{key}" if prefix else str(key))
    else:
        yield prefix, tree


def used_values(path: Path, key: str) -> Any:
    """The value at a dotted key of a parameter file, for whoever reports or asks what stages have used.

    A stage's own section comes checked from the harness; this is for everybody else. Raises as `value_at`.
    """
    return value_at(read_parameters(path), path, key)


def value_at(tree: Mapping[str, Any], path: Path, key: str, expected: str | None = None) -> Any:
    """The value at a dotted key of the parameters that were read from `path`.

    Raises:
        BadInput: nothing stands at the key, or above it; with what is `expected` there, and the keys that are.
    """
    node: Any = tree
    names = key.split(".")
    for depth, name in enumerate(names, 1):
        if not isinstance(node, Mapping) or name not in node:
            field, choices = ".".join(names[:depth]), node if isinstance(node, Mapping) else None
            raise BadInput("no such key", file=path, field=field, expected=expected, choices=choices)
        node = node[name]
    return node


def values_of(
    tree: dict[str, Any], section: str, model: type[Parameters], path: Path, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """A section's values, with those of `model.places` in other places of `params.yaml`; raises as `value_at`."""
    if not isinstance(own := value_at(tree, path, section), dict | None):
        raise BadInput("not a mapping of keys", file=path, field=section, got=own)
    values = dict(own or {})
    for field, place in model.places.items():
        key, expected = place.format(**arguments), f"a value for {section}"
        shared, _, name = key.rpartition(".")
        is_required = model.model_fields[field].is_required()
        if field not in values and (is_required or name in (value_at(tree, path, shared, expected) or {})):
            values[field] = value_at(tree, path, key, expected)
    return values


def own_folder(folder: str, field: str, like: str) -> Path:
    """The folder of the user's files that source `local` reads.

    Raises:
        BadInput: none is given at the key `field`; it should be laid out as `like`.
    """
    if not folder:
        raise BadInput("no folder given", field=field, expected=f"a folder laid out as {like}")
    return Path(folder)


def validate(
    model: type[P], values: dict[str, Any], section: str, path: Path, arguments: Mapping[str, Any] | None = None
) -> P:
    """Check a section against its model; what stands elsewhere is named by its place, which may need the arguments.

    Raises:
        BadInput: lists every unknown, missing or out-of-range key at once; where one is unknown, the keys that exist.
    """
    try:
        return model.model_validate(values)
    except pydantic.ValidationError as error:
        problems = []
        for item in error.errors():
            keys = list(_keys(item["loc"], values))
            place = model.places.get(keys[0]) if arguments and keys else None
            name = ".".join((section, *keys) if place is None else (place.format(**arguments or {}), *keys[1:]))
            problems.append(f"{name}: {item['msg']} (got {item['input']!r})")
        choices = model.model_fields if any(item["type"] == "extra_forbidden" for item in error.errors()) else None
        raise BadInput("\n  ".join(["bad parameters", *problems]), file=path, choices=choices) from None


def _keys(place: tuple[int | str, ...], values: Any) -> Iterator[str]:
    """The keys on the way to an error: without the tag that pydantic puts in where the kind of a mapping is chosen."""
    for depth, part in enumerate(place):
        tag = isinstance(values, dict) and (part not in values or values.get("kind") == part)
        if tag and depth < len(place) - 1 and not isinstance(values.get(part), dict | list):
            continue
        yield str(part)
        inside = isinstance(values, dict) or (isinstance(values, list | tuple) and isinstance(part, int))
        values = values[part] if inside and depth < len(place) - 1 else None
