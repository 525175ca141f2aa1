"""Factor f4, distance: many dependency arcs lie between trigger and answer (complexity.md §4)."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from pydantic import Field

from trivium.complexity.factors.arcs import Arcs, arcs
from trivium.complexity.factors.corpora import Corpora
from trivium.complexity.factors.factor import Factor, Judged, counted
from trivium.core.parameters import Parameters
from trivium.formats.framed_texts import Example

_UNCOUNTED = ("trigger_in_answer", "other_sentence", "no_token")


class DistanceParameters(Parameters):
    """Of f4."""

    arcs: int = Field(ge=1, description="Fewest dependency arcs between trigger and answer that count as far")


class Distance(Factor):
    """Yes where the path in the tree has at least `arcs` arcs."""

    name = "f4"
    description = "Are trigger and answer far apart in the dependency tree?"
    published = "f4"
    settings = DistanceParameters
    columns = {  # noqa: RUF012 - declared a class variable by Factor
        "f4_arcs": pa.int64(),
        "f4_case": pa.string(),
        "trigger_in_answer": pa.bool_(),
    }
    tiny = (False, False, None, False, True, None)
    parameters: DistanceParameters

    @property
    def label(self) -> str:
        """Says how many arcs are far."""
        return f"{counted(self.parameters.arcs, 'arc')} or more between trigger and answer"

    def judge(self, examples: Sequence[Example], corpora: Corpora) -> Judged:
        """Neither where there is no path, or the trigger lies in the answer; the metrics count these cases."""
        ways = [arcs(corpora.syntax.get(e.text.id, ()), e.frame.lexical_unit.span, e.answer) for e in examples]
        seen = Counter[str](way.case for way in ways)
        columns: dict[str, list[Any]] = {
            "f4_arcs": [way.count for way in ways],
            "f4_case": [way.case for way in ways],
            "trigger_in_answer": [way.case == "trigger_in_answer" for way in ways],
        }
        metrics = {f"f4_{case}": float(seen[case]) for case in _UNCOUNTED}
        return Judged(
            [self._far(way) for way in ways], columns, metrics | {"f4_threshold": float(self.parameters.arcs)}
        )

    def _far(self, way: Arcs) -> bool | None:
        return way.count >= self.parameters.arcs if way.case == "path" and way.count is not None else None
