"""Stage `code`: the digest of every other stage's code, into `code.yaml` (see `trivium/core/code`)."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from trivium.core.code.digest import CODE_YAML, Code, code_root, digest_of, read_digests, stage_parts, write_code
from trivium.core.errors import BadInput


def changed_stages(folder: Path, root: Path) -> list[str]:
    """The stages whose digest is not what `code.yaml` has."""
    now = {name: digest_of(parts) for name, parts in stage_parts(folder, Code(root)).items()}
    before = read_digests(folder / CODE_YAML)
    return sorted(name for name in {*now, *before} if now.get(name) != before.get(name))


def main(argv: Sequence[str] | None = None) -> None:
    """Entry point: bad input ends in one clear message and exit code 1."""
    parser = argparse.ArgumentParser(
        prog="python -m stages.code", description="Write the digest of every stage's code."
    )
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--why", metavar="STAGE", help="print what the stage's digest covers; write nothing")
    choice.add_argument("--check", action="store_true", help="print changed stages, exit 1 if there are; write nothing")
    arguments = parser.parse_args(argv)
    try:
        raise SystemExit(_run(arguments.why, arguments.check))
    except BadInput as error:
        print(f"code: {error}", file=sys.stderr)
        raise SystemExit(1) from None


def _run(why: str | None, check: bool) -> int:
    folder, root = Path(), code_root()
    if check:
        changed = changed_stages(folder, root)
        print("\n".join(changed) or "no stage's code has changed")
        return int(bool(changed))
    if why is None:
        write_code(folder, root)
        return 0
    stages = stage_parts(folder, Code(root))
    chosen = [name for name in stages if name == why or name.startswith(f"{why}@")]
    if not chosen:
        raise BadInput("no such stage that runs code of the project", got=why, choices=stages)
    for name in chosen:
        parts = sorted(stages[name].items(), key=lambda part: (" " in part[0], part))  # packages last, with versions
        lines = [f"{part} {entry}" if " " in part else part for part, entry in parts]
        print("\n  ".join([f"{name} {digest_of(stages[name])}", *lines]))
    return 0


if __name__ == "__main__":
    main()
