"""Fusion of the first-stage systems' top documents (kvqae.md §3).

`P = α_b B + α_d D + F α_a A + (1-F)(α_i I + α_c C)` on z-normalised scores; a row names the systems whose α may be
above 0. The image search has applied the routing F already: it leaves out the questions that a system does not serve.
Besides the paper's rows: BM25 and DPR together, and reciprocal-rank fusion.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field, field_validator

from trivium.errors import BadInput
from trivium.formats.trec import read_run
from trivium.harness.parameters import Parameters
from trivium.measures.fusion import linear_fusion, reciprocal_rank_fusion
from trivium.measures.runs import Run

FACES, WHOLE_IMAGES = ("arcface",), ("imagenet", "clip")


IMAGE = FACES + WHOLE_IMAGES


PASSAGE_ROWS: dict[str, tuple[str, ...]] = {
    "bm25_image": ("bm25", *IMAGE),
    "dpr_zero_shot_image": ("dpr_zero_shot", *IMAGE),
    "dpr_few_shot_image": ("dpr_few_shot", *IMAGE),
    "bm25_dpr_few_shot": ("bm25", "dpr_few_shot"),
    "bm25_dpr_few_shot_image": ("bm25", "dpr_few_shot", *IMAGE),
}


ARTICLE_ROWS: dict[str, tuple[str, ...]] = {"image": IMAGE}


ROWS = PASSAGE_ROWS | ARTICLE_ROWS


RECIPROCAL_RANK_ROW = "rrf"


RECIPROCAL_RANK_SYSTEMS = ("bm25", "dpr_few_shot", *IMAGE)


RECORD = "fusion.json"  # beside a row's runs: how they were made


Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class FuseParameters(Parameters):
    """Section `kvqae.fuse`."""

    depth: int = Field(ge=1, description="Documents kept a question")
    rrf_k: int = Field(ge=0, description="k of reciprocal-rank fusion")
    weights: dict[str, dict[str, Weight]] = Field(
        description="α of each system of each row, ≥ 0; only their proportions matter"
    )

    @field_validator("weights")
    @classmethod
    def _every_row_and_its_systems(cls, weights: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
        _same_names("row", weights, ROWS)
        for row, systems in ROWS.items():
            _same_names(f"system of row {row!r}", weights[row], systems)
            if not any(weights[row].values()):
                raise ValueError(f"all weights of row {row!r} are 0")
        return weights


def _same_names(what: str, got: Iterable[str], expected: Iterable[str]) -> None:
    unknown, missing = set(got) - set(expected), set(expected) - set(got)
    for problem, names in (("unknown", unknown), ("missing", missing)):
        if names:
            raise ValueError(f"{problem} {what}: {', '.join(sorted(names))} (choices: {', '.join(expected)})")


def read_split(
    folders: Sequence[Path], split: str, *, articles: bool, queries: Iterable[str] | None = None
) -> dict[str, Run]:
    """The runs of a split, one a system, all over the same questions.

    Args:
        folders: one a system, named as the system.
        split: `train`, `validation` or `test`.
        articles: read the article-level runs of the image systems; else the passage-level runs of all.
        queries: questions to rank; by default those that any of the systems has an answer to.

    Raises:
        BadInput: no folder for a system, no file for the split, a system has questions that are not among `queries`,
            or a question has both a list of faces and one of whole images.
    """
    by_name = {folder.name: folder for folder in folders}
    wanted = IMAGE if articles else dict.fromkeys(system for row in PASSAGE_ROWS.values() for system in row)
    missing = [system for system in wanted if system not in by_name]
    if missing:
        raise BadInput("no runs of a system", got=missing, choices=by_name)
    runs = {}
    for system in wanted:
        path = by_name[system] / f"{split}{'_articles' if articles else ''}.trec"
        if not path.is_file():
            raise BadInput(
                "no run for this split", file=path, choices=sorted(file.name for file in path.parent.glob("*"))
            )
        runs[system] = read_run(path, name=system)
    _check_routing(runs, split)
    if queries is None:
        queries = dict.fromkeys(query for run in runs.values() for query in run.queries)
    try:
        return {system: run.complete(queries) for system, run in runs.items()}
    except ValueError as error:
        raise BadInput(f"a run and the relevance judgements disagree on split {split}: {error}") from None


def _check_routing(runs: Mapping[str, Run], split: str) -> None:
    faces = {query for system in FACES for query in runs[system].queries}
    whole = {query for system in WHOLE_IMAGES for query in runs[system].queries}
    if both := sorted(faces & whole):
        raise BadInput(
            f"routing is not exclusive on split {split}: {len(both)} questions have face and whole-image results",
            field="question",
            got=both[0],
            expected=f"results of {', '.join(FACES)}, or of {', '.join(WHOLE_IMAGES)}",
        )


def fuse_split(passages: Mapping[str, Run], articles: Mapping[str, Run], parameters: FuseParameters) -> dict[str, Run]:
    """Every row's fused run.

    Args:
        passages: passage-level run of each system.
        articles: article-level run of each image system.
        parameters: depth and weights.
    """
    fused = {}
    for row, systems in ROWS.items():
        runs = passages if row in PASSAGE_ROWS else articles
        weights = [parameters.weights[row][system] for system in systems]
        fused[row] = linear_fusion([runs[system] for system in systems], weights, depth=parameters.depth, name=row)
    ranked = [passages[system] for system in RECIPROCAL_RANK_SYSTEMS]
    fused[RECIPROCAL_RANK_ROW] = reciprocal_rank_fusion(
        ranked, k=parameters.rrf_k, depth=parameters.depth, name=RECIPROCAL_RANK_ROW
    )
    return fused
