"""`make thorough`: test the claims in three worlds, with three trainings each; then run all seeds, grids and sweeps.

The command first says which results are out of date, and makes only these: a change of code counts where it changes the
default run (see `same_bits.py`). Every run works in a copy of the tree: a git clone of the committed state that shares
the DVC cache. What was interrupted goes on where it was, and the committed `dvc.lock` stays as it is. Results go to
`metrics/thorough/`, with their commit and with what their stages came from. Answers of prompted models, which are paid
for, and MLflow's runs are kept here and not in the copy.
"""

import argparse
import datetime
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from trivium.claims.evidence import gather
from trivium.commands.claim_runs import TARGETS, ClaimRun, as_in, behind, claim_runs, outdated, record
from trivium.commands.in_dvc.parent import ENDS_WITH
from trivium.commands.lanes import room
from trivium.commands.same_bits import SameBits
from trivium.commands.scale import rescale
from trivium.complexity.prompting import JOURNAL
from trivium.core.atomic import write_atomically
from trivium.core.code.digest import Code, code_root
from trivium.core.code.pipeline import Pipeline
from trivium.core.errors import BadInput
from trivium.core.parameters import read_parameters
from trivium.core.tables import read_json, write_json, write_table
from trivium.page.contents import ARTICLES, read_articles, stage_of
from trivium.prompting.answer_cache import AnswerCache

SCALE = Path("scales/thorough.yaml")
RESULTS = Path("metrics/thorough")
ANSWERS = Path("data/complexity/prompt_cache")
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
    """Run a command that must succeed, and ends with this one; its output goes to the terminal, or back from git."""
    capture = subprocess.PIPE if command[0] == "git" else None
    environment = {**os.environ, ENDS_WITH: str(os.getpid()), **environment}
    done = subprocess.run(command, cwd=cwd, env=environment, check=True, text=True, stdout=capture)
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


def with_claims(root: Path, copy: Path, of: ClaimRun) -> None:
    """Run what a claim's evidence needs, and keep the evidence and what it came from."""
    started = time.perf_counter()
    without_results(copy, of.pipeline)
    write_parameters(of, root, copy / "params.yaml")
    run(sys.executable, "-m", "stages.code", cwd=copy)
    side_by_side = {"OMP_NUM_THREADS": "1", "STAGE_WORKERS": "1"}
    run("dvc", "repro", "-q", *TARGETS[of.pipeline], cwd=copy, DVC_ROOT=str(root), **side_by_side)
    folder = root / RESULTS / of.pipeline
    write_table(folder / f"{of.name}.parquet", gather(copy, of.pipeline, of.training))
    write_result(folder / f"{of.name}.json", copy, partial(behind, targets=TARGETS[of.pipeline]), started, {})


def with_everything(root: Path, copy: Path, pipeline: str) -> None:
    """Run a pipeline at the thorough scale, and keep its metrics and the sections of its page."""
    started = time.perf_counter()
    without_results(copy, pipeline)
    write_parameters(pipeline, root, copy / "params.yaml")
    # With this environment, which is not the copy's to renew. DVC hands its own root to a stage only where none is set:
    # see `project_root`.
    binaries = Path(sys.executable).parent
    made = (f"BIN={binaries}", "-o", f"{binaries}/.ready")
    for each in (pipeline, *WITH.get(pipeline, ())):
        run("make", "repro", f"P={each}", *made, cwd=copy, DVC_ROOT=str(root))
    found = {"pipeline": pipeline, "metrics": flat_metrics(copy, pipeline), "sections": sections(copy, pipeline)}
    write_result(root / RESULTS / f"{pipeline}.json", copy, partial(measured, pipeline=pipeline), started, found)


def measured(lock: Mapping[str, Any], pipeline: str) -> list[str]:
    """The stages behind a pipeline's numbers: all but those that only show them."""
    mine = (name for name in lock if name.startswith(f"{pipeline}-") and not name.startswith(f"{pipeline}-page_"))
    return behind(lock, mine)


def flat_metrics(copy: Path, pipeline: str) -> dict[str, float]:
    """All metrics of a pipeline's stages, prefixed by the stage."""
    found: dict[str, float] = {}
    for file in sorted((copy / "metrics" / pipeline).glob("*.json")):
        values = read_json(file)
        if isinstance(values, dict):  # else a table: the page's sections show it
            numbers = {name: value for name, value in values.items() if isinstance(value, int | float)}
            found |= {f"{file.stem}.{name}": value for name, value in numbers.items()}
    return found


def write_result(
    file: Path, copy: Path, stages: Callable[[Mapping[str, Any]], Iterable[str]], started: float, found: dict[str, Any]
) -> None:
    """Write what was found with its commit, date and minutes, and what stages of the copy came from."""
    lock: dict[str, Any] = yaml.safe_load((copy / "dvc.lock").read_text(encoding="utf-8"))["stages"]
    there = {name: lock[name] for name in Pipeline(copy).cells if name in lock}
    made = {
        "commit": run("git", "rev-parse", "HEAD", cwd=copy),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "minutes": round((time.perf_counter() - started) / 60, 1),
    }
    write_json(file, made | found | record(there, stages(there)))


def sections(copy: Path, pipeline: str) -> list[dict[str, str]]:
    """The page's sections `{id, title, html}` that show what was found; their HTML is escaped already."""
    found = {article["pipeline"]: article for article in read_articles(copy / "metrics" / "report" / "parts", {})}
    if pipeline not in found:
        return []
    parts = {f"{pipeline}-{name}": ARTICLES[pipeline].part_of(name) for name in SECTIONS[pipeline]}
    made = {name for name, part in parts.items() if stage_of(pipeline, part) not in found[pipeline]["missing"]}
    return [section for section in found[pipeline]["sections"] if section["id"] in made]


def without_results(copy: Path, pipeline: str) -> None:
    """Take away what an earlier run left in a copy: a stage may read a folder of others' results."""
    for folder in ("data", "models", "metrics"):
        shutil.rmtree(copy / folder / pipeline, ignore_errors=True)
    run("git", "checkout", "-q", "--", ".", cwd=copy)


def left(root: Path, pipelines: Sequence[str]) -> tuple[dict[ClaimRun | str, list[str]], int]:
    """What `make thorough` would run, claims' runs first, and why; a pipeline's name is all of it at the scale.

    Second, how many results stay although their code has changed, because the default run shows no difference.
    """
    code, same = Code(code_root()), cache(partial(SameBits, root))
    found: dict[ClaimRun | str, list[str]] = {}
    older = 0
    every: list[ClaimRun | str] = [*claim_runs(pipelines), *pipelines]
    for each in every:
        name = each if isinstance(each, str) else f"{each.pipeline}/{each.name}"
        file = root / RESULTS / f"{name}.json"
        kept = read_json(file) if file.exists() else {}
        why = ["never run" if not kept else "of unknown code"]
        if "code" in kept:
            with as_in(root, partial(write_parameters, each, root)) as folder:
                why = outdated(kept, folder, code, same(kept["commit"]))
                older += not why and bool(outdated(kept, folder, code))
        if why:
            found[each] = why
    code.save()
    return found, older


def write_parameters(of: ClaimRun | str, root: Path, params: Path) -> None:
    """Put into a copy of `params.yaml` what a claims' run, or a pipeline at the scale, changes there."""
    with TemporaryDirectory() as folder:
        scale = Path(folder) / "changes.yaml"
        changes = {of: read_parameters(root / SCALE).get(of) or {}} if isinstance(of, str) else of.changes(root, params)
        scale.write_text(yaml.safe_dump(changes), encoding="utf-8")
        rescale(params, scale)


def in_world(root: Path, commit: str, runs: Sequence[ClaimRun]) -> None:
    """The runs of one pipeline in one world, one after the other."""
    first = runs[0]
    copy = clone(root, root / ".work" / "thorough" / f"{commit[:12]}-{first.pipeline}-{first.world}")
    for each in runs:
        with_claims(root, copy, each)


def parser() -> argparse.ArgumentParser:
    """What the command takes."""
    made = argparse.ArgumentParser(
        prog="trivium thorough", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--pipelines", nargs="+", choices=sorted(TARGETS), default=list(TARGETS), help="only these")
    made.add_argument("--list", action="store_true", help="only say what is out of date, and why")
    return made


def main(argv: Sequence[str] | None = None) -> None:
    """Run what is out of date; each result is written when it is there, so that an interruption loses one at most."""
    arguments = parser().parse_args(argv)
    root = Path.cwd()
    try:
        wanted, older = left(root, arguments.pipelines)
        for each, why in wanted.items():
            name = each if isinstance(each, str) else f"{each.pipeline}, world {each.world}, training {each.training}"
            print(f"{name}: {', '.join(why[:3])}{f' and {len(why) - 3} more' if len(why) > 3 else ''}")
        if older:
            print(f"{older} results are of older code; the default run is the same with it, to the bit")
        print(f"{len(wanted)} runs to make" if wanted else "All results are up to date.")
        if arguments.list or not wanted:
            return
        commit = committed(root)
        AnswerCache(root / JOURNAL).merge(root / ANSWERS)
        by_world: dict[tuple[str, int], list[ClaimRun]] = {}
        for each in wanted:
            if isinstance(each, ClaimRun):
                by_world.setdefault((each.pipeline, each.world), []).append(each)
        with ThreadPoolExecutor(room()[0]) as pool:
            list(pool.map(partial(in_world, root, commit), by_world.values()))
        for each in wanted:
            if isinstance(each, str):
                with_everything(root, clone(root, root / ".work" / "thorough" / f"{commit[:12]}-{each}"), each)
    except BadInput as error:
        print(f"thorough: {error}", file=sys.stderr)
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
