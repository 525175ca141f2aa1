"""What became of mutants, one JSON list a line, and what they come to."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass
from pathlib import Path

from tests.mutation.mutants import Mutant
from tests.mutation.trial import KILLED, SURVIVED, TIMEOUT, UNTESTED


@dataclass(frozen=True)
class Tried:
    """A mutant that was tried.

    Attributes:
        mutant: which.
        verdict: what came of it.
        by: the test that noticed.
        tests: of a survivor, a digest of the nearest tests: it is tried again when they have changed.
        far: whether the others were asked too, of a survivor.
        edit: of a survivor, the lines that differ, before and after.
    """

    mutant: Mutant
    verdict: str
    by: str = ""
    tests: str = ""
    far: bool = False
    edit: tuple[str, str] = ("", "")


def read_progress(file: Path) -> dict[str, Tried]:
    """The last trial of each mutant, by its key; a line that was cut off is none."""
    tried = {}
    for line in file.read_text("utf-8").splitlines() if file.exists() else []:
        try:
            mutant, verdict, by, tests, far, edited = json.loads(line)
        except ValueError:
            continue
        one = Tried(Mutant(*mutant), verdict, by, tests, far, (edited[0], edited[1]))
        tried[one.mutant.key] = one
    return tried


def append_progress(file: Path, tried: Tried) -> None:
    """Add a trial, on a line of its own even after a cut one."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as lines:
        lines.write(f"\n{_line(tried)}")


def tidy_progress(file: Path, tried: Iterable[Tried]) -> None:
    """Keep these trials alone, by module and line, so that the file can be compared and committed."""
    rows = sorted(tried, key=lambda one: (one.mutant.module, one.mutant.line, one.mutant.key))
    beside = file.with_suffix(".partial")
    beside.write_text("".join(_line(one) for one in rows), "utf-8")
    beside.replace(file)


def _line(tried: Tried) -> str:
    return json.dumps(astuple(tried), ensure_ascii=False, separators=(",", ":")) + "\n"


def edit(before: str, after: str) -> tuple[str, str]:
    """The lines in which two texts differ, joined by spaces."""
    old, new = before.splitlines(), after.splitlines()
    start = next((at for at, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), 0)
    end = next((at for at, (one, other) in enumerate(zip(old[::-1], new[::-1], strict=False)) if one != other), 0)
    return _joined(old[start : len(old) - end]), _joined(new[start : len(new) - end])


def _joined(lines: Iterable[str]) -> str:
    return " ".join(line.strip() for line in lines)


def summarise(tried: Iterable[Tried]) -> str:
    """A table by room, and the survivors."""
    tried = list(tried)
    rooms = sorted({_room(one) for one in tried})
    counts = {room: Counter(one.verdict for one in tried if _room(one) == room) for room in rooms}
    rows = [_row(room, counts[room]) for room in rooms] + [_row("all", Counter(one.verdict for one in tried))]
    survivors = sorted(
        (one for one in tried if one.verdict in (SURVIVED, UNTESTED)),
        key=lambda one: (one.mutant.module, one.mutant.line),
    )
    return "\n".join(
        [
            "| room | mutants | a test failed | out of time | survived | killed |",
            "|---|---|---|---|---|---|",
            *rows,
            "",
            *(f"{one.mutant.module}:{one.mutant.line}: {one.edit[0]}  ->  {one.edit[1]}" for one in survivors),
        ]
    )


def _room(tried: Tried) -> str:
    return Path(tried.mutant.module).parts[1]


def _row(name: str, counts: Mapping[str, int]) -> str:
    total, killed = sum(counts.values()), counts[KILLED] + counts[TIMEOUT]
    cells = [name, str(total), str(counts[KILLED]), str(counts[TIMEOUT]), str(counts[SURVIVED] + counts[UNTESTED])]
    return f"| {' | '.join(cells)} | {killed / total:.1%} |"
