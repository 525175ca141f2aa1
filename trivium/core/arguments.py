"""A stage's command line, made from the keyword-only arguments of its `main`."""

import argparse
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

Source = Literal["sample", "hub", "local"]  # of a stage's raw data or models: made here, downloaded, the user's


def is_output(name: str) -> bool:
    """Whether an argument names what a stage writes."""
    return name in ("metrics", "curves") or name.startswith("out")


def argument_type(annotation: Any) -> tuple[type, bool]:
    """(type of one value, whether the argument takes several)."""
    if get_origin(annotation) in (Union, UnionType):
        annotation = next(member for member in get_args(annotation) if member is not type(None))
    if get_origin(annotation) in (list, Sequence):
        return get_args(annotation)[0], True
    return annotation, False


def parser_of(
    main: Callable[..., Any], metrics: str | None = None, curves: str | None = None
) -> argparse.ArgumentParser:
    """The parser of a stage's command line, whose options are the keyword-only arguments of `main`, its help the rest.

    `metrics` and `curves` are the defaults of --metrics and --curves.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {main.__module__}", description=inspect.getdoc(main))
    file = Path("params.yaml")
    parser.add_argument("--params", type=Path, default=file, help="parameter file (default: %(default)s)")
    parser.add_argument("--metrics", type=Path, default=metrics, help="where to write the stage's flat metrics, JSON")
    parser.add_argument("--curves", type=Path, default=curves, help="where to write the curves of its trainings, CSV")
    hints = get_type_hints(main)
    for name, argument in inspect.signature(main).parameters.items():
        if argument.kind is not inspect.Parameter.KEYWORD_ONLY:
            continue
        kind, several = argument_type(hints[name])
        required = argument.default is inspect.Parameter.empty
        choices = get_args(kind) if get_origin(kind) is Literal else None
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            type=str if choices else kind,
            choices=choices,
            required=required,
            nargs="+" if several else None,
            default=None if required else argument.default,
        )
    return parser


def fill_paths(arguments: Mapping[str, Any], value_at: Callable[[str], Any]) -> dict[str, Any]:
    """Fill the names in braces of paths: `{encoder}` is another argument, `{kvqae.dataset}` a key of `params.yaml`.

    So a stage's module holds each of its paths once, for all its cells.
    """

    def value_of(name: re.Match[str]) -> str:
        return str(arguments[name[1]] if name[1] in arguments else value_at(name[1]))

    def fill(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [fill(item) for item in value]
        return Path(re.sub(r"\{([\w.]+)\}", value_of, str(value))) if isinstance(value, Path) else value

    return {name: fill(value) for name, value in arguments.items()}


def inputs_of(arguments: dict[str, Any]) -> list[Path]:
    """The files and folders among parsed arguments that a stage reads."""
    values = [value for name, value in arguments.items() if not is_output(name) and name != "params"]
    flat = [item for value in values for item in (value if isinstance(value, list) else [value])]
    return [item for item in flat if isinstance(item, Path)]
