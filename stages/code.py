"""Stage `code`: the digest of every other stage's code, into `code.yaml` (see `trivium/core/code`)."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from trivium.core.code.digest import Code, code_root, digest_of, stage_parts, write_code
from trivium.core.errors import BadInput


def main(argv: Sequence[str] | None = None) -> None:
    """Entry point: bad input ends in one clear message and exit code 1."""
    parser = argparse.ArgumentParser(
        prog="python -m stages.code", description="Write the digest of every stage's code."
    )
    parser.add_argument("--why", metavar="STAGE", help="print what the stage's digest covers; write nothing")
    why = parser.parse_args(argv).why
    try:
        if why is None:
            write_code(Path(), code_root())
        else:
            explain(why)
    except BadInput as error:
        print(f"code: {error}", file=sys.stderr)
        raise SystemExit(1) from None


def explain(why: str) -> None:
    """Print what the digest of a stage, or of each of its cells, covers."""
    stages = stage_parts(Path(), Code(code_root()))
    chosen = [name for name in stages if name == why or name.startswith(f"{why}@")]
    if not chosen:
        raise BadInput("no such stage that runs code of the project", got=why, choices=stages)
    for name in chosen:
        parts = sorted(stages[name].items(), key=lambda part: (" " in part[0], part))  # packages last, with versions
        lines = [f"{part} {entry}" if " " in part else part for part, entry in parts]
        print("\n  ".join([f"{name} {digest_of(stages[name])}", *lines]))


if __name__ == "__main__":
    main()
