"""Mutation testing, resumably: `make mutate N=2000 SEED=0`.

Mutants are drawn by the seed from `trivium/measures`, `formats` and `harness`, and tried in a scratch copy of the tree.
`tests/mutation/seed-0.jsonl` holds what became of each, and is committed, so that the next run goes on from there. A mutant is
tried again when its module has changed, and one that survived also when its tests have.
"""

import argparse
import hashlib
import signal
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tests.mutation.mutants import ROOMS, Mutant, draw
from tests.mutation.progress import Tried, append_progress, edit, read_progress, summarise, tidy_progress
from tests.mutation.trial import NO_PYTHON, OF_HARNESS, SHARED, SURVIVED, UNTESTED, Trials, processor_seconds

ROOT = Path(__file__).parents[2]


def main(argv: Sequence[str] | None = None) -> None:
    """Try the mutants that are missing; exits with 1 when fewer than nine of ten were killed."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--mutants", type=int, default=2000, help="how many (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="draws them (default: %(default)s)")
    parser.add_argument("--rooms", nargs="+", choices=ROOMS, default=ROOMS, help="of the library (default: all)")
    parser.add_argument("--progress", type=Path, help="what became of them (default: tests/mutation/seed-N.jsonl)")
    parser.add_argument(
        "--near", action="store_true", help="do not ask slow and far tests about what survives the others"
    )
    given = parser.parse_args(argv)
    given.progress = given.progress or ROOT / "tests" / "mutation" / f"seed-{given.seed}.jsonl"
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        packages = SHARED + OF_HARNESS if "harness" in given.rooms else SHARED
        tried = go_on(Trials(ROOT, Path(folder), ROOT / ".work" / "mutation-times.json", packages), given)
        current = {mutant.key for mutant in draw(ROOT, given.seed)}
        tidy_progress(given.progress, (one for key, one in read_progress(given.progress).items() if key in current))
    print(summarise(tried))
    survived = sum(one.verdict in (SURVIVED, UNTESTED) for one in tried)
    sys.exit(survived > len(tried) / 10)


def go_on(trials: Trials, given: argparse.Namespace) -> list[Tried]:
    """Try the sample by the nearest tests, then those that survived by the others; what was tried before is kept.

    Raises:
        ValueError: there are not so many mutants.
    """
    done, sample = read_progress(given.progress), dict[Mutant, Tried]()
    for mutant in draw(trials.tree, given.seed):
        if len(sample) == given.mutants:
            break
        if Path(mutant.module).parts[1] in given.rooms:
            tests, one = digest_of(trials, mutant), done.get(mutant.key)
            if one is None or (one.verdict in (SURVIVED, UNTESTED) and one.tests != tests):
                one = try_out(trials, mutant, tests, False, given.progress)
            if one.verdict != NO_PYTHON:
                sample[mutant] = one
    else:
        raise ValueError(f"{len(sample)} mutants are all there are; {given.mutants} are wanted")
    for mutant, one in sample.items():
        if one.verdict == SURVIVED and not one.far and not given.near:
            sample[mutant] = try_out(trials, mutant, one.tests, True, given.progress)
    return list(sample.values())


def try_out(trials: Trials, mutant: Mutant, tests: str, far: bool, progress: Path) -> Tried:
    """Try a mutant, and note what came of it."""
    before, text = processor_seconds(), (trials.tree / mutant.module).read_text("utf-8")
    verdict = trials.test(mutant, far)
    seconds, edited = processor_seconds() - before, edit(text, mutant.apply(text))
    tried = Tried(mutant, verdict.name, verdict.by.partition("[")[0])
    if verdict.name in (SURVIVED, UNTESTED):
        tried = replace(tried, tests=tests, far=far, edit=edited)
    append_progress(progress, tried)
    print(f"{mutant.module}:{mutant.line} {edited[1]}: {tried.verdict} {tried.by} ({seconds:.1f} s)", flush=True)
    return tried


def digest_of(trials: Trials, mutant: Mutant) -> str:
    """Of the nearest tests."""
    files = trials.tests(mutant.module, far=False)
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()[:12]


if __name__ == "__main__":
    main()
