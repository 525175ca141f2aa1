"""Whether claims hold: in each world over its trainings, and in all worlds."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from trivium.claims.evidence import stacked
from trivium.claims.registry import CLAIMS, TRAININGS, WORLDS, Claim, Verdict
from trivium.measures.contrasts import ContrastMean, mean_contrast
from trivium.measures.trainings import Difference, Sides, over_trainings


@dataclass(frozen=True)
class InWorld:
    """A claim in one world, by the one of its parts that speaks least for it."""

    world: int  # its seed
    trainings: int  # how many were compared
    difference: Difference  # of a cost δ, which is below 0 where the factor costs
    verdict: Verdict


@dataclass(frozen=True)
class Judged:
    """A claim in all worlds that there are; it holds where it holds in each, and all of them have all trainings."""

    claim: Claim
    worlds: tuple[InWorld, ...]
    verdict: Verdict
    complete: bool  # every world has all of its trainings
    readers: Mapping[str, ContrastMean] = field(default_factory=dict)  # of a cost: δ over all worlds and trainings


def verdict(claim: Claim, difference: Difference) -> Verdict:
    """What an interval says of a claim.

    More: it holds where the interval lies above 0, and does not where it lies below. A cost: the other way round, and
    there is no effect where the interval lies above minus the margin. Kept: with minus the margin in the place of 0.
    None: it does not hold where the interval leaves out 0, and holds where it is within the margin.
    """
    if claim.expected == "none":
        if difference.low > 0 or difference.high < 0:
            return "does not hold"
        return "holds" if max(-difference.low, difference.high) < claim.margin else "cannot tell"
    if claim.expected == "costs":
        if difference.high < 0:
            return "holds"
        if -claim.margin < difference.low < 0 <= difference.high:
            return "no effect"
        return "does not hold" if difference.low > 0 else "cannot tell"
    least = -claim.margin if claim.expected == "kept" else 0.0
    if difference.low > least:
        return "holds"
    return "does not hold" if difference.high < least else "cannot tell"


def judge(pipeline: str, evidence: Mapping[int, Sequence[pa.Table]]) -> Iterator[Judged]:
    """Judge every claim of a pipeline.

    Args:
        pipeline: its name.
        evidence: by world, the tables of its trainings, as `gather` gives them; worlds without any are left out.
    """
    for claim in CLAIMS[pipeline]:
        worlds = tuple(_in_world(claim, world, tables) for world, tables in sorted(evidence.items()) if tables)
        complete = {in_world.world: in_world.trainings for in_world in worlds} == dict.fromkeys(
            WORLDS[pipeline], len(TRAININGS)
        )
        verdicts: list[Verdict] = [in_world.verdict for in_world in worlds]
        if not complete:
            verdicts.append("cannot tell")
        if claim.expected == "costs" and worlds:
            contrasts = {part: [_contrasts(claim, part, tables) for tables in evidence.values() if tables]
                         for part in claim.parts}  # fmt: skip
            said = judge_cost(contrasts, claim.margin) if complete else "cannot tell"
            yield Judged(claim, worlds, said, complete, {part: mean_contrast(of) for part, of in contrasts.items()})
        else:
            yield Judged(claim, worlds, _together(verdicts), complete)


def judge_cost(contrasts: Mapping[str, Sequence[NDArray[np.float64]]], margin: float) -> Verdict:
    """One verdict on what a factor costs readers, over all worlds and trainings together.

    It holds where each reader's interval of δ lies below 0, does not where each lies above, and there is no effect
    where each lies above minus the margin; but no world's own interval may say the opposite. Readers differ where one's
    interval lies below 0, another's above minus the margin, and that of their difference leaves out 0.

    Args:
        contrasts: of each reader, by world (facts, trainings): δ, the score with the factor less that without it.
        margin: up to which a cost is none.
    """
    intervals = {reader: mean_contrast(worlds).interval() for reader, worlds in contrasts.items()}
    own = [mean_contrast([world]).interval() for worlds in contrasts.values() for world in worlds]
    if all(high < 0 for _, high in intervals.values()) and all(low < 0 for low, _ in own):
        return "holds"
    if all(low > 0 for low, _ in intervals.values()) and all(high > 0 for _, high in own):
        return "does not hold"
    if all(low > -margin for low, _ in intervals.values()) and all(high > -margin for _, high in own):
        return "no effect"
    for more, (_, high) in intervals.items():
        for less, (low, _) in intervals.items():
            if high < 0 and low > -margin:
                apart = [one - other for one, other in zip(contrasts[more], contrasts[less], strict=True)]
                if mean_contrast(apart).interval()[1] < 0:
                    return "differs"
    return "cannot tell"


def _sides(claim: Claim, part: str, tables: Sequence[pa.Table]) -> Sides:
    """The evidence of one part over trainings; of a cost the sides change places, so that their difference is δ."""
    sides = stacked(tables, claim.name, part)
    if claim.expected != "costs":
        return sides
    return Sides(sides.other, sides.other_count, sides.better, sides.better_count)


def _contrasts(claim: Claim, part: str, tables: Sequence[pa.Table]) -> NDArray[np.float64]:
    """δ of one world, (facts, trainings)."""
    sides = _sides(claim, part, tables)
    return (sides.better - sides.other).T


def _in_world(claim: Claim, world: int, tables: Sequence[pa.Table]) -> InWorld:
    parts = [over_trainings(_sides(claim, part, tables), permutations=10_000) for part in claim.parts]
    said = _together([verdict(claim, part) for part in parts])
    weakest = (max if claim.expected == "costs" else min)(parts, key=lambda part: part.value)
    return InWorld(world, len(tables), weakest, said)


def _together(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict that all share; `does not hold` where any is that, else `cannot tell`."""
    if "does not hold" in verdicts:
        return "does not hold"
    return verdicts[0] if len(set(verdicts)) == 1 else "cannot tell"
