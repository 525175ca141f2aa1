"""`make thorough`: all seeds, grids and sweeps, in a copy of the tree a pipeline.

A copy is a git clone of the committed state that shares the DVC cache, so an interrupted run goes on where it was (also
seed by seed, while the commit is the same) and the committed `dvc.lock` stays the default's. Results go to
`metrics/thorough/`, with the commit they come from: the flat metrics of every world seed, and the tables and figures of
the first one, as the page shows them.
Answers of prompted models, which are paid for, and MLflow's runs are kept here and not in the copy.
"""

import argparse
import datetime
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from trivium.commands.scale import rescale
from trivium.complexity.prompting.answer_cache import JOURNAL, AnswerCache
from trivium.errors import BadInput
from trivium.files.atomic import write_atomically
from trivium.files.tables import read_json, write_json
from trivium.page.contents import ARTICLES, read_articles, stage_of

SCALE = Path("scales/thorough.yaml")
RESULTS = Path("metrics/thorough")
ANSWERS = Path("data/complexity/prompt_cache")
# World seeds of each pipeline; a pipeline that repeats its trainings over model seeds takes one world.
SEEDS = {"kvqae": (3, 4, 5), "decorrelation": (3,), "complexity": (3,)}
# What else a pipeline's metrics come from: the others in the copy would be those of the commit's world.
WITH = {"kvqae": ("construction",)}
# The sections of the page that more seeds and cells change, by the ids that they bear there.
SECTIONS = {
    "kvqae": ("table-2", "table-3", "table-4", "table-5", "table-6", "table-7"),
    "decorrelation": ("table-1", "findings", "table-2", "table-3", "figure-4", "appendix-b"),
    "complexity": (
        *("table-1", "figure-2", "factors", "table-2", "findings", "forest"),
        *("instrument", "agreement", "parsers", "partitions", "illustrations"),
    ),
}


def run(*command: str, cwd: Path, **environment: str) -> str:
    """Run a command that must succeed; its output goes to the terminal, or back when it is from git."""
    capture = subprocess.PIPE if command[0] == "git" else None
    done = subprocess.run(command, cwd=cwd, env=os.environ | environment, check=True, text=True, stdout=capture)
    return (done.stdout or "").strip()


def committed(root: Path) -> str:
    """The commit that results come from; where anything but results differs from it, the program ends."""
    changed = run("git", "status", "--porcelain", "--untracked-files=no", "--", ".", f":!{RESULTS}", cwd=root)
    if changed:
        print("commit your changes first: results are kept with the commit they come from", file=sys.stderr)
        raise SystemExit(1)
    return run("git", "rev-parse", "HEAD", cwd=root)


def clone(root: Path, copy: Path) -> Path:
    """The copy of a pipeline, made if it is not there: pipelines may run side by side."""
    if not copy.exists():
        with write_atomically(copy) as beside:
            run("git", "clone", "-q", str(root), str(beside), cwd=root)
            run("dvc", "cache", "dir", "--local", str(root / ".dvc" / "cache"), cwd=beside)
    return copy


def with_seed(scale: Path, pipeline: str, seed: int, out: Path) -> None:
    """Write a scale file like `scale`, for one world seed of one pipeline."""
    tree: dict[str, Any] = yaml.safe_load(scale.read_text(encoding="utf-8")) or {}
    tree.setdefault(pipeline, {}).setdefault("world", {})["seed"] = seed
    with write_atomically(out) as beside:
        beside.write_text(yaml.safe_dump(tree), encoding="utf-8")


def reproduce(root: Path, copy: Path, pipeline: str, seed: int) -> dict[str, float]:
    """Run one pipeline on one world seed in the copy; all its stages' metrics, prefixed by the stage."""
    run("git", "checkout", "-q", "--", "params.yaml", cwd=copy)
    with_seed(root / SCALE, pipeline, seed, copy / ".work" / "thorough.yaml")
    rescale(copy / "params.yaml", copy / ".work" / "thorough.yaml")
    # With this environment, which is not the copy's to renew. DVC hands its own root to a stage only where none is set:
    # see `project_root`.
    binaries = Path(sys.executable).parent
    made = (f"BIN={binaries}", "-o", f"{binaries}/.ready")
    for each in (pipeline, *WITH.get(pipeline, ())):
        run("make", "repro", f"P={each}", *made, cwd=copy, DVC_ROOT=str(root))
    found: dict[str, float] = {}
    for file in sorted((copy / "metrics" / pipeline).glob("*.json")):
        values = read_json(file)
        if isinstance(values, dict):  # else a table: the page's sections show it
            numbers = {name: value for name, value in values.items() if isinstance(value, int | float)}
            found |= {f"{file.stem}.{name}": value for name, value in numbers.items()}
    return found


def kept_results(file: Path, commit: str) -> dict[str, Any]:
    """What an earlier call wrote for the same commit, to be completed; else an empty result."""
    kept: dict[str, Any] = read_json(file) if file.exists() else {}
    return kept if kept.get("commit") == commit else {"commit": commit, "seeds": {}, "sections": []}


@contextmanager
def timed(spent: Path) -> Iterator[None]:
    """Add the minutes of the block to those of a file, also where the block is broken off."""
    started = time.perf_counter()
    try:
        yield
    finally:
        write_json(spent, {"minutes": minutes_of(spent) + (time.perf_counter() - started) / 60})


def minutes_of(spent: Path) -> float:
    """What `timed` counted there."""
    return float(read_json(spent)["minutes"]) if spent.exists() else 0.0


def sections(copy: Path, pipeline: str) -> list[dict[str, str]]:
    """The page's sections `{id, title, html}` that show what was found; their HTML is escaped already."""
    found = {article["pipeline"]: article for article in read_articles(copy / "metrics" / "report" / "parts")}
    if pipeline not in found:
        return []
    parts = {f"{pipeline}-{name}": ARTICLES[pipeline].sections[name][1] for name in SECTIONS[pipeline]}
    made = {name for name, part in parts.items() if stage_of(pipeline, part) not in found[pipeline]["missing"]}
    return [section for section in found[pipeline]["sections"] if section["id"] in made]


def main(argv: Sequence[str] | None = None) -> None:
    """Run every pipeline and seed; results are written after each, so that an interruption loses one at most."""
    parser = argparse.ArgumentParser(prog="trivium thorough", description=__doc__)
    parser.add_argument("--pipelines", nargs="+", choices=sorted(SEEDS), default=list(SEEDS))
    parser.add_argument("--seeds", type=int, nargs="+", help="world seeds, 3 or more (default: the pipeline's own)")
    arguments = parser.parse_args(argv)
    root = Path.cwd()
    commit = committed(root)
    copies = root / ".work" / "thorough"
    AnswerCache(root / JOURNAL).merge(root / ANSWERS)
    try:
        for pipeline in arguments.pipelines:
            file = root / RESULTS / f"{pipeline}.json"
            copy = clone(root, copies / f"{commit[:12]}-{pipeline}")
            for seed in sorted(arguments.seeds or SEEDS[pipeline]):
                result = kept_results(file, commit) | {"pipeline": pipeline}
                spent = copy / ".work" / f"minutes-{seed}.json"
                with timed(spent):
                    result["seeds"][str(seed)] = reproduce(root, copy, pipeline, seed)
                if seed == min(map(int, result["seeds"])):
                    result["sections"] = sections(copy, pipeline)
                result["date"] = datetime.datetime.now(datetime.UTC).date().isoformat()
                result["minutes"] = round(sum(map(minutes_of, spent.parent.glob("minutes-*.json"))), 1)
                write_json(file, result)
    except BadInput as error:
        print(f"thorough: {error}", file=sys.stderr)
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
