"""ROUGE-L by Google's package, in the paper's setting and Unicode-aware (complexity.md §3).

With a the reference of m words, b the prediction of n, LCS(a, b) the length of their longest common subsequence:
`P = LCS / n`, `R = LCS / m`, `F = 2PR / (P + R)` (Lin 2004). The package's own tokenizer keeps [a-z0-9] only, so that
"première" becomes "premi re"; the Unicode-aware setting differs from the paper's in the tokenizer alone.
"""

from collections.abc import Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from rouge_score.tokenize import tokenize

from trivium.measures.french import words

Setting = Literal["unicode", "paper"]


@cache
def _scorer(setting: Setting) -> Any:
    from rouge_score.rouge_scorer import RougeScorer  # it imports nltk, which takes seconds

    return RougeScorer(["rougeL"], tokenizer=SimpleNamespace(tokenize=words) if setting == "unicode" else None)


def rouge_l(
    references: Sequence[str], predictions: Sequence[str], *, setting: Setting = "unicode"
) -> NDArray[np.float64]:
    """ROUGE-L F of every prediction against its reference, (n,) in [0, 1]; 0 where either has no word.

    The setting is `unicode`, or `paper` for the untouched package. `ValueError`: different lengths.
    """
    scorer = _scorer(setting)
    pairs = list(zip(references, predictions, strict=True))
    # Many questions share reference and answer (a shuffle repeats them further): each pair is scored once.
    values = {pair: scorer.score(*pair)["rougeL"].fmeasure for pair in set(pairs)}
    return np.array([values[pair] for pair in pairs], dtype=np.float64)


def is_mangled(text: str) -> bool:
    """Whether the paper's tokenizer loses or splits a word of the text."""
    return tokenize(text, None) != words(text)
