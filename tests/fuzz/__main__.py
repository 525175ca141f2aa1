"""Fuzz every reader with many cases, resumably: `make fuzz N=200000 SEED=0`.

`.work/fuzz.json` holds how many cases of each seed a reader has had; a run that is stopped goes on from there, and one
with a larger N adds what is missing. What is found is kept in `tests/fuzz/finds` and fails the tests until it is mended.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from tests.fuzz.fuzzing import first_failure, keep
from tests.fuzz.readers import READERS
from trivium.core.tables import read_json, write_json

PROGRESS = Path(".work/fuzz.json")
CHUNK = 1000  # cases between two notes of the progress


def main() -> None:
    """Try the cases that are missing, all readers in turn; exits with 1 when something was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, required=True, help="a reader")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--readers", nargs="*", choices=READERS, default=list(READERS))
    arguments = parser.parse_args()
    progress = read_json(PROGRESS) if PROGRESS.exists() else {}
    done = progress.setdefault(arguments.seed, {})
    found: set[str] = set()  # readers that rest until they are mended
    with tempfile.TemporaryDirectory() as folder:
        for start in range(0, arguments.cases, CHUNK):
            end = min(start + CHUNK, arguments.cases)
            for name in sorted(set(arguments.readers) - found):
                if done.get(name, 0) >= end:
                    continue
                case = first_failure(name, Path(folder), arguments.seed, range(start, end))
                if case is None:
                    done[name] = end
                    write_json(PROGRESS, progress)
                else:
                    found.add(name)
                    print(f"{name} fails: {keep(name, case)}", file=sys.stderr, flush=True)
    print(
        f"{sum(done.values())} cases of {len(done)} readers with seed {arguments.seed} so far; {len(found)} readers fail"
    )
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
