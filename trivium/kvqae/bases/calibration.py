"""What scores mean in one base: learned from the base's own pictures, without a question.

- An **impostor** is a picture asked of the base without its own entry: whatever is found is wrong. Impostors give each
  encoder's cosines their zero and unit, `z = (cos − μ) / σ`, and the threshold that only a share α of them passes: the
  ⌈(n + 1)(1 − α)⌉-th smallest of their n best scores (split conformal prediction: a new picture of something that is
  not in the base passes with probability at most α, if it is like the base's pictures).
- A **pair** is two pictures of one entry. Pairs give the temperature T of `P(e) = exp(s_e / T) / Σ exp(s / T)`, by
  maximum likelihood: the probability that a picture shows entry e, if it shows one of the base.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from trivium.core.errors import BadInput

Scores = NDArray[np.float64]
COLDEST, HOTTEST = 0.02, 20.0  # temperatures that are tried
FEWEST_PAIRS = 10  # with fewer, nothing is fitted


@dataclass(frozen=True)
class Ranking:
    """Entries for one picture, best first.

    Attributes:
        entries: their numbers.
        scores: weighted means of z over the encoders.
    """

    entries: NDArray[np.int64]
    scores: Scores


@dataclass(frozen=True)
class Calibration:
    """Of one route: faces, or whole pictures.

    Attributes:
        means, deviations: μ and σ of each encoder.
        impostors: best scores of impostors, ascending.
        temperature: T; None without enough pairs.
        pairs: how many were there.
        drawn: whether a pair's second picture is a drawn view of the first.
    """

    means: Mapping[str, float]
    deviations: Mapping[str, float]
    impostors: Sequence[float] = ()
    temperature: float | None = None
    pairs: int = 0
    drawn: bool = False

    def threshold(self, false_accepts: float) -> float:
        """The score that at most this share of impostors passes; infinite where there are too few to tell."""
        place = math.ceil((len(self.impostors) + 1) * (1 - false_accepts))
        return self.impostors[place - 1] if place <= len(self.impostors) else math.inf

    def probabilities(self, scores: Scores) -> Scores | None:
        """P(e) of entries by their scores; None without a temperature."""
        return None if self.temperature is None else softmax(scores, self.temperature)

    def as_json(self) -> dict[str, Any]:
        """For a file."""
        return {**vars(self), "means": dict(self.means), "deviations": dict(self.deviations),
                "impostors": list(self.impostors)}  # fmt: skip

    @classmethod
    def of_json(cls, value: Any, file: object) -> "Calibration":
        """From a file.

        Raises:
            BadInput: not what `as_json` gives.
        """
        try:
            return cls(**value)
        except TypeError as error:
            raise BadInput(f"not a calibration: {error}", file=str(file)) from None


def softmax(scores: Scores, temperature: float) -> Scores:
    """`exp(s / T) / Σ exp(s / T)`."""
    raised = np.exp((scores - scores.max(initial=-np.inf)) / temperature)
    shares: Scores = raised / raised.sum()
    return shares


def fit_temperature(pairs: Iterable[tuple[Scores, int]]) -> float | None:
    """The T of the largest likelihood.

    Args:
        pairs: scores of all entries, and the place of the right one.

    Returns:
        None where there are fewer than `FEWEST_PAIRS`.
    """
    known = [(scores, place) for scores, place in pairs if len(scores) > 1]
    if len(known) < FEWEST_PAIRS:
        return None

    def surprise(log: float) -> float:
        return float(np.mean([-np.log(max(softmax(scores, math.exp(log))[place], 1e-300)) for scores, place in known]))

    found = minimize_scalar(surprise, bounds=(math.log(COLDEST), math.log(HOTTEST)), method="bounded")
    return float(math.exp(found.x))


def calibration_error(probabilities: Sequence[float], right: Sequence[bool], bins: int = 10) -> float:
    """Expected calibration error: `Σ_b n_b/n · |accuracy_b − mean probability_b|` over bins of equal width."""
    given, hits = np.asarray(probabilities, np.float64), np.asarray(right, np.float64)
    if not len(given):
        raise ValueError("no probability to judge")
    place = np.minimum((given * bins).astype(int), bins - 1)
    return float(sum(abs((hits - given)[place == each].sum()) for each in range(bins)) / len(given))
