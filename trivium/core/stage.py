"""The harness: what every stage shares, and the only place that reads `params.yaml`.

A stage module defines a `Parameters` model and a thin `main`, which `stage` declares; `run_stage` turns `main`'s
keyword-only arguments into the command line and wires parameters, seeds, tracking and error messages.
"""

import argparse
import errno
import hashlib
import inspect
import math
import os
import random
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from trivium.core.arithmetic import PORTABLE, remember
from trivium.core.code.digest import digest_of, parts_of, running_digest
from trivium.core.curves import Curves
from trivium.core.engine import Engine, LocalEngine, all_workers
from trivium.core.errors import BadInput, how_to_install, redact_output
from trivium.core.parameters import P, Parameters, RunParameters, read_parameters, validate, value_at, values_of
from trivium.core.reading import signature_of
from trivium.core.tracking import Tracker

Source = Literal["sample", "hub", "local"]  # of a stage's raw data or models: made here, downloaded, the user's
Main = TypeVar("Main", bound=Callable[..., dict[str, float] | None])


@dataclass(frozen=True)
class Stage:
    """What a module declares of its stage; see `stage`."""

    section: str
    model: type[Parameters] | None
    metrics: str | None
    curves: str | None


STAGES: dict[Callable[..., Any], Stage] = {}  # of the modules that were imported, by their `main`


def stage(
    section: str, model: type[Parameters] | None = None, *, metrics: str | None = None, curves: bool = False
) -> Callable[[Main], Main]:
    """Declare a stage by its `main`, whose keyword-only arguments are the options, with their defaults (`fill_paths`).

    `main` takes the parameters first, and a `context` if it trains, works by shards or downloads.

    Args:
        section: of `params.yaml`.
        model: of the section; None: what `main` annotates its `parameters` with.
        metrics: where the numbers that `main` returns go, as flat JSON.
        curves: whether the stage trains; what it logs goes into `curves/` beside its metrics, as CSV.
    """

    def declare(main: Main) -> Main:
        if main.__module__ == "__main__":
            raise SystemExit("a stage is run by its name, as dvc.yaml does: python -m stages kvqae.fuse")
        table = f"{Path(metrics).parent}/curves/{Path(metrics).stem}.csv" if metrics and curves else None
        STAGES[main] = Stage(section, model, metrics, table)
        return main

    return declare


@dataclass(frozen=True)
class Context:
    """What the harness gives a stage while it runs.

    The folder `work` for shards and checkpoints comes back when the stage is started again on the same inputs,
    parameters and code (after a kill, say), and is removed when the stage succeeds. The folder `downloads` is one for
    all stages, whatever their inputs; a stage removes what it has used up.
    """

    tracker: Tracker
    work: Path
    engine: Engine
    downloads: Path = Path(".work") / "downloads"


def seed_everything(seed: int) -> None:
    """Seed Python, NumPy and (where it is already imported) torch."""
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002 - libraries draw from the global generator
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)


def _fingerprint(section: str, parameters: Parameters, arguments: dict[str, Any], code: str) -> str:
    """Name the resume folder: it changes with inputs (see `signature_of`), arguments, parameters and digest of code."""
    values = parameters.model_dump()
    digest = hashlib.sha256(repr((section, sorted(values.items()), os.environ[PORTABLE], code)).encode())
    for name, value in sorted((arguments | values).items()):
        digest.update(repr((name, str(value))).encode())
    inputs = [value for name, value in sorted(arguments.items()) if not is_output(name)]
    for path in _paths([*inputs, values], Path | str):  # a folder of one's own may be named by text
        digest.update(repr(signature_of(path)).encode())
    return digest.hexdigest()[:16]


def _paths(value: Any, kinds: type | UnionType = Path) -> Iterator[Path]:
    """The values of these types in a tree of arguments or parameters, as paths; an empty text is none."""
    if isinstance(value, dict | list | tuple):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _paths(item, kinds)
    elif isinstance(value, kinds) and value != "":
        yield Path(str(value))


def _engine(run: RunParameters, work: Path) -> Engine:
    workers = run.workers or all_workers()
    if run.engine == "local":
        return LocalEngine(workers, run.gpu_workers)
    try:
        from trivium.core.ray_engine import RayEngine  # its import takes a second, and it is an extra
    except ModuleNotFoundError as error:
        if error.name != "ray":
            raise
        raise BadInput("Ray is not installed", field="run.engine", got="ray", expected=how_to_install("ray")) from None
    return RayEngine(run.ray_address, run.ray_storage, workers, run.gpu_workers, work)


def is_output(name: str) -> bool:
    """Whether an argument names what a stage writes."""
    return name in ("metrics", "curves") or name.startswith("out")


def parser_of(
    main: Callable[..., Any], metrics: str | None = None, curves: str | None = None
) -> argparse.ArgumentParser:
    """The parser of a stage's command line: its options are `main`'s keyword-only arguments, its help the docstring.

    `metrics` and `curves` are the defaults of --metrics and --curves.
    """
    program = f"python -m stages {main.__module__.removeprefix('stages.')}"
    parser = argparse.ArgumentParser(prog=program, description=inspect.getdoc(main))
    file = Path("params.yaml")
    parser.add_argument("--params", type=Path, default=file, help="parameter file (default: %(default)s)")
    parser.add_argument("--metrics", type=Path, default=metrics, help="where to write the stage's flat metrics, JSON")
    parser.add_argument("--curves", type=Path, default=curves, help="where to write the curves of its trainings, CSV")
    hints = get_type_hints(main)
    for name, argument in inspect.signature(main).parameters.items():
        if argument.kind is not inspect.Parameter.KEYWORD_ONLY:
            continue
        kind = hints[name]
        if get_origin(kind) in (Union, UnionType):
            kind = next(member for member in get_args(kind) if member is not type(None))
        several = get_origin(kind) in (list, Sequence)
        kind = get_args(kind)[0] if several else kind
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


def execute(
    main: Callable[..., dict[str, float] | None],
    section: str,
    model: type[P],
    argv: Sequence[str] | None = None,
    *,
    metrics: str | None = None,
    curves: str | None = None,
) -> dict[str, float]:
    """Run a stage's `main` with parsed arguments; errors are raised (see `run_stage` for the command line).

    Where DVC runs it, its code must be what `code.yaml` says, here and when its results are published.
    """
    from trivium.core.atomic import remove_folder
    from trivium.core.tables import write_json

    arguments = vars(parser_of(main, metrics, curves).parse_args(argv))
    name = os.environ.get("DVC_STAGE", "").rpartition("dvc.yaml:")[2]
    digest = running_digest(name) if name else digest_of(parts_of(main))
    parameter_file = arguments.pop("params")
    tree = read_parameters(parameter_file)
    arguments = fill_paths(arguments, partial(value_at, tree, parameter_file))
    metrics_file, curves_file = arguments.pop("metrics"), arguments.pop("curves")
    values = values_of(tree, section, model, parameter_file, arguments)
    parameters = validate(model, values, section, parameter_file, arguments)
    for path in _paths([value for name, value in arguments.items() if not is_output(name)]):
        if not path.exists():
            raise BadInput("no such file or folder", file=path, expected=f"an input of stage {section}")
    run = validate(RunParameters, tree.get("run") or {}, "run", parameter_file)
    remember(run.portable)
    seed_everything(getattr(parameters, "seed", None) or arguments.get("seed") or 0)
    work = Path(".work") / section / _fingerprint(section, parameters, arguments, digest)
    work.mkdir(parents=True, exist_ok=True)
    drawn = Curves(work / "curves.jsonl")
    recorded = os.environ.get("DVC_STAGE", section) if run.mlflow else ""
    logged = {f"{section}.{key}": value for key, value in parameters.model_dump().items()}
    with Tracker(drawn, recorded, str(work), **logged) as tracker:
        if "context" in inspect.signature(main).parameters:
            arguments["context"] = Context(tracker=tracker, work=work, engine=_engine(run, work))
        measured = main(parameters, **arguments) or {}
        if name and running_digest(name) != digest:
            raise BadInput("the code was changed while the stage ran: nothing was published", field=name)
        if metrics_file is not None:
            for name, value in measured.items():
                if isinstance(value, float) and not math.isfinite(value):
                    raise BadInput("not a finite number", file=metrics_file, field=name, got=value)
            write_json(metrics_file, measured)
        if curves_file is not None:
            drawn.write(curves_file)
    with suppress(OSError):  # the stage has succeeded
        remove_folder(work)
    return measured


def run_stage(main: Callable[..., dict[str, float] | None], argv: Sequence[str] | None = None) -> None:
    """Run a declared stage from the command line: bad input ends in one clear message and exit code 1."""
    redact_output()
    declared = STAGES[main]
    model = declared.model or get_type_hints(main)["parameters"]
    try:
        execute(main, declared.section, model, argv, metrics=declared.metrics, curves=declared.curves)
    except BadInput as error:
        print(f"{declared.section}: {error}", file=sys.stderr)
        raise SystemExit(1) from None
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        full = "disk full while writing; nothing half-written is left, free some space and go on"
        print(f"{declared.section}: {f'{error.filename}: ' if error.filename else ''}{full}", file=sys.stderr)
        raise SystemExit(1) from None
