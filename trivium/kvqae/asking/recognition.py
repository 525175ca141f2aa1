"""Find the entry of a base that a new picture shows; scores are calibrated on the base's own pictures.

- An **impostor** is a picture that is searched in the base without its own entry, so that every result is wrong.
  Impostors standardise each encoder's cosines, `z = (cos − μ) / σ`, and give the threshold that only a share α of them
  exceeds: the ⌈(n + 1)(1 − α)⌉-th smallest of their n best scores (split conformal prediction: a new picture of
  something that is not in the base exceeds it with probability at most α, if it is like the base's pictures).
- A **pair** is two pictures of one entry. Pairs give the temperature T of `P(e) = exp(s_e / T) / Σ exp(s / T)`, by
  maximum likelihood: the probability that a picture shows entry e, if it shows one of the base.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

from trivium.kvqae.asking.answer import QUERY
from trivium.kvqae.asking.encoding import Vectors
from trivium.kvqae.asking.systems import fuse
from trivium.measures.fusion import Scale, scale_of
from trivium.measures.runs import Run

Scores = NDArray[np.float64]
Cosines = Mapping[str, Mapping[int, float]]  # encoder → entry → cosine of its best picture
COLDEST, HOTTEST = 0.02, 20.0  # bounds of the temperature
FEWEST_PAIRS = 10  # with fewer, no temperature is fitted
QUERIES, OTHERS = 1000, 2000  # most pictures that calibrate, and that each of them is compared with for μ and σ


@dataclass(frozen=True)
class Calibration:
    """Scale, threshold and temperature of the scores of a route (faces, or whole pictures)."""

    scales: Mapping[str, tuple[float, float]]  # μ and σ of each encoder
    impostors: Sequence[float] = ()  # best scores of impostors, ascending
    temperature: float | None = None  # T; None without enough pairs

    def threshold(self, false_accepts: float) -> float:
        """Return the score that at most this share of impostors exceeds; infinite if there are too few impostors."""
        place = math.ceil((len(self.impostors) + 1) * (1 - false_accepts))
        return self.impostors[place - 1] if place <= len(self.impostors) else math.inf

    def probabilities(self, scores: Scores) -> Scores | None:
        """Compute P(e) of entries from their scores; None without a temperature."""
        return None if self.temperature is None or not len(scores) else softmax(scores / self.temperature)


def fit_temperature(pairs: Iterable[tuple[Scores, int]]) -> float | None:
    """Fit T by maximum likelihood of the right places among scores; None for fewer than `FEWEST_PAIRS` pairs."""
    choices = [(scores, place) for scores, place in pairs if len(scores) > 1]
    if len(choices) < FEWEST_PAIRS:
        return None

    def surprise(log: float) -> float:
        return float(np.mean([-log_softmax(scores / math.exp(log))[place] for scores, place in choices]))

    best = minimize_scalar(surprise, bounds=(math.log(COLDEST), math.log(HOTTEST)), method="bounded")
    return float(math.exp(best.x))


@dataclass(frozen=True)
class Pictured:
    """One encoder's part of a base."""

    name: str
    matrix: Vectors  # (n, width) of length 1
    pictures: NDArray[np.int64]  # (n,) the base's picture that each vector is of, ascending
    owners: NDArray[np.int64]  # (n,) the entry of each

    def cosines(self, vector: Vectors, stays: NDArray[np.bool_] | None = None) -> dict[int, float]:
        """Return {entry: largest cosine of its pictures}, best first; `stays` masks pictures, None keeps all."""
        cosines = self.matrix @ vector
        rows = np.argsort(-cosines, kind="stable")
        if stays is not None:
            rows = rows[stays[self.pictures[rows]]]
        entries, first = np.unique(self.owners[rows], return_index=True)
        return {int(entries[place]): float(cosines[rows[first[place]]]) for place in np.argsort(first)}


def find_entries(
    systems: Sequence[Pictured],
    vectors: Mapping[str, Vectors],
    depth: int | None = None,
    stays: NDArray[np.bool_] | None = None,
) -> dict[str, dict[int, float]]:
    """Return `cosines` of at most `depth` entries for each encoder that has a vector and finds any entry."""
    ranked = {one.name: one.cosines(vectors[one.name], stays) for one in systems if one.name in vectors}
    return {name: dict(islice(cosines.items(), depth)) for name, cosines in ranked.items() if cosines}


def rank(cosines: Cosines, calibration: Calibration) -> tuple[NDArray[np.int64], Scores]:
    """Rank entries by the mean of the encoders' z; returns entries and scores, best first.

    An entry that an encoder does not rank gets that encoder's lowest cosine.
    """
    if not cosines:
        return np.array([], np.int64), np.array([])
    runs = {name: Run.from_dict({QUERY: dict(of_entries)}, name=name) for name, of_entries in cosines.items()}
    run = fuse(runs, dict.fromkeys(runs, 1.0), {name: Scale(*calibration.scales[name]) for name in runs}).run
    return run.documents[0], run.scores[0]


def calibrate(
    systems: Sequence[Pictured],
    owners: NDArray[np.int64],
    eligible: NDArray[np.bool_],
    draw_views: Callable[[Sequence[int]], Mapping[int, Mapping[str, Vectors]]],
) -> Calibration:
    """Calibrate the scores of a route's encoders on the base's own pictures.

    `owners` has the entry of each picture; pictures that are not `eligible` belong to two entries and do not calibrate.
    `draw_views` returns picture → encoder → vector of a drawn view, for a base with too few pairs.
    """
    draw = np.random.default_rng(0)
    scales = {system.name: _scale(system, draw) for system in systems}

    def ask(vectors: Mapping[str, Vectors], stays: NDArray[np.bool_] | None) -> tuple[NDArray[np.int64], Scores]:
        return rank(find_entries(systems, vectors, stays=stays), Calibration(scales))

    def vectors_of(picture: int) -> dict[str, Vectors]:
        rows = [(one, row) for one in systems for row in np.flatnonzero(one.pictures == picture)]
        return {one.name: np.asarray(one.matrix[row]) for one, row in rows}

    def choose(
        picture: int, vectors: Mapping[str, Vectors], stays: NDArray[np.bool_] | None = None
    ) -> Iterator[tuple[Scores, int]]:
        entries, scores = ask(vectors, stays)
        yield from ((scores, int(place)) for place in np.flatnonzero(entries == owners[picture]))

    pictures = np.unique(np.concatenate([system.pictures for system in systems]))
    pictures = pictures[eligible[pictures]]
    impostors = [
        best
        for picture in np.sort(draw.permutation(pictures)[:QUERIES]).tolist()
        for best in ask(vectors_of(picture), owners != owners[picture])[1][:1].tolist()
    ]
    _, entry, counts = np.unique(owners[pictures], return_inverse=True, return_counts=True)
    twins = np.sort(draw.permutation(pictures[counts[entry] > 1])[:QUERIES]).tolist()
    rows = np.arange(len(owners))
    choices = [pair for picture in twins for pair in choose(picture, vectors_of(picture), rows != picture)]
    if len(choices) < FEWEST_PAIRS:
        views = sorted(draw_views(pictures.tolist()).items())
        choices = [pair for picture, vectors in views for pair in choose(picture, vectors)]
    return Calibration(scales, sorted(impostors), fit_temperature(choices))


def _scale(system: Pictured, draw: np.random.Generator) -> tuple[float, float]:
    """Compute mean and deviation of cosines between pictures of different entries; (0, 1) without any."""
    chosen = [np.sort(draw.permutation(len(system.pictures))[:most]) for most in (QUERIES, OTHERS)]
    left, right = (np.asarray(system.matrix[rows], np.float32) for rows in chosen)
    different = system.owners[chosen[0]][:, None] != system.owners[chosen[1]][None]
    scale = scale_of((left @ right.T)[different].astype(np.float64))
    return scale.mean, scale.deviation
