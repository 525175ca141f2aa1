"""`make compare`: show this tree, its commit and the experiments made from it side by side.

    trivium compare

A row is a parameter that differs somewhere, or a number of the headline that does. A column is an experiment.
`dvc exp show` would have a column for every parameter, metric, input and output.
"""

import argparse
import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from dvc.repo import Repo

from trivium.core.parameters import flatten, read_parameters

PARAMETERS, HEADLINE = "params.yaml", "metrics/headline.json"
NAME_WIDTH, VALUE_WIDTH = 60, 18
Column = Mapping[str, Any]  # dotted key or name of a number to its value


def of_revision(folder: Path, revision: str) -> Column:
    """Parameters and headline as a commit has them; what it does not have is left out."""
    parameters = yaml.safe_load(_show(folder, revision, PARAMETERS) or "{}")
    return dict(flatten(parameters)) | json.loads(_show(folder, revision, HEADLINE) or "{}")


def _show(folder: Path, revision: str, file: str) -> str:
    command = ["git", "show", f"{revision}:{file}"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout


def of_tree(folder: Path) -> Column:
    """Parameters and headline as the files are now."""
    headline = folder / HEADLINE
    numbers = json.loads(headline.read_text(encoding="utf-8")) if headline.exists() else {}
    return dict(flatten(read_parameters(folder / PARAMETERS))) | numbers


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
    width = min(NAME_WIDTH, max(map(len, differing)))
    cells = [["", *columns], *([key, *row] for key, row in differing.items())]
    widths = [width, *(min(VALUE_WIDTH, max(len(row[place]) for row in cells)) for place in range(1, len(cells[0])))]
    return ["  ".join(_fit(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]


def _text(value: Any) -> str:
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def _fit(text: str, width: int) -> str:
    """The text in so many characters; of a long one the end, which tells keys and names apart."""
    return text.ljust(width) if len(text) <= width else f"…{text[1 - width :]}"


def parser() -> argparse.ArgumentParser:
    """What the command takes."""
    return argparse.ArgumentParser(
        prog="trivium compare", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def main(argv: Sequence[str] | None = None) -> None:
    """Print the comparison."""
    parser().parse_args(argv)
    with Repo() as repo:
        folder = Path(repo.root_dir)
        made = repo.experiments.ls()
    columns = {"workspace": of_tree(folder), "HEAD": of_revision(folder, "HEAD")}
    for experiments in made.values():
        columns |= {name: of_revision(folder, revision) for name, revision in experiments}
    print("\n".join(table(columns)))


if __name__ == "__main__":
    main()
