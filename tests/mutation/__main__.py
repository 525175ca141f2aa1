"""Mutation testing, resumably: `make mutate N=2000 SEED=0`.

Mutants are drawn by the seed from `trivium/measures`, `formats` and `harness`, and tried in a scratch copy of the tree.
`.work/mutation.jsonl` holds what became of each. A mutant is tried again when its module has changed, and one that
survived also when its tests have.
"""

import argparse
import hashlib
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.mutation.mutants import ROOMS, Mutant, draw
from tests.mutation.progress import Tried, append_progress, edit, read_progress, summarise
from tests.mutation.trial import NO_PYTHON, SURVIVED, UNTESTED, Trials, processor_seconds

ROOT = Path(__file__).parents[2]


def main(argv: Sequence[str] | None = None) -> None:
    """Try the mutants that are missing; exits with 1 when fewer than nine of ten were killed."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--mutants", type=int, default=2000, help="how many (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="draws them (default: %(default)s)")
    parser.add_argument("--rooms", nargs="+", choices=ROOMS, default=ROOMS, help="of the library (default: all)")
    parser.add_argument("--progress", type=Path, default=ROOT / ".work" / "mutation.jsonl")
    given = parser.parse_args(argv)
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        tried = list(go_on(ROOT, Path(folder), given))
    print(summarise(tried))
    survived = sum(one.verdict in (SURVIVED, UNTESTED) for one in tried)
    sys.exit(survived > len(tried) / 10)


def go_on(root: Path, folder: Path, given: argparse.Namespace) -> Iterator[Tried]:
    """Each mutant of the sample, tried now or before.

    Args:
        root: the tree that they are of.
        folder: for the copy in which they are tried.
        given: what the command line says.

    Raises:
        ValueError: there are not so many mutants.
    """
    done, trials, count = read_progress(given.progress), Trials(root, folder), 0
    for mutant in draw(trials.tree, given.seed):
        if Path(mutant.module).parts[1] not in given.rooms:
            continue
        if count == given.mutants:
            return
        tests = digest_of(trials, mutant)
        one = done.get(mutant.key)
        if one is None or (one.verdict in (SURVIVED, UNTESTED) and one.tests != tests):
            one = try_out(trials, mutant, tests)
            append_progress(given.progress, one)
            print(f"{mutant.module}:{mutant.line} {one.edit[1]}: {one.verdict} {one.by} ({one.seconds} s)", flush=True)
        if one.verdict != NO_PYTHON:
            count += 1
            yield one
    if count < given.mutants:
        raise ValueError(f"{count} mutants are all there are; {given.mutants} are wanted")


def try_out(trials: Trials, mutant: Mutant, tests: str) -> Tried:
    """Try a mutant."""
    before, text = processor_seconds(), (trials.tree / mutant.module).read_text("utf-8")
    verdict = trials.test(mutant)
    seconds = round(processor_seconds() - before, 1)
    return Tried(mutant, verdict.name, verdict.by, tests, edit(text, mutant.apply(text)), seconds)


def digest_of(trials: Trials, mutant: Mutant) -> str:
    """Of all tests that are asked about a mutant."""
    files = [file for files in trials.tests(mutant.module) for file in files]
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()[:12]


if __name__ == "__main__":
    main()
