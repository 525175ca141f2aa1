"""Rounds that are done, one JSON object a line, and what they come to."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.kill.campaign import HIT, MISSED, WENT_ON, Outcome
from tests.kill.plan import SIGNALS

FAULTS = ("lost", "different", "half-written", "refused", "orphan", "hung")
"""What a fault begins with. After a refusal somebody would have to mend by hand."""


def read_progress(file: Path) -> dict[int, Outcome]:
    """The rounds of a file, by seed; a line that a kill of the harness has cut is none."""
    outcomes = {}
    for line in file.read_text("utf-8").splitlines() if file.exists() else []:
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            continue
        del row["commit"]
        outcomes[row["seed"]] = Outcome(**row)
    return outcomes


def append_progress(file: Path, outcome: Outcome, commit: str) -> None:
    """Add a round, on a line of its own even after a cut one."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as lines:
        lines.write(f"\n{json.dumps({'commit': commit, **asdict(outcome)})}\n")


def describe(outcome: Outcome) -> str:
    """A line for the round, and one for each fault."""
    kills = ", ".join(f"{kill['moment']} {kill['signal']} {kill['victim']} {kill['verdict']}" for kill in outcome.kills)
    verdict = "sound" if not outcome.faults else "FAULTS"
    line = f"seed {outcome.seed}: {outcome.way}: {kills}: {verdict} ({outcome.seconds:.0f} s)"
    return "\n".join([line, *(f"  {fault}" for fault in outcome.faults)])


def summarise(outcomes: Iterable[Outcome]) -> str:
    """Tables of kills by moment and signal and by victim and signal, those with faults beside them; then what they were."""
    outcomes = list(outcomes)
    kills = [kill for outcome in outcomes for kill in outcome.kills]
    done = [kill for kill in kills if kill["verdict"] != MISSED]
    found = Counter(kind for kill in kills for kind in set(_kinds(kill["faults"])))
    verdicts = Counter(kill["verdict"] for kill in kills)
    return "\n".join(
        [
            *_table("moment", done),
            "",
            *_table("victim", done),
            "",
            f"{len(done)} kills in {len(outcomes)} rounds, each compared with an undisturbed run: "
            + ", ".join(f"{found[kind]} {kind}" for kind in FAULTS),
            f"{verdicts[HIT]} hit, {verdicts[WENT_ON]} were passed over by whom they hit, "
            f"{verdicts[MISSED]} more came too late and do not count",
            "commands: " + _listed(outcome.way for outcome in outcomes for _ in range(outcome.hits)),
        ]
    )


def _table(name: str, kills: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Kills by what they have under a name, and by signal."""
    counts = Counter((kill[name], kill["signal"]) for kill in kills)
    faulty = Counter((kill[name], kill["signal"]) for kill in kills if kill["faults"])
    yield f"| {name} | {' | '.join(SIGNALS)} |"
    yield f"|---|{'---|' * len(SIGNALS)}"
    for row in sorted({kill[name] for kill in kills}):
        yield f"| {row} | {' | '.join(_cell(counts[row, signal], faulty[row, signal]) for signal in SIGNALS)} |"


def _kinds(faults: Iterable[str]) -> Iterable[str]:
    return (fault.partition(":")[0] for fault in faults)


def _cell(kills: int, faulty: int) -> str:
    return f"{kills}, **{faulty} faulty**" if faulty else str(kills)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in Counter(names).most_common())
