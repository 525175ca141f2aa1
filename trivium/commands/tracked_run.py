"""What a finished run of the graph was, for MLflow: parameters that differ from its commit, headline, figures, page.

    python -m trivium.commands.tracked_run --name EXPERIMENT --baseline COMMIT --since SECONDS --out FOLDER

MLflow's writer calls it once no stage is at work any more. An experiment is read from the commit that DVC made of it,
a plain `dvc repro` from the tree. What an experiment that failed has left lies nowhere: of it nothing is told.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from trivium.commands.compare import PARAMETERS, flat
from trivium.core.tables import write_json
from trivium.page.headline import NUMBERS, headline

REPORT = Path("metrics") / "report"


def git(*arguments: str) -> str:
    """What Git says; nothing where it fails."""
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=False).stdout


def revision_of(name: str, baseline: str) -> str:
    """The commit of an experiment that was made from a commit; empty where there is none."""
    return git("for-each-ref", "--format=%(objectname)", f"refs/exps/{baseline[:2]}/{baseline[2:]}/{name}").strip()


def parameters_that_differ(baseline: str, revision: str) -> dict[str, Any]:
    """Dotted key to value, of those that `baseline` has otherwise or not at all; what it alone has is None.

    Args:
        baseline: commit.
        revision: another; empty: the tree.
    """
    text = git("show", f"{revision}:{PARAMETERS}") if revision else Path(PARAMETERS).read_text(encoding="utf-8")
    before = dict(flat(yaml.safe_load(git("show", f"{baseline}:{PARAMETERS}")) or {}))
    now = dict(flat(yaml.safe_load(text) or {}))
    return {key: now.get(key) for key in (now | before) if now.get(key) != before.get(key) or key not in before}


def headline_of(revision: str) -> dict[str, float]:
    """The headline from the metrics of each stage: it is right also where the stage `headline` has not run since.

    Args:
        revision: commit; empty: the tree.
    """
    if not revision:
        return headline(Path("metrics"))
    with tempfile.TemporaryDirectory() as folder:
        for name in {number.file for number in NUMBERS.values()}:
            if text := git("show", f"{revision}:metrics/{name}"):
                (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
                (Path(folder) / name).write_text(text, encoding="utf-8")
        return headline(Path(folder))


def draw(baseline: str, revision: str, out: Path) -> None:
    """Write `figures`, what `dvc plots diff` draws of a revision, or of the tree, beside the commit."""
    revisions = [baseline, revision] if revision else [baseline]
    dvc("plots", "diff", *revisions, "-o", str(out / "figures"))


def take_page(baseline: str, revision: str, since: float, out: Path) -> None:
    """Write `page`, where the run has made one: for an experiment out of DVC's cache."""
    if not revision:
        if REPORT.exists() and (REPORT / "index.html").stat().st_mtime > since:
            shutil.copytree(REPORT, out / "page", ignore=shutil.ignore_patterns("parts", ".gitignore"))
        return
    made = report_outputs(revision)
    if made == report_outputs(baseline):
        return
    (out / "page").mkdir(parents=True)
    for place in made:
        dvc("get", ".", place, "--rev", revision, "-o", str(out / "page" / Path(place).name))


def report_outputs(revision: str) -> dict[str, str]:
    """The page's files and their hashes, as a commit's dvc.lock has them."""
    lock = yaml.safe_load(git("show", f"{revision}:dvc.lock")) or {}
    return {out["path"]: out["md5"] for out in lock.get("stages", {}).get("report", {}).get("outs", [])}


def dvc(*arguments: str) -> None:
    """Run DVC; what it says comes to whoever reads this process."""
    subprocess.run([sys.executable, "-m", "dvc", *arguments], check=True)


def main(argv: Sequence[str] | None = None) -> None:
    """Write `run.json` and the folder `files`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", default="", help="of the experiment (default: none, a plain `dvc repro`)")
    parser.add_argument("--baseline", required=True, help="commit that it was made from")
    parser.add_argument("--since", type=float, required=True, help="when it began, in seconds since 1970")
    parser.add_argument("--out", type=Path, required=True, help="a folder that is there")
    given = parser.parse_args(argv)
    revision = revision_of(given.name, given.baseline) if given.name else ""
    if given.name and not revision:
        return
    told = {"parameters": parameters_that_differ(given.baseline, revision), "metrics": headline_of(revision)}
    write_json(given.out / "run.json", told)
    take_page(given.baseline, revision, given.since, given.out / "files")
    draw(given.baseline, revision, given.out / "files")


if __name__ == "__main__":
    main()
