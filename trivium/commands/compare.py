"""`make compare`: show this tree, its commit and the experiments made from it side by side.

    trivium compare

A row is a parameter that differs somewhere, or a number of the headline that does. A column is an experiment. A number
with a * was not made anew: a stage behind it has not run since a parameter or an input of it changed. Where there is an
experiment `baseline`, it stands in the place of the commit, whose numbers may come from another machine.
`dvc exp show` would have a column for every parameter, metric, input and output.
"""

import json
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import yaml
from dvc.repo import Repo

from trivium.commands.lineage import behind, folders_of, outputs_of, value_in
from trivium.core.parameters import flatten
from trivium.core.tracking import git
from trivium.page.headline import NUMBERS

PARAMETERS, LOCK, METRICS = "params.yaml", "dvc.lock", "metrics"
BASELINE = "baseline"
KEEP = f"`dvc exp save -n {BASELINE}`"
WIDTHS = (60, 20)  # at most, of a row's name and of a value
Column = Mapping[str, Any]  # dotted key or name of a number to its value


@dataclass(frozen=True)
class State:
    """One state of the project.

    Attributes:
        parameters: as `params.yaml` has them.
        stages: as `dvc.lock` has them.
        numbers: of the headline, from the files of the stages that measured them.
    """

    parameters: Mapping[str, Any]
    stages: Mapping[str, Any]
    numbers: Mapping[str, float]


def read_state(read: Callable[[str], str]) -> State:
    """Read a state by the text of its files, which is empty where there is none."""
    stages = yaml.load(read(LOCK) or "{}", getattr(yaml, "CSafeLoader", yaml.SafeLoader)).get("stages", {})
    files = {number.file: json.loads(read(f"{METRICS}/{number.file}") or "{}") for number in NUMBERS.values()}
    numbers = {
        name: files[number.file][number.key] for name, number in NUMBERS.items() if number.key in files[number.file]
    }
    return State(yaml.safe_load(read(PARAMETERS) or "{}"), stages, numbers)


def column(state: State, first: State, cache: Path) -> Column:
    """Parameters and headline of a state; see `stale_numbers`."""
    stale = stale_numbers(state, first, cache)
    marked = {name: f"{_text(value)} *" if name in stale else value for name, value in state.numbers.items()}
    return dict(flatten(state.parameters)) | marked


def stale_numbers(state: State, first: State, cache: Path) -> set[str]:
    """The numbers of the headline that a stage behind them would change, or might, if it ran.

    Args:
        state: whose numbers they are.
        first: the state that it is compared with. Where a stage reads a part of an output, or several, and says the
            same of it in both states, the outputs must be the same there, too.
        cache: of DVC, by md5.
    """
    outdated = set(outdated_stages(state, first, cache))
    makers, stale = outputs_of(state.stages), set()
    for file in dict.fromkeys(number.file for number in NUMBERS.values()):
        maker = makers.get(f"{METRICS}/{file}")
        if maker and outdated & set(behind(state.stages, [maker])):
            stale |= {name for name, number in NUMBERS.items() if number.file == file}
    return stale


def outdated_stages(state: State, first: State, cache: Path) -> Iterator[str]:
    """The stages whose inputs or parameters are others than when they ran."""
    made, before = hashes(state.stages), hashes(first.stages)
    for name, stage in state.stages.items():
        used = stage.get("params", {}).get(PARAMETERS, {})
        read = {dep["path"]: dep.get("md5") for dep in stage.get("deps", ())}
        then = {dep["path"]: dep.get("md5") for dep in first.stages.get(name, {}).get("deps", ())}
        if (
            any(value_in(state.parameters, key) != value for key, value in used.items())
            or any(made.get(path, md5) != md5 for path, md5 in read.items())
            or any(then.get(path) == md5 and differs(path, made, before, cache) for path, md5 in read.items())
        ):
            yield name


def hashes(stages: Mapping[str, Any]) -> dict[str, str]:
    """{path of an output: its md5}."""
    return {out["path"]: out.get("md5") for stage in stages.values() for out in stage.get("outs", ())}


def differs(path: str, made: Mapping[str, str], before: Mapping[str, str], cache: Path) -> bool:
    """Whether what outputs have at a path, which is none of them itself, is another than before."""
    for folder in folders_of(path):
        if folder in made and made[folder] != before.get(folder):
            return part(path, folder, made[folder], cache) != part(path, folder, before.get(folder, ""), cache)
    below = f"{path}/"
    return any(md5 != before.get(out) for out, md5 in made.items() if out.startswith(below))


def part(path: str, folder: str, md5: str, cache: Path) -> Any:
    """What DVC's list of a folder says of a path in it; where the list is not there, the folder's md5."""
    listed = cache / md5[:2] / md5[2:]
    if not listed.is_file():
        return md5
    inner = path.removeprefix(f"{folder}/")
    files = {file["relpath"]: file["md5"] for file in json.loads(listed.read_bytes())}
    return {name: md5 for name, md5 in files.items() if inner in (name, *folders_of(name))}


def table(columns: Mapping[str, Column]) -> list[str]:
    """Lines: a head, then a row for each key whose values are not all the same.

    Args:
        columns: name of the experiment to its values.
    """
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


def show(revision: str, file: str) -> str:
    """The text of a file of a commit, or of the folder where none is named; empty where there is none."""
    if revision:
        return git("show", f"{revision}:{file}")
    return Path(file).read_text("utf-8") if Path(file).exists() else ""


def run(_: Namespace) -> None:
    """Print the comparison."""
    with Repo() as repo:
        experiments = {name: revision for made in repo.experiments.ls().values() for name, revision in made}
        cache = Path(repo.cache.local.path)
    first = BASELINE if BASELINE in experiments else "HEAD"
    revisions = {"workspace": "", first: experiments.pop(first, "HEAD"), **experiments}
    states = {name: read_state(partial(show, revision)) for name, revision in revisions.items()}
    lines = table({name: column(state, states[first], cache) for name, state in states.items()})
    if any(" *" in line for line in lines):
        lines.append("*: not made anew; `dvc exp run` without a target makes all numbers anew")
    if first != BASELINE:
        lines.append(f"HEAD's numbers may be another machine's: {KEEP} after `make repro` keeps this one's.")
    print("\n".join(lines))
