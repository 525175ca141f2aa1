"""What runs inside DVC: its own files survive a kill, stages end with it, and a graph of this size costs seconds less.

`make setup` copies this package into the environment's packages, as `trivium_in_dvc`, beside a file
`trivium_in_dvc.pth` that imports it whenever Python starts there: plain `dvc` runs no other code of ours. Nothing but
the standard library is imported before DVC is. `REPLACED` says which module of DVC 3.67 waits for which of ours; each
has a function `install`, and `tests/commands/in_dvc` fails when DVC changes what is replaced.
"""

import sys
from importlib import import_module
from typing import Any

REPLACED = {
    "dvc.commands.metrics": "headline_diff",
    "dvc.dependency.param": "parameter_memory",
    "dvc.utils.serialize._common": "atomic_files",
    "dvc.dvcfile": "lock_file",
    "dvc.rwlock": "rwlock",
    "dvc.repo": "whole_index",
    "dvc.repo.experiments.executor.base": "tracked_once",
    "dvc.repo.experiments.queue.base": "left_arguments",
    "dvc.repo.experiments.queue.workspace": "one_experiment",
    "dvc.repo.reproduce": "named_stages",
    "dvc.stage.cache": "run_cache",
    "dvc.stage.run": "parent",
    "dvc_data.hashfile.cache": "full_disk",
    "dvc_data.hashfile.db.local": "linked_cache",
    "dvc_data.index.checkout": "linked_checkout",
    "dulwich.file": "git_lock",
}
INSTALLED_AS = "trivium_in_dvc"
FAMILY = "trivium.commands.in_dvc"  # for the code digests: its modules are imported by the names above


class Watch:
    """Finds nothing, but sees the imports that it waits for."""

    def __init__(self) -> None:
        self.waiting = dict(REPLACED)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """What Python asks every finder; see `importlib.abc.MetaPathFinder`."""
        ours = self.waiting.pop(name, None)
        if ours is None:
            return None
        from importlib.util import find_spec

        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: Any) -> None:
                execute(module)
                try:
                    import_module(f"{__name__}.{ours}").install(module)
                except (AttributeError, ImportError) as error:
                    print(f"trivium: this DVC is not the one of uv.lock, {ours} is left out: {error}", file=sys.stderr)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


if __name__ == INSTALLED_AS:
    import os

    from . import parent

    parent.end_with()
    if parent.WARM_START in os.environ:
        from . import warm_start

        warm_start.hand_over()
    sys.meta_path.insert(0, Watch())
