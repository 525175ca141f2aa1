"""Facts that are told and asked with a factor and without it, and readers' scores of them (complexity.md §5).

Readers learn from two corpora in which frames have opposite roles; of f0 and f6 a fact is asked of both in each one's
own words, of the other factors in the same words. A contrast δ is the score with the factor less the score without it:
a cost is below 0.
"""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

FACTORS = tuple(f"f{number}" for number in range(7))
# A row a version: what it is called, which fact and frame it is of, the corpora whose readers are asked it, of each
# factor whether it has it (null: the fact is not about that), and what is asked.
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
    """The facts about a factor, in order, with the mean score of their versions without it and with it, in [0, 1].

    The scores (`SCORES`) are of one reader and training.
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
