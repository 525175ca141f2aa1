"""A stage ends with the DVC that runs it, a lane with `trivium lanes`, and that with `make`: a kill leaves no orphans.

Whoever starts a process that is to end with it says its own number in `ENDS_WITH`.
"""

import os
import signal
from typing import Any

ENDS_WITH = "TRIVIUM_ENDS_WITH"
WARM_START = "TRIVIUM_WARM_START"  # address of the process that a stage may be forked from, see `warm_start.py`


def install(run: Any) -> None:
    """Let every stage know its DVC, and what it may be forked from.

    Args:
        run: the module `dvc.stage.run`.
    """
    prepare = run.prepare_kwargs

    def prepare_kwargs(stage: Any, run_env: Any = None) -> dict[str, Any]:
        kwargs: dict[str, Any] = prepare(stage, run_env=run_env)
        kwargs["env"][ENDS_WITH] = str(os.getpid())
        if "-m stages." in str(stage.cmd):
            from . import warm_stages

            if address := warm_stages.address():
                kwargs["env"][WARM_START] = address
        return kwargs

    run.prepare_kwargs = prepare_kwargs


def end_with() -> None:
    """Watch the process that started this one, if it said so; end when it ends. Linux only."""
    said = os.environ.pop(ENDS_WITH, None)  # not for those that this process starts
    if said is None or not hasattr(os, "pidfd_open"):
        return
    try:
        parent = os.pidfd_open(int(said))
    except ProcessLookupError:
        os.kill(os.getpid(), signal.SIGTERM)
        return
    import select
    import threading

    def wait_and_end() -> None:
        select.select([parent], [], [])
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait_and_end, name="ends with its parent", daemon=True).start()
