"""The harness: what every stage shares, and the only place that reads `params.yaml`.

A stage module defines a `Parameters` model, an algorithm on plain arguments, and a thin `main`; `run_stage` turns
`main`'s keyword-only arguments into the command line and wires parameters, seeds, tracking and error messages.
"""

import argparse
import errno
import hashlib
import inspect
import math
import os
import random
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
import pydantic
import yaml

from trivium.harness.engine import Engine, LocalEngine
from trivium.harness.tracking import Tracker, track

CPU_BF16 = "TRIVIUM_CPU_BF16"  # an environment variable, so that worker processes see it too
RECORDED = "pins.lock.yaml"  # the one file beside the code that stages write
_YAML_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml is ten times as fast, and not everywhere
_ABSENT = object()
P = TypeVar("P", bound="Parameters")


class BadInput(ValueError):
    """Input that cannot be used; the message says where it is, what was got and what was expected.

    Args:
        problem: what is wrong, in a few words.
        file, row, field: where; rows are counted from 1.
        got: the offending value (shortened).
        expected: what would have been right.
        choices: the valid values.
    """

    def __init__(
        self,
        problem: str,
        *,
        file: Path | str | None = None,
        row: int | str | None = None,
        field: str | None = None,
        got: object = _ABSENT,
        expected: str | None = None,
        choices: Iterable[object] | None = None,
    ) -> None:
        place = ":".join(str(part) for part in (file, row) if part is not None)
        parts = [f"field {field!r}"] if field is not None else []
        parts.append(problem)
        message = ": ".join(([place] if place else []) + parts)
        if got is not _ABSENT:
            shown = repr(got)
            message += f"; got {shown if len(shown) <= 120 else shown[:117] + '...'}"
        if expected is not None:
            message += f"; expected {expected}"
        if choices is not None:
            message += f" (choices: {', '.join(map(str, choices))})"
        super().__init__(message)


class Parameters(pydantic.BaseModel):
    """One section of `params.yaml`: frozen, unknown keys and infinity refused, every field described and in a range."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class RunParameters(Parameters):
    """Section `run`, the harness's own; a parameter file may leave it out."""

    mlflow: bool = pydantic.Field(default=False, description="Curves and parameters into MLflow")
    cpu_bf16: bool = pydantic.Field(default=False, description="Networks in bf16 on processors that have it")
    workers: int | None = pydantic.Field(
        default=None, ge=1, description="Processes of stages that work by shards, null: STAGE_WORKERS, else all cores"
    )
    gpu_workers: int = pydantic.Field(
        default=2, ge=1, description="At most so many of them where each loads its networks onto the GPU"
    )


@dataclass(frozen=True)
class Context:
    """What the harness lends a stage while it runs.

    Attributes:
        tracker: curves of a training; does nothing when tracking is off.
        work: folder for shards and checkpoints. The same folder comes back when the stage is started again on the same
            inputs, parameters and code (after a kill, say); it is removed when the stage succeeds.
        engine: maps a picklable function over shards.
        downloads: folder for what is fetched: one for all stages, whatever their inputs, parameters and code. A stage
            removes what it has used up.
    """

    tracker: Tracker
    work: Path
    engine: Engine
    downloads: Path = Path(".work") / "downloads"


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


def section_of(tree: dict[str, Any], section: str, path: Path) -> dict[str, Any]:
    """The mapping at a dotted section name such as `kvqae.passages`."""
    node: Any = tree
    for key in section.split("."):
        if not isinstance(node, dict) or key not in node:
            raise BadInput(
                f"no section {section!r}", file=path, choices=sorted(node) if isinstance(node, dict) else None
            )
        node = node[key]
    return node if node is not None else {}


def validate(model: type[P], values: dict[str, Any], section: str, path: Path) -> P:
    """Check a section against its model.

    Raises:
        BadInput: lists every unknown, missing or out-of-range key at once, and the keys that exist.
    """
    try:
        return model.model_validate(values)
    except pydantic.ValidationError as error:
        problems = []
        for item in error.errors():
            name = ".".join((section, *_keys(item["loc"], values)))
            problems.append(f"{name}: {item['msg']} (got {item['input']!r})")
        raise BadInput("\n  ".join(["bad parameters", *problems]), file=path, choices=model.model_fields) from None


def _keys(place: tuple[int | str, ...], values: Any) -> Iterator[str]:
    """The keys on the way to an error: without the tag that pydantic puts in where the kind of a mapping is chosen."""
    for depth, part in enumerate(place):
        tag = isinstance(values, dict) and (part not in values or values.get("kind") == part)
        if tag and depth < len(place) - 1 and not isinstance(values.get(part), dict | list):
            continue
        yield str(part)
        inside = isinstance(values, dict) or (isinstance(values, list | tuple) and isinstance(part, int))
        values = values[part] if inside and depth < len(place) - 1 else None


def all_workers() -> int:
    """As many processes as stages that run side by side may have each, else as there are cores."""
    return int(os.environ.get("STAGE_WORKERS") or os.cpu_count() or 1)


def seed_everything(seed: int) -> None:
    """Seed Python, NumPy and (where it is already imported) torch."""
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002 - libraries draw from the global generator
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)


def _is_output(name: str) -> bool:
    return name == "metrics" or name.startswith("out")


def _argument_type(annotation: Any) -> tuple[type, bool]:
    """(type of one value, whether the argument takes several)."""
    if get_origin(annotation) in (Union, UnionType):
        annotation = next(member for member in get_args(annotation) if member is not type(None))
    if get_origin(annotation) in (list, Sequence):
        return get_args(annotation)[0], True
    return annotation, False


def _parser(main: Callable[..., Any], section: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"python -m {main.__module__}", description=inspect.getdoc(main))
    parser.add_argument(
        "--params", type=Path, default=Path("params.yaml"), help="parameter file (default: %(default)s)"
    )
    parser.add_argument("--metrics", type=Path, help="where to write the stage's flat metrics, JSON")
    hints = get_type_hints(main)
    for name, argument in inspect.signature(main).parameters.items():
        if argument.kind is not inspect.Parameter.KEYWORD_ONLY:
            continue
        kind, several = _argument_type(hints[name])
        required = argument.default is inspect.Parameter.empty
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            type=kind,
            required=required,
            nargs="+" if several else None,
            default=None if required else argument.default,
        )
    parser.set_defaults(section=section)
    return parser


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from sorted(child for child in path.rglob("*") if child.is_file())
    elif path.exists():
        yield path


def _code(folder: Path) -> Iterator[Path]:
    """Modules and the data files beside them, but for what Python or a run itself writes there."""
    for file in _files(folder):
        if "__pycache__" not in file.parts and not file.name.startswith(".") and file.name != RECORDED:
            yield file


def _fingerprint(section: str, values: dict[str, Any], arguments: dict[str, Any], main: Callable[..., Any]) -> str:
    """Names the resume folder: changes with inputs (path, size, time of change), arguments, parameters and code."""
    digest = hashlib.sha256(repr((section, sorted(values.items()), os.environ[CPU_BF16])).encode())
    for code in (Path(inspect.getfile(main)), *_code(Path(__file__).parent)):
        digest.update(code.read_bytes())
    for name, value in sorted(arguments.items()):
        digest.update(repr((name, str(value))).encode())
        if _is_output(name):
            continue
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, Path) or (isinstance(item, str) and item):  # a folder of one's own may be named by text
                for file in _files(Path(item)):
                    status = file.stat()
                    digest.update(repr((str(file), status.st_size, status.st_mtime_ns)).encode())
    return digest.hexdigest()[:16]


def _inputs(arguments: dict[str, Any]) -> list[Path]:
    values = [value for name, value in arguments.items() if not _is_output(name) and name != "params"]
    flat = [item for value in values for item in (value if isinstance(value, list) else [value])]
    return [item for item in flat if isinstance(item, Path)]


def execute(
    main: Callable[..., dict[str, float] | None], section: str, model: type[P], argv: Sequence[str] | None = None
) -> dict[str, float]:
    """Run a stage's `main` with parsed arguments; errors are raised (see `run_stage` for the command line)."""
    from trivium.files.atomic import remove_folder
    from trivium.files.tables import write_json

    arguments = vars(_parser(main, section).parse_args(argv))
    parameter_file, metrics_file = arguments.pop("params"), arguments.pop("metrics")
    del arguments["section"]
    tree = read_parameters(parameter_file)
    values = section_of(tree, section, parameter_file)
    parameters = validate(model, values, section, parameter_file)
    inputs = _inputs(arguments)
    for path in inputs:
        if not path.exists():
            raise BadInput("no such file or folder", file=path, expected=f"an input of stage {section}")
    run = validate(RunParameters, tree.get("run") or {}, "run", parameter_file)
    os.environ[CPU_BF16] = str(int(run.cpu_bf16))
    seed_everything(int(values.get("seed", arguments.get("seed") or 0)))
    work = Path(".work") / section / _fingerprint(section, values, arguments, main)
    work.mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()
    in_a_pipeline = "." in section  # the headline and the page have nothing to track
    with track(section, values, inputs, enabled=run.mlflow and in_a_pipeline) as tracker:
        engine = LocalEngine(run.workers or all_workers(), run.gpu_workers)
        context = Context(tracker=tracker, work=work, engine=engine)
        metrics = main(parameters, context, **arguments) or {}
        tracker.final(metrics, seconds=time.perf_counter() - started)
        if metrics_file is not None:
            for name, value in metrics.items():
                if isinstance(value, float) and not math.isfinite(value):
                    raise BadInput("not a finite number", file=metrics_file, field=name, got=value)
            write_json(metrics_file, metrics)
    with suppress(OSError):  # the stage has succeeded
        remove_folder(work)
    return metrics


def run_stage(main: Callable[..., dict[str, float] | None], section: str, parameters: type[P]) -> None:
    """Entry point of a stage module: bad input ends in one clear message and exit code 1.

    Where stages run side by side, `make repro` sets STAGE_NICENESS, so that those of one pipeline yield to another's
    (DVC itself must not: it rewrites `dvc.lock` while all others wait), and STAGE_WORKERS.
    """
    os.nice(int(os.environ.get("STAGE_NICENESS", "0")))
    try:
        execute(main, section, parameters)
    except BadInput as error:
        print(f"{section}: {error}", file=sys.stderr)
        raise SystemExit(1) from None
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        place = f"{error.filename}: " if error.filename else ""
        print(
            f"{section}: {place}disk full while writing; nothing half-written is left, free some space and go on",
            file=sys.stderr,
        )
        raise SystemExit(1) from None
