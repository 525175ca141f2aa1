"""Stage `kvqae-difficulty`. Measure which factors make questions hard for the reader, as in `complexity`."""

from pathlib import Path
from typing import ClassVar

import numpy as np

from trivium.bridges.visual_difficulty import kvqae_factors, read_scores
from trivium.complexity.effects.analysis import COLUMNS, AnalysisParameters, effect_metrics, effect_rows, shares
from trivium.core.stage import stage
from trivium.core.tables import read_table, write_csv
from trivium.formats.questions import read_questions
from trivium.formats.trec import read_qrels, read_run_over
from trivium.kvqae.knowledge_base.passage_texts import read_passage_texts
from trivium.kvqae.retrieval.evaluation import content_stems, overlap
from trivium.measures.runs import PADDING, relevance_matrix

MODEL = "kvqae_reader"


class DifficultyParameters(AnalysisParameters):
    """Section `kvqae.difficulty`."""

    places: ClassVar = {name: f"kvqae.statistics.{name}" for name in ("confidence", "resamples")}


@stage("kvqae.difficulty", metrics="metrics/kvqae/difficulty.json")
def main(
    parameters: DifficultyParameters,
    *,
    questions: Path = Path("data/kvqae/{kvqae.dataset}/viquae/test.jsonl"),
    answers: Path = Path("data/kvqae/answers/few_shot_fused.parquet"),
    run: Path = Path("data/kvqae/runs/fused/dpr_few_shot_image/test.trec"),
    qrels: Path = Path("data/kvqae/relevance/test_passage.qrels"),
    routing: Path = Path("data/kvqae/routing/test.parquet"),
    kb: Path = Path("data/kvqae/kb"),
    out: Path = Path("metrics/kvqae/difficulty.csv"),
) -> dict[str, float]:
    """Measure the reader's loss of score by factor; writes one CSV line for each."""
    queries = read_questions(questions)
    ids = [question.id for question in queries]
    depth = max(map(len, read_table(answers, ["passages"])["passages"].to_pylist()))  # fewer in a small world
    read = read_run_over(run, ids).first(depth)
    judged = read_qrels(qrels)
    firsts = read.documents[:, 0]
    texts = read_passage_texts(kb, firsts)
    overlaps = np.array(
        [
            np.nan if best == PADDING else overlap(question.text, " ".join(texts[best]), content_stems)
            for question, best in zip(queries, firsts.tolist(), strict=True)
        ]
    )
    routed = read_table(routing, ["question", "face", "human"]).to_pydict()
    faces = {name: (face, human) for name, face, human in zip(*routed.values(), strict=True)}
    codes, cuts = kvqae_factors(queries, read, relevance_matrix(read, judged.select(ids)), overlaps, faces)
    values = read_scores(answers, ids)
    entities = [question.wikidata_id or question.id for question in queries]
    rows = effect_rows({MODEL: values}, codes, entities, parameters)
    write_csv(out, COLUMNS, rows)
    return {
        "questions": float(len(queries)),
        "passages_read": float(depth),
        "f1": float(values.mean()),
        **shares(codes, cuts),
        **effect_metrics(rows),
    }
