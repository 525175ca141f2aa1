"""One run behind the claims, a pipeline in one world with one training: its parameters, and what outdates it."""

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import Any

from trivium.claims.registry import TRAININGS, WORLDS
from trivium.core.code.digest import Code
from trivium.core.code.pipeline import Pipeline
from trivium.core.parameters import read_parameters

SCALE = Path("scales/claims.yaml")
# What leaves the evidence of `trivium/claims/evidence.py`.
TARGETS = {
    "kvqae": ("kvqae-evaluate", "kvqae-evaluate_reranking", "kvqae-read"),
    "decorrelation": ("decorrelation-evaluate",),
    "complexity": ("complexity-score", "complexity-factors"),
}
# KVQAE's trainings on the sample.
TRAINED = ("dpr_pretrain", "dpr_finetune", "rerank_pretrain", "rerank_finetune", "rrt", "reader_pretrain")


@dataclass(frozen=True, order=True)
class ClaimRun:
    """A run; its files are `{world}-{training}.json` and `.parquet` in the pipeline's folder of results.

    Attributes:
        pipeline: its name.
        training: seed of all that it trains.
        world: seed of its sample world.
    """

    pipeline: str
    training: int
    world: int

    @property
    def name(self) -> str:
        """As in its files' names."""
        return f"{self.world}-{self.training}"

    def changes(self, root: Path, params: Path) -> dict[str, Any]:
        """What it changes in `params.yaml`, as a scale.

        Args:
            root: of the project, where `SCALE` has how long KVQAE trains, and decorrelation's cells of all trainings.
            params: whose cells of decorrelation it does not need.
        """
        of_world = {"world": {"seed": self.world}}
        if self.pipeline == "complexity":
            return {"complexity": {**of_world, "finetune": {"seeds": [self.training]}}}
        told = read_parameters(root / SCALE)[self.pipeline]
        if self.pipeline == "kvqae":
            seed = {"seed": self.training} if self.training else {}  # 0 is the default
            trained = {stage: told.get(stage, {}) | seed for stage in TRAINED if seed or stage in told}
            return {"kvqae": {**told, **of_world, **trained, "read": {"seeds": [self.training]}}}
        mine = {name: cell for name, cell in told["cells"].items() if name.endswith(f"_{self.training}")}
        cells = dict.fromkeys(read_parameters(params)["decorrelation"]["cells"]) | mine
        return {"decorrelation": {**told, **of_world, "cells": cells}}


def claim_runs(pipelines: Iterable[str]) -> list[ClaimRun]:
    """Every run of the pipelines: the first training of all worlds before the second."""
    return [ClaimRun(name, training, world) for training in TRAININGS for name in pipelines for world in WORLDS]


def record(lock: Mapping[str, Any], stages: Iterable[str]) -> dict[str, dict[str, Any]]:
    """What stages came from, as `dvc.lock` has it: `code`, digest by stage, and `parameters`, value by key."""
    code: dict[str, str] = {}
    parameters: dict[str, Any] = {}
    for stage in stages:
        read = lock[stage].get("params", {})
        code |= {name: digest for name, digest in read.get("code.yaml", {}).items() if name == stage}
        parameters |= read.get("params.yaml", {})
    return {"code": code, "parameters": parameters}


def behind(lock: Mapping[str, Any], targets: Iterable[str]) -> list[str]:
    """The targets and every stage that made what they read, or what that was made of; `lock` as `dvc.lock` has them."""
    made_by = {PurePosixPath(out["path"]): stage for stage, entry in lock.items() for out in entry.get("outs", ())}
    found: set[str] = set()
    left = list(targets)
    while left:
        stage = left.pop()
        found.add(stage)
        read = [PurePosixPath(dep["path"]) for dep in lock[stage].get("deps", ())]
        makers = {
            maker
            for path in read
            for out, maker in made_by.items()
            if path == out or path in out.parents or out in path.parents
        }
        left += makers - found
    return sorted(found)


@contextmanager
def as_in(root: Path, change: Callable[[Path], None]) -> Iterator[Path]:
    """A folder with `dvc.yaml`, and `params.yaml` after a change."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        for file in ("dvc.yaml", "params.yaml"):
            copyfile(root / file, folder / file)
        change(folder / "params.yaml")
        yield folder


def outdated(
    kept: Mapping[str, Any], folder: Path, code: Code, same: Callable[[str, str], bool] = operator.eq
) -> list[str]:
    """What has changed since results were made, in words; nothing where they would come out again.

    Args:
        kept: the results, with what `record` gave.
        folder: with `dvc.yaml` and `params.yaml`, as the results would be made with now.
        code: the project's code as it is now.
        same: whether code of one digest gives what code of another gives.
    """
    pipeline, tree = Pipeline(folder), read_parameters(folder / "params.yaml")
    found = []
    for stage, digest in kept["code"].items():
        parts = pipeline.parts(code, stage) if stage in pipeline.cells else None
        if parts is None:
            found.append(f"{stage} is no more")
        elif not same(digest, parts.digest):
            found.append(f"the code of {stage}")
    for key, value in kept["parameters"].items():
        try:
            kept_value = _at(tree, key) == value
        except (KeyError, TypeError):
            kept_value = False
        if not kept_value:
            found.append(key)
    return found


def _at(tree: Any, key: str) -> Any:
    for part in key.split("."):
        tree = tree[int(part) if isinstance(tree, list) else part]
    return tree
