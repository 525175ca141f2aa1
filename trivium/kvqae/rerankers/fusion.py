"""Ways to fuse re-rankers, as stage `kvqae-rerank_fuse` chooses and writes them (kvqae.md §4).

`image` fuses those that look at the image (ArcFace and RRT), `text_image` those that read the text (the cross-encoder)
with the outcome; `image_alone` fuses the images into a list of its own. The paper's choices are PosFuse, after rank
normalisation and default minimum, and min-max normalisation with a linear combination. PosFuse sees only positions,
which no normalisation changes, so it has none here; `default_minimum` comes before either. A re-ranker without any list
has no part in a fusion.

Beyond the paper, `text_initial` and `text_image_initial` keep the initial list's scores: the cross-encoder does not see
the picture, and alone it forgets the evidence of the picture.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, TypeAdapter

from trivium.core.tables import read_json
from trivium.formats.trec import read_run
from trivium.kvqae.rerankers.reranker import RERANKERS, that_see
from trivium.measures.fusion import (
    Candidates,
    Scale,
    gather,
    normalize,
    position_parts,
    position_probabilities,
    standardize,
    unit_sum,
)
from trivium.measures.runs import PADDING, Qrels, Run

TIE = 1e-6  # weight of ranks against probabilities: below any difference of shares of some hundred questions
Share = Annotated[float, Field(ge=0, le=1)]


def systems_of(rerankers: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """List the systems of each fusion, of the re-rankers in use; the images' comes first, as others take it."""
    names = tuple(name for name in rerankers if RERANKERS[name].fused)
    texts, images = that_see(names, "text"), that_see(names, "face", "whole")
    return {
        "image": images,
        "image_alone": images,
        "text_image": (*texts, "image"),
        "text_initial": (*texts, "initial"),
        "text_image_initial": (*texts, "image", "initial"),
    }


class PositionFusion(BaseModel):
    """PosFuse: P(relevant | position) of each system; passages of equal probability go by their ranks.

    A list that stands alone keeps its order: a position then counts as likely as the likeliest from there on.
    """

    method: Literal["posfuse"] = "posfuse"
    probabilities: dict[str, list[Share]]

    @classmethod
    def learn(cls, runs: Mapping[str, Run], qrels: Qrels) -> "PositionFusion":
        """Learn the probabilities from runs about the queries of the qrels."""
        return cls(probabilities={name: position_probabilities(run, qrels).tolist() for name, run in runs.items()})

    @property
    def systems(self) -> set[str]:
        """Whose lists are fused."""
        return set(self.probabilities)

    def parts(
        self, candidates: Candidates, systems: Sequence[str], by: Sequence[Scale] | None = None
    ) -> NDArray[np.float64]:
        """Compute each system's contribution to each candidate, (systems, queries, n); `by` plays no role."""
        learned = [np.array(self.probabilities[system]) for system in systems]
        falling = [np.maximum.accumulate(shares[::-1])[::-1] for shares in learned]
        alone = candidates.ranks.any(axis=2).sum(axis=0) == 1
        parts = np.where(alone[:, None], position_parts(candidates, falling), position_parts(candidates, learned))
        return parts + TIE * normalize(candidates, "rank")


class LinearFusion(BaseModel):
    """Weighted sum of normalised scores."""

    method: Literal["linear"] = "linear"
    normalization: str
    weights: dict[str, Share]

    @property
    def systems(self) -> set[str]:
        """Whose lists are fused."""
        return set(self.weights)

    def parts(
        self, candidates: Candidates, systems: Sequence[str], by: Sequence[Scale] | None = None
    ) -> NDArray[np.float64]:
        """Compute each system's contribution to each candidate, (systems, queries, n).

        `systems` are in the order of the candidates. z-scores take the scales `by`, one a system, instead of those of
        the candidates themselves.
        """
        if by is not None and self.normalization == "z_score":
            normalized = standardize(candidates, by)
        else:
            normalized = normalize(candidates, self.normalization)
        return unit_sum([self.weights[system] for system in systems])[:, None, None] * normalized


Fusion = PositionFusion | LinearFusion
_FUSION: TypeAdapter[Fusion] = TypeAdapter(Annotated[Fusion, Field(discriminator="method")])


def fuse(fusion: Fusion, runs: Mapping[str, Run], name: str = "") -> Run:
    """Fuse the systems' runs about the same queries: a candidate's score is the sum of the systems' contributions."""
    candidates = gather(list(runs.values()))
    scores = fusion.parts(candidates, list(runs)).sum(axis=0)
    return Run.from_scores(candidates.queries, candidates.documents, scores, name=name)


def read_choice(path: Path, names: Iterable[str]) -> dict[str, Fusion]:
    """Read the chosen fusions of these names, as stage `kvqae-rerank_fuse` wrote them."""
    choice = read_json(path)
    return {name: _FUSION.validate_python(choice[name]["chosen"]) for name in names}


def read_lists(path: Path, name: str) -> Run:
    """Read one system's run; it is empty where no question has a face, say, or a picture."""
    return read_run(path, name) if path.stat().st_size else Run.from_dict({}, name=name)


def complete(runs: Mapping[str, Run], queries: Iterable[str] | None = None) -> dict[str, Run]:
    """Bring the runs to the same queries: these, or else all that any of the runs has."""
    if queries is None:
        queries = dict.fromkeys(query for run in runs.values() for query in run.queries)
    queries = tuple(queries)
    return {name: run.complete(queries) for name, run in runs.items()}


def with_lists(runs: Mapping[str, Run]) -> dict[str, Run]:
    """Keep the runs that have a list for any query; all of them where none has one."""
    return {name: run for name, run in runs.items() if (run.documents != PADDING).any()} or dict(runs)


def keep_initial(run: Run, initial: Run) -> Run:
    """Give each query without a list its initial one; both runs are about the same queries in the same order."""
    none = (run.documents == PADDING).all(axis=1, keepdims=True)
    width = max(run.documents.shape[1], initial.documents.shape[1])

    def chosen(kept: NDArray, others: NDArray, padding: float) -> NDArray:
        wide = [np.pad(part, ((0, 0), (0, width - part.shape[1])), constant_values=padding) for part in (kept, others)]
        return np.where(none, *wide)

    documents = chosen(initial.documents, run.documents, PADDING)
    return Run(run.queries, documents, chosen(initial.scores, run.scores, np.nan), run.name)


def default_minimum(runs: Mapping[str, Run]) -> dict[str, Run]:
    """Fill up lists about the same queries: what a system did not return follows at its lowest score, lower ids first.

    A system without any list for a query gets none. So ranks are among all passages to order, as the paper's
    `1 - (r - 1) / K` counts them, and PosFuse learns of the positions that returned too little.
    """
    candidates = gather(list(runs.values()))
    present = candidates.documents != PADDING
    filled = {}
    for (name, run), scores, ranks in zip(runs.items(), candidates.scores, candidates.ranks, strict=True):
        length = ranks.max(axis=1, initial=0, keepdims=True)
        missing = (ranks == 0) & present & (length > 0)
        places = np.where(missing, length + missing.cumsum(axis=1), ranks)
        order = np.argsort(np.where(places == 0, np.iinfo(places.dtype).max, places), axis=1, kind="stable")
        lowest = np.fmin.reduce(scores, axis=1, initial=np.nan, keepdims=True)
        documents = np.where(places == 0, PADDING, candidates.documents)
        values = np.where(places == 0, np.nan, np.where(missing, lowest, scores))
        documents, values = (np.take_along_axis(part, order, axis=1) for part in (documents, values))
        filled[name] = Run(candidates.queries, documents, values, run.name)
    return filled
