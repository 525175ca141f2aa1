"""Which stage starts next: of those whose needs are met, the one with the longest way from its start to the end.

Seconds are what stages took when they last ran in this folder. They are kept in `.work` and decide the order alone,
never a result. A stage that has not run yet is taken for an average one, a cell for an average cell of its stage. Where
nothing has run, each counts the same: on the sample's graph that order is within a hundredth of the best on two cores.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from statistics import fmean

import networkx as nx

from trivium.core.errors import BadInput
from trivium.core.tables import read_json, write_json

SECONDS = Path(".work") / "stage_seconds.json"
SHELL = "report"  # assembles the page of the sections that there are: it waits for all of them, and needs none


class StageQueue:
    """The stages of a graph that have not begun.

    Args:
        graph: of stages' names; edges lead to what a stage needs.
        priority: of each stage; the highest that may start comes first.
    """

    def __init__(self, graph: nx.DiGraph, priority: Mapping[str, float]) -> None:
        self._graph, self._priority = graph, priority
        self._waiting, self._unsettled = set(graph), set(graph)
        self.failed: dict[str, str] = {}

    def __len__(self) -> int:
        """How many wait."""
        return len(self._waiting)

    def ready(self) -> list[str]:
        """Those that may start, the most urgent first."""
        able = (stage for stage in self._waiting if self._unsettled.isdisjoint(self._graph.successors(stage)))
        return sorted(able, key=lambda stage: (-self._priority[stage], stage))

    def take(self) -> str | None:
        """The next to start; None while there is none."""
        ready = self.ready()
        if not ready:
            return None
        self._waiting.remove(ready[0])
        return ready[0]

    def done(self, stage: str) -> None:
        """Let those start that waited for it."""
        self._unsettled.remove(stage)

    def fail(self, stage: str, why: str) -> set[str]:
        """Leave out what needs this stage, which has failed; what is left out because of it."""
        self.failed[stage] = why
        out = set(left_out(self._graph, {stage: why}))
        self._waiting -= out
        self._unsettled -= out
        return out


def left_out(graph: nx.DiGraph, failed: Mapping[str, str]) -> dict[str, list[str]]:
    """The stages that failed, and those that need them; which of them each needs."""
    out: dict[str, list[str]] = {stage: [] for stage in failed}
    for stage in failed:
        for each in nx.ancestors(graph, stage) - {SHELL}:
            out.setdefault(each, []).append(stage)
    return out


def lengths(graph: nx.DiGraph, seconds: Mapping[str, float]) -> dict[str, float]:
    """Seconds from each stage's start to the end of what needs it, were there a core for everyone.

    Args:
        graph: of stages' names; edges lead to what a stage needs.
        seconds: of each stage.
    """
    found: dict[str, float] = {}
    for stage in nx.topological_sort(graph):  # who needs a stage comes before it
        found[stage] = seconds[stage] + max((found[each] for each in graph.predecessors(stage)), default=0.0)
    return found


def expected(stages: Iterable[str], known: Mapping[str, float]) -> dict[str, float]:
    """Seconds of each stage, as far as is known."""
    of_stage: dict[str, list[float]] = defaultdict(list)
    for name, each in known.items():
        of_stage[name.partition("@")[0]].append(each)
    average = fmean(known.values()) if known else 1.0
    return {
        stage: known.get(stage, fmean(of_stage.get(stage.partition("@")[0], [average])))  # an unknown cell: its stage's
        for stage in stages
    }


def read_seconds(folder: Path) -> dict[str, float]:
    """What stages took in a project's folder; nothing where nothing can be read, as the order matters to no result."""
    found = None
    with suppress(BadInput):
        found = read_json(folder / SECONDS)
    return {stage: each for stage, each in found.items() if isinstance(each, float)} if isinstance(found, dict) else {}


def keep_seconds(folder: Path, took: Mapping[str, float]) -> None:
    """Keep what stages took now, beside what the others took earlier."""
    if took:
        write_json(folder / SECONDS, {**read_seconds(folder), **took})
