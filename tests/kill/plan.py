"""What a round does, drawn from its seed: the same seed always plans the same."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")

FULL_DISK = "full disk"
SIGNALS = {"SIGKILL": 9, "SIGTERM": 4, "SIGINT": 4, FULL_DISK: 3}
WAYS = {"make repro": 8, "dvc repro": 8, "dvc exp run": 2, "dvc push": 3, "dvc pull": 3}
MOMENTS = {"random": 9, "orphan": 2, "lock": 4, "rwlock": 2, "cache": 2, "link": 2, "index": 2, "mlflow": 2}
OF_REMOTES = {"dvc push": {"push": 3, "index": 1}, "dvc pull": {"pull": 2, "link": 1, "index": 1}}
VICTIMS = {"group": 6, "all": 3, "parent": 4, "child": 3, "stage": 2}
OF_LANES = {"lanes": 3, "lane": 3}
"""How often each is drawn, beside the others."""


@dataclass(frozen=True)
class Kill:
    """One kill.

    Attributes:
        moment: `random`, `orphan` (a stage is at work that would outlive its parent), or what is written to, a key of
            `moments.WATCHED`.
        at: of a random moment the share of the time that a run takes; else seconds after the event.
        nth: which of the events, from 1.
        victim: see `processes.choose`; nobody when the disk fills up.
        signal: its name, or that the disk fills up.
        linger: the stage that takes long, if one does.
        spare: KiB that a full disk still has.
    """

    moment: str
    at: float
    nth: int
    victim: str
    signal: str
    linger: str = ""
    spare: int = 0


@dataclass(frozen=True)
class Plan:
    """A round: one command, killed so many times, then run to its end."""

    seed: int
    way: str
    kills: tuple[Kill, ...]


def draw(seed: int, count: int, *, stages: Sequence[str] = (), remotes: bool = True, full: bool = True) -> Plan:
    """Plan a round.

    Args:
        seed: of the round.
        count: kills of the round.
        stages: those that can be told to linger.
        remotes: whether `dvc push` and `dvc pull` are among the commands.
        full: whether the disk can be filled.
    """
    rng = random.Random(seed)
    way = _one_of(rng, {way: often for way, often in WAYS.items() if remotes or way not in OF_REMOTES})
    return Plan(seed, way, tuple(_draw_kill(rng, way, number, stages, full) for number in range(count)))


def _draw_kill(rng: random.Random, way: str, number: int, stages: Sequence[str], full: bool) -> Kill:
    moments = OF_REMOTES.get(way) or {name: often for name, often in MOMENTS.items() if stages or name != "orphan"}
    moment = _one_of(rng, moments)
    signals = {name: often for name, often in SIGNALS.items() if full or name != FULL_DISK}
    if moment == "orphan":
        signals = {"SIGKILL": 2, "SIGTERM": 1}  # DVC passes over SIGINT while a stage runs: that comes from a terminal
    name = _one_of(rng, signals)
    return Kill(
        moment=moment,
        at=rng.random() / (number + 1) if moment == "random" else rng.choice([0.0, 0.0, 0.002, 0.02, 0.2]),
        nth=rng.randint(1, 12 if moment in ("rwlock", "cache", "link", "index") else 4),
        victim="disk" if name == FULL_DISK else _one_of(rng, _victims(way, moment)),
        signal=name,
        linger=rng.choice(stages) if moment == "orphan" else "",
        spare=rng.choice([0, 4, 16, 64]),
    )


def _victims(way: str, moment: str) -> dict[str, int]:
    if way in OF_REMOTES:
        return {"group": 1, "all": 1}
    lanes = OF_LANES if way == "make repro" else {}
    if moment == "orphan":
        return {"parent": 1, "child": 1, **lanes}
    return VICTIMS | lanes


def _one_of(rng: random.Random, weights: dict[T, int]) -> T:
    return rng.choices(list(weights), list(weights.values()))[0]
