"""Fuse the top documents of first-stage systems (kvqae.md §3).

A row fuses the systems that its weights name: the row's text systems and, in rows of images, any image encoders in use;
rows of passages also searches by entities' names, and brought runs. The image search has already applied the routing F:
it leaves out the questions that an encoder does not serve. Where `params.yaml` gives weights, `tune` reports whether
they are the optimum on validation; where it says `tuned`, the optimum is used.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, ValidationInfo, field_validator

from trivium.core.errors import BadInput
from trivium.core.parameters import Parameters, shared
from trivium.formats.trec import read_run
from trivium.kvqae.retrieval.systems import SystemsInUse, is_brought, system_of
from trivium.kvqae.retrieval.text_encoders import TEXT_ENCODERS
from trivium.measures.fusion import linear_fusion, reciprocal_rank_fusion
from trivium.measures.runs import Qrels, Run
from trivium.measures.weight_search import mean_reciprocal_ranks, search_weights, simplex_grid
from trivium.vision.encoder_registry import ENCODERS

# Row → its text systems; the rows of images have image encoders, too. Beyond these a text encoder NAME may have a row
# NAME_image of its own.
PASSAGE_ROWS: dict[str, tuple[str, ...]] = {
    "bm25_image": ("bm25",),
    "dpr_zero_shot_image": ("dpr_zero_shot",),
    "dpr_few_shot_image": ("dpr_few_shot",),
    "bm25_dpr_few_shot": ("bm25", "dpr_few_shot"),
    "bm25_dpr_few_shot_image": ("bm25", "dpr_few_shot"),
}
ARTICLE_ROWS: dict[str, tuple[str, ...]] = {"image": ()}
ROWS = PASSAGE_ROWS | ARTICLE_ROWS
RECIPROCAL_RANK_ROW, RECIPROCAL_RANK_AS = "rrf", "bm25_dpr_few_shot_image"  # the row whose systems it fuses
RECORD = "fusion.json"  # beside a row's runs: how they were made

TUNED: Literal["tuned"] = "tuned"
Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]


def tuned_rows(text_encoders: Iterable[str], image_encoders: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return row → systems where weights are tuned: all image encoders in use, and a row for every text encoder."""
    in_a_row = {name for texts in PASSAGE_ROWS.values() for name in texts}
    further = {f"{name}_image": (name,) for name in text_encoders if name not in in_a_row}
    images = tuple(image_encoders)
    return {row: texts + (images if row.endswith("image") else ()) for row, texts in (ROWS | further).items()}


class WeightGridParameters(Parameters):
    """Part of sections `kvqae.fuse` and `kvqae.rerank_fuse`."""

    step: float = Field(gt=0, le=1, description="Step of the grid of weights, a divisor of 1")

    @field_validator("step")
    @classmethod
    def _divides_one(cls, step: float) -> float:
        simplex_grid(1, step)
        return step


class FuseAndTuneParameters(SystemsInUse, WeightGridParameters):
    """Section `kvqae.fuse`."""

    depth: int = shared("kvqae.depth", ge=1, description="Documents kept a question")
    rrf_k: int = Field(ge=0, description="k of reciprocal-rank fusion")
    weights: Literal["tuned"] | dict[str, dict[str, Weight]] = Field(
        description="α of each system of each row, ≥ 0; only their proportions matter; or tuned, on validation"
    )

    @field_validator("weights")
    @classmethod
    def _every_row_and_its_systems(
        cls, weights: Literal["tuned"] | dict[str, dict[str, float]], others: ValidationInfo
    ) -> Literal["tuned"] | dict[str, dict[str, float]]:
        if weights == TUNED:
            return weights
        encoders = tuple(others.data.get("image_encoders", ENCODERS))
        names = tuple(map(system_of, others.data.get("name_encoders", {})))
        brought = tuple(dict.fromkeys(filter(is_brought, (name for row in weights.values() for name in row))))
        further = (*others.data.get("text_encoders", TEXT_ENCODERS), *brought)  # the stage looks for the brought ones
        rows = tuned_rows(further, encoders)
        _same_names("row", weights, ROWS, rows)
        for row, alphas in weights.items():
            allowed = (*rows[row], *(() if row in ARTICLE_ROWS else (*names, *brought)))
            _same_names(f"system of row {row!r}", alphas, set(rows[row]) - set(encoders), allowed)
            if row.endswith("image") and not set(encoders) & set(alphas):
                raise ValueError(f"missing system of row {row!r}: an image encoder (choices: {', '.join(encoders)})")
            if not any(alphas.values()):
                raise ValueError(f"all weights of row {row!r} are 0")
        return weights

    @property
    def rows(self) -> dict[str, tuple[str, ...]]:
        """Systems of each row."""
        if self.weights == TUNED:
            return tuned_rows(self.text_encoders, self.image_encoders)
        return {row: tuple(systems) for row, systems in self.weights.items()}

    def rows_of(self, split: str, brought: Path) -> dict[str, tuple[str, ...]]:
        """Return `rows` without those of brought runs, a folder each, that have no run of the split."""
        lacking = {folder.name for folder in brought.iterdir() if not (folder / f"{split}.trec").is_file()}
        return {row: systems for row, systems in self.rows.items() if row in ROWS or not lacking & set(systems)}


def _same_names(what: str, got: Iterable[str], needed: Iterable[str], allowed: Iterable[str]) -> None:
    unknown, missing = set(got) - set(allowed), set(needed) - set(got)
    for problem, names in (("unknown", unknown), ("missing", missing)):
        if names:
            raise ValueError(f"{problem} {what}: {', '.join(sorted(names))} (choices: {', '.join(allowed)})")


def level_of(row: str) -> str:
    """What a row ranks, `article` or `passage`."""
    return "article" if row in ARTICLE_ROWS else "passage"


def read_split(folders: Sequence[Path], split: str, rows: Mapping[str, Iterable[str]]) -> dict[str, dict[str, Run]]:
    """Read the runs of a split that the rows' systems have, in folders of their names, by `level_of` the rows.

    The runs of a level are over the questions that any of them answers. `BadInput`: no folder for a system, or no file
    for the split, as brought runs may lack one.
    """
    by_name = {folder.name: folder for folder in folders}
    by_level: dict[str, dict[str, Run]] = {"passage": {}, "article": {}}
    for row, system in ((row, system) for row, systems in rows.items() for system in systems):
        runs, ending = by_level[level_of(row)], "_articles" if row in ARTICLE_ROWS else ""
        if system not in by_name:
            raise BadInput("no runs of a system", got=system, choices=by_name)
        path = by_name[system] / f"{split}{ending}.trec"
        if not path.is_file():
            choices = sorted(file.name for file in path.parent.iterdir())
            raise BadInput("no run for this split", file=path, choices=choices)
        if system not in runs:
            runs[system] = read_run(path, name=system)
    return {level: complete(runs) for level, runs in by_level.items()}


def complete(runs: Mapping[str, Run], queries: Iterable[str] | None = None) -> dict[str, Run]:
    """Complete the runs to the same queries: the given ones, or else all that any run has."""
    if queries is None:
        queries = dict.fromkeys(query for run in runs.values() for query in run.queries)
    queries = tuple(queries)
    return {name: run.complete(queries) for name, run in runs.items()}


def fuse_split(
    by_level: Mapping[str, Mapping[str, Run]], weights: Mapping[str, Mapping[str, float]], *, depth: int, rrf_k: int
) -> dict[str, Run]:
    """Fuse every row, from the runs of `read_split`."""
    fused = {}
    for row, alphas in weights.items():
        runs = [by_level[level_of(row)][system] for system in alphas]
        fused[row] = linear_fusion(runs, list(alphas.values()), depth=depth, name=row)
    ranked = [by_level["passage"][system] for system in weights[RECIPROCAL_RANK_AS]]
    fused[RECIPROCAL_RANK_ROW] = reciprocal_rank_fusion(ranked, k=rrf_k, depth=depth, name=RECIPROCAL_RANK_ROW)
    return fused


Weightings = list[tuple[dict[str, float], float]]  # α of each system, validation MRR


def tune_row(
    runs: Mapping[str, Run], qrels: Qrels, used: Mapping[str, float] | None, *, step: float, depth: int
) -> tuple[dict[str, Any], Weightings]:
    """Search one row's weights on validation by a grid of this step, for a fused run of this depth.

    `used` are the weights in use, on the grid or not; None uses the best. Returns the best weighting and the one in
    use, and all that were tried.
    """
    ranked = [run.complete(qrels.queries) for run in runs.values()]
    weights, values = search_weights(ranked, qrels, step=step, depth=depth)
    rows = (dict(zip(runs, row, strict=True)) for row in weights.tolist())
    weightings = list(zip(rows, values.tolist(), strict=True))
    best, mrr = weightings[values.argmax()]
    used_mrr = mrr
    if used is not None:
        alphas = np.array([[used[system] for system in runs]])
        (used_mrr,) = mean_reciprocal_ranks(ranked, qrels, alphas, depth=depth)
    return {
        "weights": best,
        "mrr": mrr,
        "used_weights": dict(used or best),
        "used_mrr": float(used_mrr),
        "used_is_best": bool(used_mrr >= values.max() - 1e-12),
        "weightings": len(weightings),
    }, weightings


def tune(
    parameters: FuseAndTuneParameters,
    rows: Mapping[str, Sequence[str]],
    by_level: Mapping[str, Mapping[str, Run]],
    qrels: Mapping[str, Qrels],
) -> tuple[dict[str, dict[str, Any]], dict[str, Weightings]]:
    """Tune every row by `tune_row` on the runs of validation and its judgements, both by `level_of` the rows."""
    report, tried = {}, {}
    for row in (*ROWS, *sorted(rows.keys() - ROWS)):
        level = level_of(row)
        own = {system: by_level[level][system] for system in sorted(rows[row])}
        used = None if parameters.weights == TUNED else dict(sorted(parameters.weights[row].items()))
        report[row], tried[row] = tune_row(own, qrels[level], used, step=parameters.step, depth=parameters.depth)
    return report, tried


def tuning_metrics(report: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, float]]:
    """Convert the report to flat metrics, without the weights in use."""
    for row, values in report.items():
        for name, value in values.items():
            if name == "weights":
                yield from ((f"{row}_weight_{system}", weight) for system, weight in value.items())
            elif name != "used_weights":
                yield f"{row}_{name}", float(value)
