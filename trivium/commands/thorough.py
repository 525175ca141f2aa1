"""`make thorough`: test the claims in three worlds, with three trainings each; then run all seeds, grids and sweeps.

The command first says which results are out of date, and makes only these. Every run works in a copy of the tree: a git
clone of the committed state that shares the DVC cache. What was interrupted goes on where it was, and the committed
`dvc.lock` stays as it is. Results go to `metrics/thorough/`, with their commit and with what their stages came from.
Answers of prompted models, which are paid for, and MLflow's runs are kept here and not in the copy.
"""

import datetime
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from trivium.claims.verdicts import READERS, TRAININGS, WORLDS, gather
from trivium.commands.repro import SIDE_BY_SIDE
from trivium.commands.reproduced import clean_commit
from trivium.commands.scale import merge, rescale
from trivium.complexity.prompting import JOURNAL
from trivium.core.atomic import write_atomically
from trivium.core.code.digest import Code, code_root, digest_of, read_stages, stage_parts
from trivium.core.engine import count_cores
from trivium.core.lock import ancestors_of, read_lock, value_in
from trivium.core.parameters import read_parameters
from trivium.core.tables import read_json, write_json, write_table
from trivium.core.tracking import git
from trivium.page.contents import ARTICLES, read_articles, stage_of
from trivium.prompting.answer_cache import AnswerCache

SCALE, CLAIMS_SCALE = Path("scales/thorough.yaml"), Path("scales/claims.yaml")
RESULTS = Path("metrics/thorough")
ANSWERS = Path("data/complexity/prompt_cache")
# What leaves the evidence of `trivium/claims/verdicts.py`.
TARGETS = {
    "kvqae": ("kvqae-evaluate", "kvqae-evaluate_reranking", "kvqae-read"),
    "decorrelation": ("decorrelation-evaluate",),
    "complexity": ("complexity-contrasts",),
}
# KVQAE's trainings on the sample.
TRAINED = ("dpr_pretrain", "dpr_finetune", "rerank_pretrain", "rerank_finetune", "rrt", "reader_pretrain")
# What else a pipeline's metrics come from: the others in the copy would be those of the commit's world.
WITH = {"kvqae": ("construction",)}
# The sections of the page that more seeds and cells change, by the ids that they bear there.
SECTIONS = {
    "kvqae": ("table-2", "table-3", "table-4", "table-5", "table-6", "table-7"),
    "decorrelation": ("table-1", "findings", "table-2", "table-3", "figure-4", "appendix-b"),
    "complexity": (
        *("table-1", "figure-2", "factors", "table-2", "findings", "forest"),
        *("agreement", "parsers", "partitions", "illustrations"),
    ),
}


@dataclass(frozen=True, order=True)
class Result:
    """A result of `make thorough`: a pipeline in one world with one training, or all of it at the scale."""

    pipeline: str
    training: int | None = None  # seed of all that it trains; None: the whole pipeline
    world: int | None = None  # seed of its sample world; None: the whole pipeline

    @property
    def file(self) -> str:
        """Its files in the folder of results, without their suffixes."""
        return self.pipeline if self.training is None else f"{self.pipeline}/{self.world}-{self.training}"

    def __str__(self) -> str:
        """As the command names it."""
        own = "" if self.training is None else f", world {self.world}, training {self.training}"
        return f"{self.pipeline}{own}"

    def changes(self, root: Path) -> dict[str, Any]:
        """Its changes of `params.yaml`, as a scale; `CLAIMS_SCALE` has decorrelation's cells of all trainings."""
        if self.training is None:
            return {self.pipeline: read_parameters(root / SCALE).get(self.pipeline) or {}}
        pipeline = self.pipeline
        scale = read_parameters(root / CLAIMS_SCALE)[pipeline]
        scale = scale | {"world": scale.get("world", {}) | {"seed": self.world}}
        if pipeline == "complexity":
            contrasts = {"readers": list(READERS), "seeds": [self.training]}
            return {pipeline: scale | {"contrasts": contrasts}}
        if pipeline == "kvqae":
            seed = {"seed": self.training} if self.training else {}  # 0 is the default
            trained = {stage: scale.get(stage, {}) | seed for stage in TRAINED if seed or stage in scale}
            read = scale.get("read", {}) | {"seeds": [self.training]}
            return {pipeline: scale | trained | {"read": read}}
        mine = {name: cell for name, cell in scale["cells"].items() if name.endswith(f"_{self.training}")}
        cells = dict.fromkeys(read_parameters(root / "params.yaml")["decorrelation"]["cells"]) | mine
        return {pipeline: scale | {"cells": cells}}

    def parameters(self, root: Path) -> dict[str, Any]:
        """The parameters that it is made with."""
        tree = read_parameters(root / "params.yaml")
        list(merge(tree, self.changes(root), str(self)))
        return tree


def claim_runs(pipelines: Iterable[str]) -> list[Result]:
    """Every run of the pipelines: the first training of all worlds before the second."""
    return [Result(name, training, world) for training in TRAININGS for name in pipelines for world in WORLDS[name]]


def call(*command: str, cwd: Path, **environment: str) -> None:
    """Run a command that must succeed; its output goes to the terminal."""
    subprocess.run(command, cwd=cwd, env=os.environ | environment, check=True)


def clone(root: Path, copy: Path) -> Path:
    """Clone the project into a copy, unless it exists."""
    if not copy.exists():
        with write_atomically(copy) as partial_copy:
            call("git", "clone", "-q", str(root), str(partial_copy), cwd=root)
            call("dvc", "cache", "dir", "--local", str(root / ".dvc" / "cache"), cwd=partial_copy)
    return copy


def make_result(root: Path, copy: Path, result: Result) -> None:
    """Run what a result needs in a copy, and keep it with its commit, date, minutes and what its stages came from."""
    pipeline, started = result.pipeline, time.perf_counter()
    for folder in ("data", "models", "metrics"):  # a stage may read a folder of others' results
        shutil.rmtree(copy / folder / pipeline, ignore_errors=True)
    call("git", "checkout", "-q", "--", ".", cwd=copy)
    rescale(copy / "params.yaml", result.changes(root))
    values: dict[str, Any] = {}
    if result.training is None:
        # With this environment, which is not the copy's to renew. DVC hands its own root to a stage only where none is
        # set: see `project_root`.
        binaries = Path(sys.executable).parent
        for name in (pipeline, *WITH.get(pipeline, ())):
            call("make", "repro", f"P={name}", f"BIN={binaries}", "-o", f"{binaries}/.ready", cwd=copy,
                DVC_ROOT=str(root))  # fmt: skip
        values = {"pipeline": pipeline, "metrics": flat_metrics(copy, pipeline), "sections": sections(copy, pipeline)}
    else:
        call(sys.executable, "-m", "stages.code", cwd=copy)
        call("dvc", "repro", "-q", *TARGETS[pipeline], cwd=copy, DVC_ROOT=str(root), STAGE_WORKERS="1", **SIDE_BY_SIDE)
        write_table(root / RESULTS / f"{result.file}.parquet", gather(copy, pipeline, result.training))
    stages = {name for name, *_ in read_stages(copy, read_parameters(copy / "params.yaml"))}
    lock = {name: entry for name, entry in read_lock(copy).items() if name in stages}
    if result.training is None:
        targets = [name for name in lock if re.match(rf"{pipeline}-(?!page_)", name)]
    else:
        targets = [name for name in lock if name.partition("@")[0] in TARGETS[pipeline]]  # cells stand there by name
    about = {
        "commit": git("-C", str(copy), "rev-parse", "HEAD"),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "minutes": round((time.perf_counter() - started) / 60, 1),
    }
    write_json(root / RESULTS / f"{result.file}.json", about | values | record(lock, ancestors_of(lock, targets)))


def flat_metrics(copy: Path, pipeline: str) -> dict[str, float]:
    """All metrics of a pipeline's stages, prefixed by the stage."""
    metrics: dict[str, float] = {}
    for file in sorted((copy / "metrics" / pipeline).glob("*.json")):
        values = read_json(file)
        named = values.items() if isinstance(values, dict) else ()  # else a table: the page's sections show it
        metrics |= {f"{file.stem}.{name}": value for name, value in named if isinstance(value, int | float)}
    return metrics


def sections(copy: Path, pipeline: str) -> list[dict[str, str]]:
    """The page's sections `{id, title, html}` that show what was found; their HTML is escaped already."""
    articles = {article["pipeline"]: article for article in read_articles(copy / "metrics" / "report" / "parts", {})}
    if pipeline not in articles:
        return []
    parts = {f"{pipeline}-{name}": ARTICLES[pipeline].part_of(name) for name in SECTIONS[pipeline]}
    made = {name for name, part in parts.items() if stage_of(pipeline, part) not in articles[pipeline]["missing"]}
    return [section for section in articles[pipeline]["sections"] if section["id"] in made]


def record(lock: Mapping[str, Any], stages: Iterable[str]) -> dict[str, dict[str, Any]]:
    """What stages came from, as `dvc.lock` has it: `code`, digest by stage, and `parameters`, value by key."""
    code: dict[str, str] = {}
    parameters: dict[str, Any] = {}
    for stage in stages:
        read = lock[stage].get("params", {})
        code |= {name: digest for name, digest in read.get("code.yaml", {}).items() if name == stage}
        parameters |= read.get("params.yaml", {})
    return {"code": code, "parameters": parameters}


def list_changes(kept: Mapping[str, Any], digests: Mapping[str, str], tree: Mapping[str, Any]) -> list[str]:
    """What has changed since results were made, in words, where code and parameters are these now.

    `kept` has the results, with what `record` gave.
    """
    changes = [
        f"the code of {stage}" if stage in digests else f"{stage} is no more"
        for stage, digest in kept["code"].items()
        if digests.get(stage) != digest
    ]
    return changes + [key for key, value in kept["parameters"].items() if value_in(tree, key) != value]


def out_of_date(root: Path, pipelines: Sequence[str]) -> dict[Result, list[str]]:
    """{result that is out of date: why}, claims' runs first."""
    code = Code(code_root())
    reasons: dict[Result, list[str]] = {}
    for result in (*claim_runs(pipelines), *map(Result, pipelines)):
        file = root / RESULTS / f"{result.file}.json"
        kept = read_json(file) if file.exists() else {}
        why = ["never run" if not kept else "of unknown code"]
        if "code" in kept:
            tree = result.parameters(root)
            digests = {name: digest_of(parts) for name, parts in stage_parts(root, code, tree).items()}
            why = list_changes(kept, digests, tree)
        if why:
            reasons[result] = why
    return reasons


def make_results(root: Path, commit: str, results: Sequence[Result], lanes: int) -> None:
    """Make results in their order, as many at a time as there are lanes, each of which has its copies.

    What two results share, such as a world's first models, comes from DVC's run cache where one of them has made it.
    """

    def make(result: Result) -> None:
        lane = threading.current_thread().name.partition("_")[2]
        copy = clone(root, root / ".work" / "thorough" / f"{commit[:12]}-{result.pipeline}-{lane}")
        make_result(root, copy, result)

    with ThreadPoolExecutor(lanes, thread_name_prefix="lane") as pool:  # names its threads lane_0, lane_1, …
        list(pool.map(make, results))


def options(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--pipelines", nargs="+", choices=sorted(TARGETS), default=list(TARGETS), help="only these")
    parser.add_argument("--list", action="store_true", help="only say what is out of date, and why")


def run(arguments: Namespace) -> None:
    """Run what is out of date; each result is written when it is there, so that an interruption loses one at most."""
    root = Path.cwd()
    reasons = out_of_date(root, arguments.pipelines)
    for result, why in reasons.items():
        print(f"{result}: {', '.join(why[:3])}{f' and {len(why) - 3} more' if len(why) > 3 else ''}")
    print(f"{len(reasons)} runs to make" if reasons else "All results are up to date.")
    if arguments.list or not reasons:
        return
    commit = clean_commit([str(RESULTS)])
    AnswerCache(root / JOURNAL).merge(root / ANSWERS)
    room = min(count_cores(), psutil.virtual_memory().total // (6 * 2**30))  # a core and 6 GiB for each copy
    worlds = {(result.pipeline, result.world) for result in reasons if result.world is not None}
    make_results(root, commit, list(reasons), max(1, min(room, len(worlds))))  # more would make a world more than once
