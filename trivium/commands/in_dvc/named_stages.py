"""Stages asked for by name come out of the graph that DVC has read: it would read `dvc.yaml` once more for each."""

from collections.abc import Iterable
from typing import Any


def install(reproduce: Any) -> None:
    """Replace how `dvc repro` finds its targets.

    Args:
        reproduce: the module `dvc.repo.reproduce`.
    """
    collect = reproduce.collect_stages

    def collect_stages(repo: Any, targets: Iterable[str], recursive: bool = False, glob: bool = False) -> list[Any]:
        targets = list(targets)
        if len(targets) > 1 and not recursive and not glob:
            found = {stage.addressing: stage for stage in repo.index.stages}
            if all(target in found for target in targets):
                return [found[target] for target in dict.fromkeys(targets)]
        return collect(repo, targets, recursive=recursive, glob=glob)

    reproduce.collect_stages = collect_stages
