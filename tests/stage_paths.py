"""The paths that a stage's module holds: defaults of its `main`, and where its metrics and curves go."""

import inspect
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, get_type_hints

from trivium.core.parameters import Parameters, value_at
from trivium.core.stage import STAGES, fill_paths, is_output, parser_of

ROOT = Path(__file__).parents[1]


def modules_of(command: str) -> list[str]:
    """The modules that a stage's command runs, one after the other."""
    return [module_of(part) for part in command.split(" && ")]


def module_of(command: str) -> str:
    """The first module that a stage's command runs."""
    words = command.split()
    place = words.index("-m") + 1
    return f"stages.{words[place + 1]}" if words[place] == "stages" else words[place]


def section_and_model(module: ModuleType) -> tuple[str, type[Parameters]]:
    """The section of `params.yaml` that the module reads, and its model."""
    declared = STAGES[module.main]
    return declared.section, declared.model or get_type_hints(module.main)["parameters"]


def published(module: str) -> dict[str, str]:
    """Where the module's metrics and curves go."""
    declared = STAGES[import_module(module).main]
    return {name: path for name in ("metrics", "curves") if (path := getattr(declared, name))}


def defaults(module: str) -> dict[str, list[str]]:
    """The paths of `main`'s defaults by argument, with `metrics` and `curves`; names in braces are left as they are."""
    found = {name: [path] for name, path in published(module).items()}
    for name, argument in inspect.signature(import_module(module).main).parameters.items():
        value = argument.default
        if isinstance(value, Path):
            found[name] = [str(value)]
        elif isinstance(value, tuple) and any(isinstance(item, Path) for item in value):
            found[name] = [str(item) for item in value]
    return found


def read_and_written(command: str, tree: dict[str, Any]) -> tuple[set[str], set[str]]:
    """The paths that a stage's command reads, and those that it writes.

    Args:
        command: of one cell, as DVC runs it; what its first module writes, its second may read.
        tree: all of `params.yaml`.
    """
    read, written = zip(*(_of_module(part, tree) for part in command.split(" && ")), strict=True)
    return set.union(*read) - set.union(*written), set.union(*written)


def _of_module(command: str, tree: dict[str, Any]) -> tuple[set[str], set[str]]:
    module = module_of(command)
    words = command.split()
    parser = parser_of(import_module(module).main, **published(module))
    arguments = vars(parser.parse_args(words[words.index("stages") + 2 :]))
    del arguments["params"]
    filled = fill_paths(arguments, partial(value_at, tree, Path("params.yaml")))
    return _paths(filled, written=False), _paths(filled, written=True)


def _paths(arguments: Mapping[str, Any], written: bool) -> set[str]:
    chosen = [value for name, value in arguments.items() if is_output(name) == written]
    flat = [item for value in chosen for item in (value if isinstance(value, list) else [value])]
    return {str(item) for item in flat if isinstance(item, Path)}
