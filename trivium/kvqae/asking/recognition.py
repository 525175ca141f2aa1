"""Which entry does a picture show, and what the scores mean: learned from the base's own pictures (own_pictures.md).

- An **impostor** is a picture asked of the base without its own entry: whatever is found is wrong. Impostors give each
  encoder's cosines their zero and unit, `z = (cos − μ) / σ`, and the threshold that only a share α of them passes: the
  ⌈(n + 1)(1 − α)⌉-th smallest of their n best scores (split conformal prediction: a new picture of something that is
  not in the base passes with probability at most α, if it is like the base's pictures).
- A **pair** is two pictures of one entry. Pairs give the temperature T of `P(e) = exp(s_e / T) / Σ exp(s / T)`, by
  maximum likelihood: the probability that a picture shows entry e, if it shows one of the base.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from trivium.core.errors import BadInput
from trivium.kvqae.asking.answer import QUERY
from trivium.kvqae.asking.picture_search import PictureSearch
from trivium.kvqae.asking.systems import fuse
from trivium.kvqae.asking.vector_store import Vectors
from trivium.measures.fusion import Scale
from trivium.measures.runs import PADDING, Run
from trivium.vision.image_encoder import Route

Scores = NDArray[np.float64]
COLDEST, HOTTEST = 0.02, 20.0  # temperatures that are tried
FEWEST_PAIRS = 10  # with fewer, nothing is fitted
ASKED, COMPARED = 1000, 2000  # pictures that calibrate, and pictures that each of them is compared with for μ and σ


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


@dataclass(frozen=True)
class Pictured:
    """One encoder's part of a base.

    Attributes:
        name: of the encoder.
        route: what it looks at.
        weight: in the mean over the encoders of its route.
        search: over its vectors.
        pictures: (n,) the base's picture that each vector is of, ascending.
        owners: (n,) the entry of each.
    """

    name: str
    route: Route
    weight: float
    search: PictureSearch
    pictures: NDArray[np.int64]
    owners: NDArray[np.int64]

    def scores(
        self, vector: Vectors, without_entry: int | None = None, without_picture: int | None = None
    ) -> dict[int, float]:
        """{entry: the largest cosine of its pictures}, best first."""
        rows, cosines = self.search.nearest(vector)
        owners = self.owners[rows]
        stays = np.ones(len(rows), bool)
        if without_entry is not None:
            stays &= owners != without_entry
        if without_picture is not None:
            stays &= self.pictures[rows] != without_picture
        owners, cosines = owners[stays], cosines[stays]
        _, first = np.unique(owners, return_index=True)
        first.sort()
        return dict(zip(owners[first].tolist(), cosines[first].tolist(), strict=True))


class Recogniser:
    """The encoders of one route.

    Args:
        systems: those with a vector at least.
        calibration: what their scores mean.
    """

    def __init__(self, systems: Sequence[Pictured], calibration: Calibration) -> None:
        self.systems, self.calibration = systems, calibration

    def cosines(
        self,
        vectors: Mapping[str, Vectors],
        depth: int | None = None,
        without_entry: int | None = None,
        without_picture: int | None = None,
    ) -> dict[str, dict[int, float]]:
        """Encoder → entry → cosine of its best picture, of each encoder that finds any; at most `depth` entries."""
        found = {
            system.name: system.scores(vectors[system.name], without_entry, without_picture)
            for system in self.systems
            if system.name in vectors
        }
        return {name: dict(islice(scores.items(), depth)) for name, scores in found.items() if scores}

    def rank(self, cosines: Mapping[str, Mapping[int, float]]) -> Ranking:
        """Entries by the weighted mean of z; an entry that an encoder did not find has its lowest cosine."""
        if not cosines:
            return Ranking(np.array([], np.int64), np.array([]))
        runs = {name: Run.from_dict({QUERY: dict(scores)}, name=name) for name, scores in cosines.items()}
        weights = {system.name: system.weight for system in self.systems if system.name in runs}
        calibration = self.calibration
        by = {name: Scale(calibration.means[name], calibration.deviations[name]) for name in runs}
        run = fuse(runs, weights, by).run
        there = run.documents[0] != PADDING
        return Ranking(run.documents[0][there], run.scores[0][there].astype(np.float64))


def calibrated(
    systems: Sequence[Pictured],
    owners: NDArray[np.int64],
    eligible: NDArray[np.bool_],
    views: Mapping[str, Mapping[int, Vectors]],
    seed: int = 0,
) -> Calibration:
    """Learn what a route's scores mean from the base's own pictures.

    Args:
        systems: the route's encoders.
        owners: the entry of each picture of the base.
        eligible: the pictures that may be asked; not those that two entries share.
        views: encoder → picture → vector of a drawn view, for a base without pairs.
        seed: of the draws.
    """
    draw = np.random.default_rng(seed)
    scales = {system.name: _scale(system, draw) for system in systems}
    means, deviations = ({name: scale[place] for name, scale in scales.items()} for place in (0, 1))
    recogniser = Recogniser(systems, Calibration(means, deviations))
    pictures = np.unique(np.concatenate([system.pictures for system in systems]))
    pictures = pictures[eligible[pictures]]
    best = []
    for picture in np.sort(draw.permutation(pictures)[:ASKED]).tolist():
        cosines = recogniser.cosines(_vectors(systems, picture), without_entry=int(owners[picture]))
        best += recogniser.rank(cosines).scores[:1].tolist()
    _, entry, counts = np.unique(owners[pictures], return_inverse=True, return_counts=True)
    twins = np.sort(draw.permutation(pictures[counts[entry] > 1])[:ASKED]).tolist()
    pairs = list(_pairs(recogniser, {picture: _vectors(systems, picture) for picture in twins}, owners, without=True))
    drawn = len(pairs) < FEWEST_PAIRS
    if drawn:
        names = [system.name for system in systems]
        seen = {picture: {name: views[name][picture] for name in names if picture in views.get(name, {})}
                for picture in pictures.tolist()}  # fmt: skip
        pairs = list(_pairs(recogniser, {picture: each for picture, each in seen.items() if each}, owners))
    return Calibration(means, deviations, sorted(best), fit_temperature(pairs), len(pairs), drawn)


def _scale(system: Pictured, draw: np.random.Generator) -> tuple[float, float]:
    """Mean and deviation of the cosines of pictures of different entries; (0, 1) where there are none."""
    chosen = [np.sort(draw.permutation(len(system.search))[:most]) for most in (ASKED, COMPARED)]
    left, right = (np.asarray(system.search.matrix[rows], np.float32) for rows in chosen)
    different = system.owners[chosen[0]][:, None] != system.owners[chosen[1]][None]
    cosines = (left @ right.T)[different].astype(np.float64)
    deviation = float(cosines.std()) if len(cosines) and np.ptp(cosines) > 0 else 1.0
    return (float(cosines.mean()) if len(cosines) else 0.0), deviation


def _vectors(systems: Sequence[Pictured], picture: int) -> dict[str, Vectors]:
    """Encoder → vector of a picture of the base."""
    found = {}
    for system in systems:
        row = int(np.searchsorted(system.pictures, picture))
        if row < len(system.pictures) and system.pictures[row] == picture:
            found[system.name] = np.asarray(system.search.matrix[row])
    return found


def _pairs(
    recogniser: Recogniser, shown: Mapping[int, Mapping[str, Vectors]], owners: NDArray[np.int64], without: bool = False
) -> Iterator[tuple[Scores, int]]:
    """Scores of all entries for each picture, and the place of the right one."""
    for picture, vectors in shown.items():
        ranking = recogniser.rank(recogniser.cosines(vectors, without_picture=picture if without else None))
        places = np.flatnonzero(ranking.entries == owners[picture])
        if len(places):
            yield ranking.scores, int(places[0])
