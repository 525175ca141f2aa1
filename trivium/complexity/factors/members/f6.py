"""Factor f6, varied triggers: many lexical units evoke the frame, none often (complexity.md §4)."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pyarrow as pa
from pydantic import Field

from trivium.complexity.factors.corpora import Corpora
from trivium.complexity.factors.factor import Factor, Judged
from trivium.core.parameters import Parameters
from trivium.formats.framed_texts import Example
from trivium.measures.frames import entropy_bits


class VariedTriggersParameters(Parameters):
    """Parameters of f6."""

    corpus: Literal["calor", "fquad"] = Field(
        description="Whose lexical units are counted: frame-annotated training texts, or annotated FQuAD"
    )
    threshold: float | None = Field(ge=0, description="Bits above which f6 says yes; null: mean over the examples")


class VariedTriggers(Factor):
    """Yes where the entropy of the frame's lexical units, H = −Σ_u p(u) log₂ p(u) bits, is above the threshold."""

    name = "f6"
    description = "Do many different triggers evoke the frame?"
    settings = VariedTriggersParameters
    columns = {"f6_entropy": pa.float64()}  # noqa: RUF012 - declared a class variable by Factor
    tiny = (True, True, False, False, True, None)
    label = "varied triggers (entropy)"
    parameters: VariedTriggersParameters

    def judge(self, examples: Sequence[Example], corpora: Corpora) -> Judged:
        """Judge by entropy; neither (None) if the corpus lacks the frame, which then does not count in the mean."""
        source = corpora.training if self.parameters.corpus == "calor" else corpora.adaptation
        bits = {frame: entropy_bits(list(units.values())) for frame, units in source.items()}
        entropies = [bits.get(example.frame.frame) for example in examples]
        defined = [entropy for entropy in entropies if entropy is not None]
        threshold = self.parameters.threshold
        if threshold is None and defined:
            threshold = float(np.mean(defined))
        says = [None if entropy is None or threshold is None else entropy > threshold for entropy in entropies]
        return Judged(says, {"f6_entropy": entropies}, {} if threshold is None else {"f6_threshold": float(threshold)})
