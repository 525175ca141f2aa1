"""Which entry does a picture show? By faces among pictures with a face, or by whole pictures (kvqae.md §3)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trivium.kvqae.bases.calibration import FEWEST_PAIRS, Calibration, Ranking, Scores, fit_temperature
from trivium.kvqae.bases.picture_search import PictureSearch
from trivium.kvqae.bases.vector_store import Vectors
from trivium.vision.image_encoder import Route

ASKED, COMPARED = 1000, 2000  # pictures that calibrate, and pictures that each of them is compared with for μ and σ


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
        self._share = 1 / sum(system.weight for system in systems)

    def rank(
        self, vectors: Mapping[str, Vectors], without_entry: int | None = None, without_picture: int | None = None
    ) -> tuple[Ranking, dict[str, dict[int, float]]]:
        """Entries by the mean of z, and what each encoder gave to it; an entry that one did not find has its lowest."""
        given: dict[str, dict[int, float]] = {}
        for system in self.systems:
            if (vector := vectors.get(system.name)) is None:
                continue
            mean, deviation = (each[system.name] for each in (self.calibration.means, self.calibration.deviations))
            cosines = system.scores(vector, without_entry, without_picture)
            share = self._share * system.weight
            given[system.name] = {entry: share * (cosine - mean) / deviation for entry, cosine in cosines.items()}
        given = {name: scores for name, scores in given.items() if scores}
        entries = np.array(sorted(set().union(*given.values())) if given else [], np.int64)
        total = np.zeros(len(entries))
        for scores in given.values():
            lowest = min(scores.values())
            total += np.array([scores.get(entry, lowest) for entry in entries.tolist()])
        order = np.argsort(-total, kind="stable")
        return Ranking(entries[order], total[order]), given


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
        ranking, _ = recogniser.rank(_vectors(systems, picture), without_entry=int(owners[picture]))
        best += ranking.scores[:1].tolist()
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
        ranking, _ = recogniser.rank(vectors, without_picture=picture if without else None)
        places = np.flatnonzero(ranking.entries == owners[picture])
        if len(places):
            yield ranking.scores, int(places[0])
