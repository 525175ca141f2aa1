"""Ways to fuse re-rankers, as stage `kvqae-tune_reranking` chooses and writes them (kvqae.md §4).

`image` fuses ArcFace and RRT, `text_image` the cross-encoder with the outcome. The paper's choices are PosFuse, after
rank normalisation, and min-max normalisation with a linear combination. PosFuse sees only positions, which no
normalisation changes, so it has none here.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator

from stages.measures.fusion import NORMALIZATIONS, Candidates, Scale, gather, normalize, standardize, unit_sum
from stages.measures.posfuse import position_parts, position_probabilities
from stages.measures.runs import Qrels, Run
from stages.stage import BadInput
from stages.tables import read_json, read_run

SYSTEMS = {"image": ("arcface", "rrt"), "text_image": ("text", "image")}

Share = Annotated[float, Field(ge=0, le=1)]


class _Fusion(BaseModel):
    """What every way has in common: a candidate's score is the sum of what the systems give to it."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    def parts(
        self, candidates: Candidates, systems: Sequence[str], by: Sequence[Scale] | None = None
    ) -> NDArray[np.float64]:
        """What each system gives to each candidate, (systems, queries, n)."""
        raise NotImplementedError

    def fuse(self, runs: Mapping[str, Run], name: str = "") -> Run:
        """Fuse the systems' runs about the same queries."""
        candidates = gather(list(runs.values()))
        scores = self.parts(candidates, list(runs)).sum(axis=0)
        return Run.from_scores(candidates.queries, candidates.documents, scores, name=name)


class PositionFusion(_Fusion):
    """PosFuse: P(relevant | position) of each system. A list that stands alone keeps its order, rank-normalised."""

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
        """What each system gives to each candidate, (systems, queries, n); `by` plays no role."""
        by_position = position_parts(candidates, [np.array(self.probabilities[system]) for system in systems])
        alone = candidates.ranks.any(axis=2).sum(axis=0) == 1
        return np.where(alone[:, None], normalize(candidates, "rank"), by_position)


class LinearFusion(_Fusion):
    """Weighted sum of normalised scores."""

    method: Literal["linear"] = "linear"
    normalization: str
    weights: dict[str, Share]

    @field_validator("normalization")
    @classmethod
    def _known(cls, name: str) -> str:
        if name not in NORMALIZATIONS:
            raise ValueError(f"unknown normalisation {name!r} (choices: {', '.join(NORMALIZATIONS)})")
        return name

    @property
    def systems(self) -> set[str]:
        """Whose lists are fused."""
        return set(self.weights)

    def parts(
        self, candidates: Candidates, systems: Sequence[str], by: Sequence[Scale] | None = None
    ) -> NDArray[np.float64]:
        """What each system gives to each candidate, (systems, queries, n).

        Args:
            candidates: of the systems' runs.
            systems: their names, in the order of the candidates.
            by: z-scores take these scales, one a system, instead of those of the candidates themselves.
        """
        if by is not None and self.normalization == "z_score":
            normalized = standardize(candidates, by)
        else:
            normalized = normalize(candidates, self.normalization)
        return unit_sum([self.weights[system] for system in systems])[:, None, None] * normalized


Fusion = PositionFusion | LinearFusion
_FUSION: TypeAdapter[Fusion] = TypeAdapter(Annotated[Fusion, Field(discriminator="method")])


def read_choice(path: Path) -> dict[str, Fusion]:
    """The chosen fusions, `image` and `text_image`.

    Raises:
        BadInput: the file is not what stage `kvqae-tune_reranking` writes.
    """
    choice = read_json(path)
    fusions = {}
    for name, systems in SYSTEMS.items():
        try:
            fusion = fusions[name] = _FUSION.validate_python(choice[name]["chosen"])
        except (KeyError, TypeError, ValidationError) as error:
            raise BadInput(f"not a fusion: {error}", file=path, field=name) from None
        if fusion.systems != set(systems):
            raise BadInput(
                "other systems", file=path, field=name, got=sorted(fusion.systems), expected=", ".join(systems)
            )
    return fusions


def read_lists(path: Path, name: str) -> Run:
    """One system's run; of ArcFace's an empty file is right where no question has a face."""
    if name == "arcface" and path.is_file() and path.stat().st_size == 0:
        return Run.from_dict({}, name=name)
    if not path.is_file():
        raise BadInput("no run of this split", file=path)
    return read_run(path, name)


def complete(runs: Mapping[str, Run], queries: Iterable[str] | None = None) -> dict[str, Run]:
    """The runs over the same queries: these, or else all that any of the runs has.

    Raises:
        BadInput: a run has a query that is not among these.
    """
    if queries is None:
        queries = dict.fromkeys(query for run in runs.values() for query in run.queries)
    queries = tuple(queries)
    try:
        return {name: run.complete(queries) for name, run in runs.items()}
    except ValueError as error:
        raise BadInput(f"runs and relevance judgements disagree: {error}") from None
