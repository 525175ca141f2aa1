"""Tables of facts stated with and without a factor, and of readers' scores on questions about them (complexity.md §5).

Readers learn from two corpora in which frames have opposite roles. For factors f0 and f6 the readers of each corpus are
asked about a fact in that corpus's own words, for the other factors in the same words. The contrast δ is the score with
the factor minus the score without it: it is negative where the factor makes questions harder.
"""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

FACTORS = tuple(f"f{number}" for number in range(7))
# A row for each version of a fact: its id, its fact and frame, the corpora whose readers are asked it, for each factor
# whether the version has it (null: the fact does not test this factor), and the context, question and answer.
FACTS = pa.schema(
    [("id", pa.string()), ("fact", pa.string()), ("frame", pa.string()), ("corpora", pa.list_(pa.string())),
     *((factor, pa.bool_()) for factor in FACTORS), ("context", pa.string()), ("question", pa.string()),
     ("answer", pa.string())]
)  # fmt: skip
SCORES = pa.schema(
    [("id", pa.string()), ("fact", pa.string()), ("corpus", pa.string()), ("reader", pa.string()), ("seed", pa.int64()),
     *((factor, pa.bool_()) for factor in FACTORS), ("answer", pa.string()), ("score", pa.float64()),
     ("baseline", pa.float64())]
)  # fmt: skip


def sides(scores: pa.Table, factor: str) -> tuple[list[str], NDArray[np.float64], NDArray[np.float64]]:
    """Return the facts that test a factor, sorted, and the mean scores of their versions without it and with it.

    The scores, in [0, 1], are rows of `SCORES` of one reader and one training.
    """
    facts, flags = np.array(scores["fact"].to_pylist(), dtype=object), scores[factor].to_pylist()
    values, means = scores["score"].to_numpy(), []
    about = np.array([flag is not None for flag in flags], dtype=bool)
    names, member = np.unique(facts[about].astype(str), return_inverse=True)
    present = np.array([flag for flag in flags if flag is not None], dtype=bool)
    for side in (~present, present):
        counts = np.bincount(member[side], minlength=len(names))
        means.append(np.bincount(member[side], values[about][side], len(names)) / counts)
    return names.tolist(), means[0], means[1]
