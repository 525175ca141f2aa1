"""One lane of `make repro`: DVC itself, going on after a stage that failed with what does not need it.

With `--single-item --keep-going` DVC looks at no graph: it would also run what needs the stage. This leaves that out,
takes its sections from the page, where they would be an earlier run's, and tells `trivium lanes` which stages failed,
by lines of JSON in the file whose number is in `FAILURES`.
"""

import json
import os
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any, NoReturn

FAILURES = "TRIVIUM_FAILURES"
PARTS = Path("metrics/report/parts")  # of the page
SHELL = "report"  # assembles the page of the sections that there are: it needs none


def after_failure(graph: Any, on_error: str, problem: Exception, stage: Any) -> set[Any]:
    """What DVC calls for a stage that failed, in place of its own `handle_error`: the stages to leave out.

    Args:
        graph: of stages; DVC gives none with `--single-item`.
        on_error: is `keep-going`.
        problem: what DVC says.
        stage: which failed.
    """
    from dvc.repo.reproduce import logger
    from networkx import ancestors

    logger.error("stage '%s' failed: %s", stage.addressing, problem)
    with os.fdopen(os.dup(int(os.environ[FAILURES])), "a", encoding="utf-8") as out:
        out.write(json.dumps({"stage": stage.addressing, "error": str(problem)}) + "\n")
    left_out = {each for each in ancestors(stage.repo.index.graph, stage) if each.addressing != SHELL}
    remove_parts({each.addressing for each in (*left_out, stage)})
    return left_out


def remove_parts(stages: Collection[str]) -> bool:
    """Take from the page what these stages made; whether there was anything."""
    from trivium.page.contents import stage_of

    found = [file for file in PARTS.glob("*/*.json") if stage_of(file.parent.name, file.stem) in stages]
    for file in found:
        file.unlink()
    return bool(found)


def main() -> NoReturn:
    """DVC with the arguments of this command."""
    from importlib import import_module

    from dvc.cli import main as dvc

    import_module("dvc.repo.reproduce").handle_error = after_failure  # type: ignore[attr-defined]
    raise SystemExit(dvc(sys.argv[1:]))


if __name__ == "__main__":
    main()
