"""Whether claims hold: in each world over its trainings, and in all worlds."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from trivium.claims.evidence import stacked
from trivium.claims.registry import CLAIMS, TRAININGS, WORLDS, Claim, Verdict
from trivium.measures.trainings import Difference, over_trainings


@dataclass(frozen=True)
class InWorld:
    """A claim in one world: of its parts the one that speaks least for it.

    Attributes:
        world: its seed.
        trainings: how many were compared.
        difference: what was found.
        verdict: of it.
    """

    world: int
    trainings: int
    difference: Difference
    verdict: Verdict


@dataclass(frozen=True)
class Judged:
    """A claim in all worlds that there are; it holds where it holds in each, and all of them have all trainings."""

    claim: Claim
    worlds: tuple[InWorld, ...]
    verdict: Verdict
    complete: bool  # every world has all of its trainings


def verdict(claim: Claim, found: Difference) -> Verdict:
    """What an interval says of a claim.

    More: it holds where the interval lies above 0, and does not where it lies below. Kept: with the margin in the place
    of 0. None: it does not hold where the interval leaves out 0, and holds where it is within the margin.
    """
    if claim.expected == "none":
        if found.low > 0 or found.high < 0:
            return "does not hold"
        return "holds" if max(-found.low, found.high) < claim.margin else "cannot tell"
    least = -claim.margin if claim.expected == "kept" else 0.0
    if found.low > least:
        return "holds"
    return "does not hold" if found.high < least else "cannot tell"


def judge(pipeline: str, evidence: Mapping[int, Sequence[pa.Table]]) -> Iterator[Judged]:
    """Every claim of a pipeline.

    Args:
        pipeline: its name.
        evidence: by world, the tables of its trainings, as `gather` gives them; worlds without any are left out.
    """
    for claim in CLAIMS[pipeline]:
        worlds = tuple(_in_world(claim, world, tables) for world, tables in sorted(evidence.items()) if tables)
        complete = {each.world: each.trainings for each in worlds} == dict.fromkeys(WORLDS, len(TRAININGS))
        verdicts: list[Verdict] = [each.verdict for each in worlds]
        if not complete:
            verdicts.append("cannot tell")
        yield Judged(claim, worlds, _together(verdicts), complete)


def _in_world(claim: Claim, world: int, tables: Sequence[pa.Table]) -> InWorld:
    parts = [over_trainings(stacked(tables, claim.name, part)) for part in claim.parts]
    said = _together([verdict(claim, part) for part in parts])
    return InWorld(world, len(tables), min(parts, key=lambda part: part.value), said)


def _together(verdicts: Sequence[Verdict]) -> Verdict:
    """It holds where each says so, and does not where any says so."""
    if "does not hold" in verdicts:
        return "does not hold"
    return "holds" if set(verdicts) == {"holds"} else "cannot tell"
