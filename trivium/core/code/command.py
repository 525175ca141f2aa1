"""The stage `code` as a command: writes, checks or explains `code.yaml` for the pipeline of the current folder."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from trivium.core.code.digest import Code, Parts, code_root
from trivium.core.code.pipeline import Pipeline
from trivium.core.code.written import CODE_YAML, read_digests, write_digests
from trivium.core.errors import BadInput

OWN_STAGE = "code"  # has no digest: it always runs


def all_parts(folder: Path, root: Path) -> dict[str, Parts]:
    """What the code of every stage of a folder's pipeline reaches, by the stage's name.

    Raises:
        BadInput: `dvc.yaml` or a module cannot be read.
    """
    pipeline, code = Pipeline(folder), Code(root)
    found = {name: pipeline.parts(code, name) for name in pipeline.cells if name != OWN_STAGE}
    code.save()
    return {name: parts for name, parts in found.items() if parts is not None}


def changed_stages(folder: Path, root: Path) -> list[str]:
    """The stages whose digest is not what `code.yaml` has."""
    now = {name: parts.digest for name, parts in all_parts(folder, root).items()}
    before = read_digests(folder / CODE_YAML)
    return sorted(name for name in {*now, *before} if now.get(name) != before.get(name))


def write_code(folder: Path, root: Path) -> None:
    """Write `code.yaml` for the pipeline of a folder.

    Raises:
        BadInput: see `all_parts`.
    """
    write_digests(folder / CODE_YAML, {name: parts.digest for name, parts in all_parts(folder, root).items()})


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
    stages = all_parts(folder, root)
    chosen = [name for name in stages if name == why or name.startswith(f"{why}@")]
    if not chosen:
        raise BadInput("no such stage that runs code of the project", got=why, choices=stages)
    print("\n".join(f"{name} {stages[name].explain()}" for name in chosen))
    return 0


if __name__ == "__main__":
    main()
