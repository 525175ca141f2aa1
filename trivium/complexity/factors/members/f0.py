"""Factor f0, adaptation bias: the example's frame is rare in the automatically annotated adaptation corpus (§4)."""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

import numpy as np
import pyarrow as pa
from pydantic import Field

from trivium.complexity.factors.corpora import Corpora, LexicalUnits
from trivium.complexity.factors.factor import Factor, Judged
from trivium.core.parameters import Parameters
from trivium.formats.framed_texts import Example
from trivium.measures.effects import even_cut

_BALANCES = ("evaluation", "adaptation")


class RareFrameParameters(Parameters):
    """Parameters of f0."""

    balance: Literal["evaluation", "adaptation"] = Field(
        description="What the cut splits most evenly: the evaluation examples, or the annotated adaptation corpus"
    )
    cut: int | None = Field(ge=0, description="Most occurrences of a frame that count as rare; null: as `balance` says")
    other_reading: bool = Field(default=False, description="Give the other balance's δ below this one's in Table 2")


class RareFrame(Factor):
    """Yes where the frame occurs at most `cut` times in the adaptation corpus; a frame that is absent is rare."""

    name = "f0"
    description = "Is the frame rare in the adaptation corpus?"
    settings = RareFrameParameters
    columns = {"f0_count": pa.int64()}  # noqa: RUF012 - declared a class variable by Factor
    tiny = (False, False, True, True, False, True)
    label = "rare frame in the adaptation corpus"
    other_label = "the same, the cut placed by the other corpus: see complexity.md §4"
    parameters: RareFrameParameters

    def judge(self, examples: Sequence[Example], corpora: Corpora) -> Judged:
        """Judge by the frame's count; neither (None) if all frames are equally frequent, so that no cut exists."""
        counts = [sum(corpora.adaptation.get(example.frame.frame, Counter()).values()) for example in examples]
        cuts = {balance: rare_cut(counts, corpora.adaptation, balance) for balance in _BALANCES}
        cut = self.parameters.cut if self.parameters.cut is not None else cuts[self.parameters.balance]
        metrics = {"f0_frame_absent": float(sum(count == 0 for count in counts))}
        metrics |= {
            f"f0_share_{name}": float(np.mean(np.array(counts) <= at)) for name, at in cuts.items() if at is not None
        }
        metrics |= {} if cut is None else {"f0_threshold": float(cut)}
        other_cut = next(at for balance, at in cuts.items() if balance != self.parameters.balance)
        says = [[None if at is None else count <= at for count in counts] for at in (cut, other_cut)]
        return Judged(says[0], {"f0_count": counts}, metrics, says[1] if self.parameters.other_reading else None)


def rare_cut(counts: Sequence[int], adaptation: LexicalUnits, balance: str) -> int | None:
    """The count up to which f0 calls a frame rare; None when all frames are equally frequent.

    Args:
        balance: "evaluation" splits the examples most evenly; "adaptation" splits the occurrences in the adaptation
            corpus, where every frame weighs what it counts.
    """
    totals = [sum(units.values()) for units in adaptation.values()]
    cut = even_cut(counts) if balance == "evaluation" else even_cut(totals, totals)
    return None if cut is None else int(cut)
