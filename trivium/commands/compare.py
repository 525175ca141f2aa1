"""`make compare`: show this tree, its commit and the experiments made from it side by side.

    trivium compare

A row is a parameter that differs somewhere, or a number of the headline that does. A column is an experiment. A number
with a * was not made anew: a stage behind it has not run since a parameter or an input of it changed. Where there is an
experiment `baseline`, it stands in the place of the commit, whose numbers may come from another machine.
`dvc exp show` would have a column for every parameter, metric, input and output.
"""

import hashlib
import json
from argparse import Namespace
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from dvc.repo import Repo

from trivium.commands.repro import BASELINE, KEEP
from trivium.core.errors import BadInput
from trivium.core.lock import ancestors_of, folders_of, hashes_of, outputs_of, value_in
from trivium.core.parameters import flatten
from trivium.core.tracking import git
from trivium.page.headline import NUMBERS

PARAMETERS, LOCK, METRICS = "params.yaml", "dvc.lock", "metrics"
WIDTHS = (60, 20)  # at most, of a row's name and of a value
Column = Mapping[str, Any]  # dotted key or name of a number to its value
Hashes = Mapping[str, str]  # path of an output to its md5


class State(NamedTuple):
    """One state of the project: what `params.yaml` and `dvc.lock` say, and the numbers of the headline."""

    parameters: Mapping[str, Any]
    stages: Mapping[str, Any]
    numbers: Mapping[str, float]  # from the files of the stages that measured them


def read_state(revision: str) -> State:
    """Read the state of a commit, or of the folder where none is named; a file that is not there counts as empty."""

    def read(file: str) -> str:
        if revision:
            return git("show", f"{revision}:{file}")
        return Path(file).read_text("utf-8") if Path(file).exists() else ""

    numbers: dict[str, float] = {}
    try:
        lock = yaml.load(read(LOCK) or "{}", getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        parameters = yaml.safe_load(read(PARAMETERS) or "{}")
        for file, keys in NUMBERS.items():
            metrics = json.loads(read(f"{METRICS}/{file}") or "{}")
            numbers |= {name: metrics[key] for name, key in keys.items() if key in metrics}
        return State(parameters, lock.get("stages") or {}, numbers)
    except (yaml.YAMLError, ValueError, AttributeError, TypeError) as error:  # a conflict of a merge, say
        files = f"{PARAMETERS}, {LOCK} or a file of {METRICS} cannot be read"
        raise BadInput(f"{files}: {error}", field=revision or "workspace") from None


def column(state: State, first: State, objects: Path) -> Column:
    """Parameters and headline of a state; see `stale_numbers`."""
    stale = stale_numbers(state, first, objects)
    marked = {name: f"{_text(value)} *" if name in stale else value for name, value in state.numbers.items()}
    return dict(flatten(state.parameters)) | marked


def stale_numbers(state: State, first: State, objects: Path) -> set[str]:
    """The numbers of the headline that a stage behind them might change if it ran again.

    Args:
        state: whose numbers they are.
        first: the state that it is compared with, whose stages have all run.
        objects: DVC's cache, by md5.
    """
    outdated = set(outdated_stages(state, first, objects))
    makers, stale = outputs_of(state.stages), set[str]()
    for file, names in NUMBERS.items():
        maker = makers.get(f"{METRICS}/{file}")
        if maker and outdated & set(ancestors_of(state.stages, [maker])):
            stale |= names.keys()
    return stale


def outdated_stages(state: State, first: State, objects: Path) -> Iterator[str]:
    """The stages whose inputs or parameters differ from those that they ran with; arguments as of `stale_numbers`."""
    made, before = (hashes_of(one.stages.values(), "outs") for one in (state, first))
    for name, stage in state.stages.items():
        used = stage.get("params", {}).get(PARAMETERS, {})
        read, then = (hashes_of([one], "deps") for one in (stage, first.stages.get(name, {})))
        if any(value_in(state.parameters, key) != value for key, value in used.items()) or any(
            made.get(path, md5) != md5 or (path in then and _is_other(path, md5, then[path], made, before, objects))
            for path, md5 in read.items()
        ):
            yield name


def _is_other(path: str, md5: str, then: str, made: Hashes, before: Hashes, objects: Path) -> bool:
    """Whether the content of a path differs from what a stage has read; in the first state it read `then`."""
    now, first = (md5_at(path, outputs, objects) for outputs in (made, before))
    return now != md5 if first == then else (md5 == then and now != first)


def md5_at(path: str, outputs: Hashes, objects: Path) -> str:
    """DVC's md5 of a part of an output, or of a folder of outputs.

    It is that of the list of all files. Where it cannot be known, as the list of an output is not in the cache, or
    `dvc.lock` has outputs of stages that are no more, it is something that changes when the outputs change.
    """
    above, files = folders_of(path), dict[str, str]()
    for out, md5 in outputs.items():
        if out in above or out.startswith(f"{path}/"):
            files |= _files_of(out, md5, objects)
    if path in files:
        return files[path]
    inside = {name.removeprefix(f"{path}/"): md5 for name, md5 in files.items() if name.startswith(f"{path}/")}
    if not inside:
        return "".join(files.values())
    listed = json.dumps([{"md5": md5, "relpath": name} for name, md5 in sorted(inside.items())])
    return f"{hashlib.md5(listed.encode(), usedforsecurity=False).hexdigest()}.dir"


@cache
def _files_of(out: str, md5: str, objects: Path) -> dict[str, str]:
    """{path: md5} of the files of an output, from DVC's list of them; the output itself where there is none."""
    listed = objects / md5[:2] / md5[2:]
    if not md5.endswith(".dir") or not listed.is_file():
        return {out: md5}
    return {f"{out}/{file['relpath']}": file["md5"] for file in json.loads(listed.read_bytes())}


def table(columns: Mapping[str, Column]) -> list[str]:
    """The lines of the table: experiments' names, then a row for each key whose values are not all the same."""
    keys = dict.fromkeys(key for column in columns.values() for key in column)
    rows = {key: [_text(column.get(key)) for column in columns.values()] for key in keys}
    differing = {key: row for key, row in rows.items() if len(set(row)) > 1}
    if not differing:
        return [f"{', '.join(columns)}: the same parameters, the same headline"]
    cells = [["", *columns], *([key, *row] for key, row in differing.items())]
    most = [WIDTHS[0], *[WIDTHS[1]] * len(columns)]
    widths = [min(wide, max(map(len, texts))) for wide, texts in zip(most, zip(*cells, strict=True), strict=True)]
    return ["  ".join(_fit(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]


def _text(value: Any) -> str:
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def _fit(text: str, width: int) -> str:
    """The text in so many characters; of a long one the end, which tells keys and names apart."""
    return text.ljust(width) if len(text) <= width else f"…{text[1 - width :]}"


def run(_: Namespace) -> None:
    """Print the comparison."""
    with Repo() as repo:
        experiments = {name: revision for made in repo.experiments.ls().values() for name, revision in made}
        objects = Path(repo.cache.local.path)
    first = BASELINE if BASELINE in experiments else "HEAD"
    revisions = {"workspace": "", first: experiments.pop(first, "HEAD"), **experiments}
    states = {name: read_state(revision) for name, revision in revisions.items()}
    lines = table({name: column(state, states[first], objects) for name, state in states.items()})
    if any(" *" in line for line in lines):
        lines.append("*: not made anew; `dvc exp run` without a target makes all numbers anew")
    if first != BASELINE:
        lines.append(f"HEAD's numbers may be another machine's: {KEEP} after `make repro` keeps this one's.")
    print("\n".join(lines))
