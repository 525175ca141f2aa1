"""`dvc exp run` hands Git the files of its stages once, after the last of them.

DVC does it after every stage, also after one in which nothing has changed: each time Git's whole index is read and
written, and DVC reads its own files anew after each stage that ran. In a graph of 150 stages that took longer than
the stages of a small experiment.
"""

from typing import Any


def install(base: Any) -> None:
    """Replace what runs a stage of an experiment, and let its files come with those beside them.

    Args:
        base: the module `dvc.repo.experiments.executor.base`.
    """
    executor = base.BaseExecutor
    top_level_paths = executor._get_top_level_paths
    went: list[Any] = []

    def repro_and_track(stage: Any, **options: Any) -> Any:
        from dvc.repo.reproduce import _reproduce_stage

        ran = _reproduce_stage(stage, **options)
        if not options.get("dry"):
            went.append(stage)
        return ran

    def get_top_level_paths(repo: Any) -> list[str]:
        from dvc.stage.utils import _get_stage_files

        paths = [path for stage in went for path in _get_stage_files(stage)]
        went.clear()
        return [*dict.fromkeys(paths), *top_level_paths(repo)]

    executor._repro_and_track = staticmethod(repro_and_track)
    executor._get_top_level_paths = staticmethod(get_top_level_paths)
