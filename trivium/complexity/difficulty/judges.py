"""Human verdicts on answers, and how far a score agrees with them by Cohen's κ."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trivium.complexity.judging import agreement, correct_answers, read_judgements

RIGHT = 0.5  # a score at which an answer counts as right


class HumanVerdicts(NamedTuple):
    """The verdicts of people.

    Attributes:
        right: by model and question, whether more than half of the annotators say `correct`.
        counts: those of `agreement`, and `stale`, the verdicts on answers that no model gives.
    """

    right: Mapping[str, Mapping[str, bool]]
    counts: Mapping[str, float]


class Kappa(NamedTuple):
    """Cohen's κ of a judge and the people, with its interval; None where one of them always says the same."""

    answers: int
    agreed: float
    kappa: float | None
    low: float | None
    high: float | None


def read_verdicts(path: Path, answers: Mapping[str, Mapping[str, str]]) -> HumanVerdicts:
    """Read the verdicts of a file, or of the files of a folder, as `brought/complexity/judgements` has them.

    Args:
        path: CSV (id, model, annotator, verdict) or Label Studio's JSON export.

    Raises:
        BadInput: see `read_judgements`.
    """
    judgements, counts = read_judgements(path, set(next(iter(answers.values()))), answers)
    stale = {"stale": float(counts["stale"])}
    return HumanVerdicts(correct_answers(judgements, answers), agreement(judgements) | stale)


def kappa(
    scores: Mapping[str, NDArray[np.float64]], ids: Sequence[str], verdicts: HumanVerdicts, confidence: float
) -> Kappa:
    """Agreement on all judged answers; a score of at least a half says that an answer is right."""
    from scipy.special import ndtri
    from statsmodels.stats.inter_rater import cohens_kappa

    place = {identifier: number for number, identifier in enumerate(ids)}
    table = np.zeros((2, 2))
    for model, by_question in verdicts.right.items():
        for identifier, right in by_question.items():
            if identifier in place:
                table[int(scores[model][place[identifier]] >= RIGHT), int(right)] += 1
    answers = int(table.sum())
    agreed = float(np.trace(table) / answers) if answers else np.nan
    if min(table.sum(axis=0).min(), table.sum(axis=1).min()) == 0:
        return Kappa(answers, agreed, None, None, None)
    result = cohens_kappa(table)
    half = ndtri((1 + confidence) / 2) * result.std_kappa
    return Kappa(answers, agreed, *map(float, (result.kappa, result.kappa - half, result.kappa + half)))
