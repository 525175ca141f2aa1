"""Tables 2, 3 and 4: retrieval at article and passage level, whole and by subset (kvqae.md §6).

Every row of a block is measured on the same questions. Differences are tested pairwise within the block by Fisher's
randomization test; a row's letters name the rows that it beats.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import Field

from stages.measures.articles import best_passages
from stages.measures.ranking import evaluate as measure
from stages.measures.runs import Qrels, Run
from stages.measures.significance import bootstrap_interval, fisher_randomization, superscripts
from stages.stage import BadInput, Context, Parameters, run_stage
from stages.tables import read_table, write_json, write_table
from stages.trec import read_qrels, read_run_over

MEASURES = ("mrr", "precision@1", "precision@20", "hits@20")
TEXT = ("bm25", "dpr_zero_shot", "dpr_few_shot")
ROWS = ("bm25", "dpr_zero_shot", "bm25_image", "dpr_zero_shot_image", "dpr_few_shot", "dpr_few_shot_image")
BEYOND = ("bm25_dpr_few_shot", "bm25_dpr_few_shot_image", "rrf")  # not in the paper


@dataclass(frozen=True)
class Block:
    """Part of a table: rows compared with each other on one subset of the questions."""

    title: str
    level: str
    subset: str
    rows: tuple[str, ...]


BLOCKS = {
    "article_face": Block("Article level, face detected", "article", "face", ("arcface", *TEXT)),
    "article_no_face": Block("Article level, no face detected", "article", "no_face", ("imagenet", "clip", *TEXT)),
    "article": Block(
        "Article level, all questions", "article", "all", ("bm25", "dpr_zero_shot", "image", "dpr_few_shot")
    ),
    "passage": Block("Passage level, all questions", "passage", "all", ROWS + BEYOND),
    "passage_persons": Block("Passage level, persons", "passage", "persons", ROWS + BEYOND),
    "passage_non_persons": Block("Passage level, non-persons", "passage", "non_persons", ROWS + BEYOND),
    "passage_face": Block("Passage level, face detected", "passage", "face", ROWS + BEYOND),
    "passage_no_face": Block("Passage level, no face detected", "passage", "no_face", ROWS + BEYOND),
}


class EvaluateParameters(Parameters):
    """Section `kvqae.evaluate`."""

    significance: float = Field(gt=0, lt=1, description="Level of Fisher's randomization test")
    permutations: int = Field(ge=100, description="Sign vectors drawn by the test")
    confidence: float = Field(gt=0, lt=1, description="Of the bootstrap intervals")
    resamples: int = Field(ge=100, description="Bootstrap samples of an interval")
    seed: int = Field(ge=0, description="Of the test's and the bootstrap's draws")


def compare(
    values: dict[str, dict[str, NDArray[np.float64]]], parameters: EvaluateParameters
) -> tuple[list[dict[str, Any]], dict[str, list[list[float]]]]:
    """Means, intervals and letters of the rows of one block, and the p-values of all pairs.

    Args:
        values: {row: {measure: (queries,) values}}.
        parameters: of test and bootstrap.
    """
    rows: list[dict[str, Any]] = [{"name": name, "values": {}, "interval": {}, "better_than": {}} for name in values]
    p_values = {}
    for name in MEASURES:
        matrix = np.array([per_query[name] for per_query in values.values()])
        p = fisher_randomization(matrix, permutations=parameters.permutations, seed=parameters.seed)
        p_values[name] = p.tolist()
        letters = superscripts(matrix, p, level=parameters.significance)
        for row, per_query, better_than in zip(rows, matrix, letters, strict=True):
            row["values"][name] = float(per_query.mean())
            row["interval"][name] = bootstrap_interval(
                per_query, confidence=parameters.confidence, resamples=parameters.resamples, seed=parameters.seed
            )
            row["better_than"][name] = better_than
    return rows, p_values


def subsets(routing: pa.Table) -> dict[str, list[str]]:
    """Question ids of every subset that a block is about; an entity without article is neither person nor not."""
    rows = list(
        zip(routing["question"].to_pylist(), routing["face"].to_pylist(), routing["human"].to_pylist(), strict=True)
    )
    return {
        "all": [question for question, _, _ in rows],
        "face": [question for question, face, _ in rows if face],
        "no_face": [question for question, face, _ in rows if not face],
        "persons": [question for question, _, human in rows if human],
        "non_persons": [question for question, _, human in rows if human is False],
    }


def measure_blocks(
    blocks: Mapping[str, Block],
    known: Mapping[str, Mapping[str, Run]],
    qrels: Mapping[str, Qrels],
    questions: Mapping[str, Sequence[str]],
    parameters: EvaluateParameters,
) -> tuple[dict[str, float], dict[str, Any], pa.Table]:
    """Measure blocks; one whose subset has no question is left out.

    Args:
        blocks: by key.
        known: {level: {row: run}}, all over the same questions.
        qrels: {level: judgements}.
        questions: {subset: question ids}.
        parameters: of test and bootstrap.

    Returns:
        Flat metrics `{block}_{row}_{measure}`, the tables {block: …}, and all values by question.

    Raises:
        BadInput: no run for a row.
    """
    metrics: dict[str, float] = {}
    tables: dict[str, Any] = {}
    per_query: list[pa.Table] = []
    for key, block in blocks.items():
        missing = [row for row in block.rows if row not in known[block.level]]
        if missing:
            raise BadInput(f"no run for the rows of block {key!r}", got=missing, choices=sorted(known[block.level]))
        ids = questions[block.subset]
        if not ids:
            continue
        judged = qrels[block.level].select(ids)
        values = {row: measure(known[block.level][row].select(ids), judged, MEASURES) for row in block.rows}
        rows, p_values = compare(values, parameters)
        tables[key] = {"title": block.title, "questions": len(ids), "rows": rows, "p": p_values}
        for row in rows:
            metrics |= {f"{key}_{row['name']}_{name}": value for name, value in row["values"].items()}
        per_query += [
            pa.table({"block": [key] * len(ids), "row": [row] * len(ids), "question": ids, **columns})
            for row, columns in values.items()
        ]
    return metrics, tables, pa.concat_tables(per_query)


def main(
    parameters: EvaluateParameters,
    context: Context,
    *,
    runs: Sequence[Path],
    article_runs: Sequence[Path],
    passage_qrels: Path,
    article_qrels: Path,
    passages: Path,
    routing: Path,
    out_tables: Path,
    out_per_query: Path,
) -> dict[str, float]:
    """Measure every block; a run's row is the name of its folder."""
    article_of = read_table(passages, ["article"])["article"].to_numpy()
    qrels = {"passage": read_qrels(passage_qrels), "article": read_qrels(article_qrels)}
    questions = subsets(read_table(routing, ["question", "face", "human"]))
    everyone = questions["all"]
    known: dict[str, dict[str, Run]] = {"passage": {path.parent.name: read_run_over(path, everyone) for path in runs}}
    known["article"] = {name: best_passages(run, article_of) for name, run in known["passage"].items()}
    known["article"] |= {path.parent.name: read_run_over(path, everyone) for path in article_runs}

    metrics: dict[str, float] = {f"{name}_questions": float(len(ids)) for name, ids in questions.items()}
    measured, tables, per_query = measure_blocks(BLOCKS, known, qrels, questions, parameters)
    metrics |= measured
    best_text = max(TEXT, key=lambda row: metrics[f"passage_{row}_mrr"])
    place = BLOCKS["passage"].rows.index
    for name, better, other in (
        ("fused_over_best_text", "dpr_few_shot_image", best_text),
        ("dpr_few_shot_over_zero_shot", "dpr_few_shot", "dpr_zero_shot"),
    ):
        for kind in ("mrr", "hits@20"):
            difference = metrics[f"passage_{better}_{kind}"] - metrics[f"passage_{other}_{kind}"]
            metrics[f"passage_{name}_{kind}_difference"] = difference
            metrics[f"passage_{name}_{kind}_p"] = tables["passage"]["p"][kind][place(better)][place(other)]
    write_json(out_tables, tables)
    write_table(out_per_query, per_query)
    return metrics


if __name__ == "__main__":
    run_stage(main, "kvqae.evaluate", EvaluateParameters)
