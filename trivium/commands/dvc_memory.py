"""DVC reads a parameter file once, not once for each stage: an unchanged `dvc repro` takes less than half the time.

`make setup` copies this module into the environment's packages, as `trivium_dvc`, beside a file `trivium_dvc.pth` that
imports it whenever Python starts there: plain `dvc` runs no other code of ours. It touches one function of DVC 3.67,
`dvc.dependency.param.load_path`, and that only where DVC imports it. A file that changes is read again.
"""

import os
import sys
from typing import Any

WATCHED = "dvc.dependency.param"


class Watch:
    """Finds nothing, but sees the import that it waits for, and takes itself away then."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """What Python asks every finder; see `importlib.abc.MetaPathFinder`."""
        if name != WATCHED:
            return None
        sys.meta_path.remove(self)
        from importlib.util import find_spec

        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: Any) -> None:
                execute(module)
                module.load_path = remembered(module.load_path)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def remembered(load_path: Any) -> Any:
    """The function, which reads a local file that has not changed since from memory. Its callers change no result."""
    known: dict[str, tuple[tuple[int, int, int], Any]] = {}

    def load_once(fs_path: str, fs: Any, **options: Any) -> Any:
        if options or getattr(fs, "protocol", None) != "local":  # of another revision, say
            return load_path(fs_path, fs, **options)
        status = os.stat(fs_path)  # noqa: PTH116 - pathlib takes longer to import than all of this
        state = (status.st_size, status.st_mtime_ns, status.st_ino)
        if fs_path not in known or known[fs_path][0] != state:
            known[fs_path] = state, load_path(fs_path, fs)
        return known[fs_path][1]

    return load_once


if __name__ == "trivium_dvc":
    sys.meta_path.insert(0, Watch())
