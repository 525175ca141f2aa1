"""Factors f0 and f6 of questions without annotated frames, from frames that a parser predicts (beyond the paper's §4).

A question's frame is the predicted one whose element covers the answer best: in the paper the answer is an element of
the frame that the question was made from. A parser's mistakes pull the effects of both factors towards 0.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from trivium.complexity.factors.corpora import LexicalUnits
from trivium.complexity.factors.members.f0 import rare_cut
from trivium.formats.framed_texts import FrameInstance, Span
from trivium.formats.question_sets import AskedQuestion
from trivium.measures.frames import entropy_bits

Says = dict[str, bool | None]  # by the question's id; None: in neither set


def frame_of_answer(answer: Span | None, frames: Sequence[FrameInstance]) -> str | None:
    """The frame with the element that shares most with the answer (of all their characters); None where none does."""
    shares = [(_shared(answer, element.span), frame.frame) for frame in frames for element in frame.elements if answer]
    best, name = max(shares, key=lambda share: share[0], default=(0.0, None))
    return name if best > 0 else None


def _shared(one: Span, other: Span) -> float:
    common = max(0, min(one.end, other.end) - max(one.start, other.start))
    return common / (one.end - one.start + other.end - other.start - common)


def predicted_factors(
    questions: Sequence[AskedQuestion],
    frames: Mapping[str, Sequence[FrameInstance]],
    adaptation: LexicalUnits,
    training: LexicalUnits,
) -> dict[str, Says]:
    """The values of f0 (`rare_frame`) and f6 (`varied_triggers`); a factor that cannot be cut is left out.

    Args:
        frames: predicted, by context.
        adaptation: lexical units by frame, predicted in the adaptation corpus (f0).
        training: lexical units by frame in annotated texts (f6).
    """
    named = {row.id: frame_of_answer(row.place, frames[row.context]) for row in questions}
    counts = {key: sum(adaptation.get(name, Counter()).values()) for key, name in named.items() if name is not None}
    bits = {
        key: entropy_bits(list(training[name].values()))
        for key, name in named.items()
        if name is not None and name in training
    }
    says: dict[str, Says] = {}
    cut = rare_cut(list(counts.values()), adaptation, "evaluation")
    if cut is not None:
        says["rare_frame"] = {key: counts[key] <= cut if key in counts else None for key in named}
    if len(set(bits.values())) > 1:
        mean = float(np.mean(list(bits.values())))
        says["varied_triggers"] = {key: bits[key] > mean if key in bits else None for key in named}
    return says
