"""`make compare`: show this tree, its commit and the experiments made from it side by side.

    trivium compare

A row is a parameter that differs somewhere, or a number of the headline that does. A column is an experiment. A number
with a * was not made anew: a stage behind it has not run since a parameter or an input of it changed. Where there is an
experiment `baseline`, it stands in the place of the commit, whose numbers may come from another machine.
`dvc exp show` would have a column for every parameter, metric, input and output.
"""

import json
from argparse import Namespace
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import yaml
from dvc.repo import Repo

from trivium.commands.lineage import behind, outputs_of, value_in
from trivium.core.parameters import flatten
from trivium.core.tracking import git
from trivium.page.headline import NUMBERS

PARAMETERS, LOCK, HEADLINE = "params.yaml", "dvc.lock", "metrics/headline.json"
BASELINE = "baseline"
KEEP = f"`dvc exp save -n {BASELINE}`"
WIDTHS = (60, 20)  # at most, of a row's name and of a value
Column = Mapping[str, Any]  # dotted key or name of a number to its value


def column(read: Callable[[str], str]) -> Column:
    """Parameters and headline of one state of the project; what it does not have is left out.

    Args:
        read: the text of a file of it; empty where there is none.
    """
    parameters = yaml.safe_load(read(PARAMETERS) or "{}")
    stages = yaml.load(read(LOCK) or "{}", getattr(yaml, "CSafeLoader", yaml.SafeLoader)).get("stages", {})
    stale = stale_numbers(stages, parameters)
    numbers = json.loads(read(HEADLINE) or "{}")
    marked = {name: f"{_text(value)} *" if name in stale else value for name, value in numbers.items()}
    return dict(flatten(parameters)) | marked


def stale_numbers(stages: Mapping[str, Any], parameters: Mapping[str, Any]) -> set[str]:
    """The numbers of the headline that a stage behind them would change, or might, if it ran.

    Args:
        stages: as `dvc.lock` has them.
        parameters: as `params.yaml` has them.
    """
    made = {out["path"]: out.get("md5") for stage in stages.values() for out in stage.get("outs", ())}
    outdated: dict[str, set[str]] = {}  # stage → the inputs and parameters that are others than when it ran
    for name, stage in stages.items():
        used = stage.get("params", {}).get(PARAMETERS, {})
        read = {dep["path"]: dep.get("md5") for dep in stage.get("deps", ())}
        outdated[name] = {path for path, md5 in read.items() if made.get(path, md5) != md5}
        outdated[name] |= {key for key, value in used.items() if value_in(parameters, key) != value}
    makers, stale = outputs_of(stages), set()
    for name, number in NUMBERS.items():
        file = f"metrics/{number.file}"
        stages_behind = behind(stages, [makers[file]]) if file in makers else []
        if file in outdated.get("headline", ()) or any(outdated[stage] for stage in stages_behind):
            stale.add(name)
    return stale


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
    first = BASELINE if BASELINE in experiments else "HEAD"
    revisions = {"workspace": "", first: experiments.pop(first, "HEAD"), **experiments}
    lines = table({name: column(partial(show, revision)) for name, revision in revisions.items()})
    if any(" *" in line for line in lines):
        lines.append("*: not made anew; `dvc exp run` without a target makes all numbers anew")
    if first != BASELINE:
        lines.append(f"HEAD's numbers may be another machine's: {KEEP} after `make repro` keeps this one's.")
    print("\n".join(lines))
