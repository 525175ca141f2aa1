"""The claims on the page: what was found in every world, and whether it holds."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from trivium.claims.registry import CLAIMS, TRAININGS, WORLDS, Verdict
from trivium.claims.verdicts import Judged
from trivium.core.tables import read_json
from trivium.page.common import environment

ITEMS = {"kvqae": "questions", "decorrelation": "pictures", "complexity": "texts"}  # what is resampled
LONGER = {"kvqae"}  # is trained longer for the claims than by default, see scales/claims.yaml


def claims_html(judged: Sequence[Judged], folder: Path, pipeline: str) -> str | None:
    """The claims of a pipeline, or None where `make thorough` has not run.

    Args:
        judged: all of them.
        folder: of the results of `make thorough`, for their dates.
        pipeline: its name.
    """
    if not judged[0].worlds:
        return None
    return (
        environment()
        .get_template("claims.html")
        .render(
            rows=[{"claim": row.claim, "verdict": row.verdict, "worlds": by_world(row)} for row in judged],
            worlds=WORLDS,
            trainings=len(TRAININGS),
            complete=judged[0].complete,
            items=ITEMS[pipeline],
            longer=pipeline in LONGER,
            measured=when(folder, pipeline),
        )
    )


def by_world(row: Judged) -> list[object]:
    """What was found in each of `WORLDS`, None where nothing was looked for."""
    found = {each.world: each for each in row.worlds}
    return [found.get(world) for world in WORLDS]


def when(folder: Path, pipeline: str) -> str:
    """From when to when, and at which commits."""
    results = [read_json(file) for file in sorted((folder / pipeline).glob("*.json"))]
    dates = sorted({result["date"] for result in results})
    commits: Sequence[str] = sorted({result["commit"][:8] for result in results})
    days = dates[0] if len(dates) == 1 else f"from {dates[0]} to {dates[-1]}"
    return f"{'on ' if len(dates) == 1 else ''}{days} at commit{'s' if len(commits) > 1 else ''} {', '.join(commits)}"


# What stands first on a pipeline's page, as claims here: all of them, or (of factors) any.
FRONT: dict[str, tuple[Callable[[Iterable[bool]], bool], frozenset[str]]] = {
    "kvqae": (all, frozenset({"image_adds"})),
    "decorrelation": (all, frozenset({"clip_looks", "clip_keeps"})),
    "complexity": (any, frozenset(claim.name for claim in CLAIMS["complexity"])),
}


def front_html(judged: Iterable[Judged], pipeline: str) -> str:
    """What the worlds say of the sentence that stands first, for behind it; empty where not all runs are there."""
    enough, names = FRONT[pipeline]
    first = [row for row in judged if row.claim.name in names]
    if not all(row.complete for row in first):
        return ""
    holds = enough(row.verdict == "holds" for row in first)
    against = [row.verdict == "does not hold" for row in first]
    refuted = any(against) if enough is all else all(against)
    said: Verdict = "holds" if holds else "does not hold" if refuted else "cannot tell"
    return (
        environment().get_template("claim_in_worlds.html").render(verdict=said, worlds=WORLDS, trainings=len(TRAININGS))
    )
