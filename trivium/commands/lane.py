"""One lane of `make repro`: DVC itself, opened once, which runs the stages that `trivium lanes` hands it.

It says over a pipe that it is there, and is handed a stage's name and environment; it says how that went, and so on
until the pipe is closed. While it waits it holds no lock of DVC's. A stage that fails does not end it.
"""

import os
import sys
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any, NoReturn

PIPE = "TRIVIUM_LANE"  # its number, in a lane's environment
PATIENCE = 0.3  # seconds; DVC looks for its free lock each sixth of it, by itself only twice a second

# How it went with a stage: the seconds of its command, None where nothing had changed or DVC knew its outputs; what DVC
# says where it failed.
Went = tuple[float | None, str | None]


def reproduce_handed(stages: Sequence[Any], graph: Any = None, force: bool = False, **options: Any) -> list[Any]:
    """What DVC calls to run its targets one after the other, in place of its own `_reproduce`; those that ran.

    Args:
        stages: all that may be handed over.
        graph: DVC gives none with `--single-item`.
        force, options: of `dvc repro`.
    """
    from dvc.repo.reproduce import _reproduce_stage, logger

    del options["on_error"], options["force_downstream"]  # are decided by who hands them over
    by_name = {stage.addressing: stage for stage in stages}
    repo, took = stages[0].repo, clocked()
    ran: list[Any] = []
    pipe = Connection(int(os.environ.pop(PIPE)))
    said: Went | None = None
    while True:
        repo.lock.unlock()
        repo._reset()
        try:
            pipe.send(said)
            name, environment = pipe.recv()
        except (EOFError, ConnectionError):
            return ran
        finally:
            repo.lock.lock()
        os.environ.update(environment)
        took.clear()
        try:
            if _reproduce_stage(by_name[name], upstream=[], force=force, **options):
                ran.append(by_name[name])
            said = sum(took) if took else None, None
        except Exception as error:  # as DVC does
            logger.error("stage '%s' failed: %s", name, error)
            said = None, str(error)


def clocked() -> list[float]:
    """Let DVC note how long each command takes that it runs, at the end of this list."""
    from dvc.stage import run

    took: list[float] = []
    command = run.cmd_run

    def timed(*arguments: Any, **options: Any) -> None:
        started = time.monotonic()
        command(*arguments, **options)
        took.append(time.monotonic() - started)

    run.cmd_run = timed
    return took


def main() -> NoReturn:
    """DVC with the arguments of this command."""
    from importlib import import_module

    from dvc.cli import main as dvc

    import_module("dvc.repo.reproduce")._reproduce = reproduce_handed  # type: ignore[attr-defined]
    import_module("dvc.lock").DEFAULT_TIMEOUT = PATIENCE  # type: ignore[attr-defined]
    raise SystemExit(dvc(sys.argv[1:]))


if __name__ == "__main__":
    main()
