"""Stage `kvqae-evaluate`. Compute Tables 2, 3 and 4 with significance, and Figure 4."""

from pathlib import Path

from pydantic import Field

from trivium.core.stage import stage
from trivium.core.tables import read_table, write_json, write_table
from trivium.formats.trec import read_qrels, read_run_over
from trivium.kvqae.knowledge_base.passage_texts import ArticlePassages
from trivium.kvqae.retrieval.evaluation import (
    TEXT,
    EvaluateParameters,
    blocks_of,
    measure_blocks,
    subsets,
    write_overlaps,
)
from trivium.kvqae.retrieval.fusion import ARTICLE_ROWS, PASSAGE_ROWS, RECIPROCAL_RANK_ROW
from trivium.kvqae.retrieval.systems import SystemsInUse, system_of
from trivium.measures.reorder import best_passages
from trivium.measures.runs import Run

TEST = "test.trec"


class TablesParameters(EvaluateParameters, SystemsInUse):
    """Section `kvqae.evaluate`."""

    spacy_model: str | None = Field(
        default=None, min_length=1, description="For lemmas: a package such as en_core_web_lg, or a folder; null: stems"
    )


@stage("kvqae.evaluate", metrics="metrics/kvqae/evaluate.json")
def main(
    parameters: TablesParameters,
    *,
    text_runs: Path = Path("data/kvqae/runs/text"),
    image_runs: Path = Path("data/kvqae/runs/image"),
    brought: Path = Path("data/kvqae/runs/brought"),
    fused: Path = Path("data/kvqae/runs/fused"),
    relevance: Path = Path("data/kvqae/relevance"),
    kb: Path = Path("data/kvqae/kb"),
    routing: Path = Path("data/kvqae/routing/test.parquet"),
    questions: Path = Path("data/kvqae/{kvqae.dataset}/viquae/test.jsonl"),
    out_tables: Path = Path("data/kvqae/evaluation/tables.json"),
    out_per_query: Path = Path("metrics/kvqae/evaluate_per_query.parquet"),
    out_overlaps: Path = Path("metrics/kvqae/lexical_overlap.parquet"),
    out_overlap_counts: Path = Path("metrics/kvqae/lexical_overlap.json"),
) -> dict[str, float]:
    """Measure every block, and the lexical overlap of question and first passage.

    Folders of runs have a subfolder for each row, and `brought` one for each brought run.
    """
    article_of = ArticlePassages(kb).article_of
    qrels = {level: read_qrels(relevance / f"test_{level}.qrels") for level in ("passage", "article")}
    subset = subsets(read_table(routing, ["question", "face", "human"]))
    everyone = subset["all"]
    texts = [name for name in parameters.text_encoders if name not in TEXT]
    names = [system_of(name) for name in parameters.name_encoders]
    theirs = sorted(path.parent for path in brought.glob(f"*/{TEST}"))
    added = [*texts, *names, *(path.name for path in theirs)]
    with_images = [f"{name}_image" for name in added if (fused / f"{name}_image" / TEST).is_file()]
    folders = [
        *(text_runs / name for name in ("bm25", *parameters.text_encoders, *names)),
        *theirs,
        *(fused / row for row in (*PASSAGE_ROWS, *with_images, RECIPROCAL_RANK_ROW)),
    ]
    runs: dict[str, dict[str, Run]] = {
        "passage": {folder.name: read_run_over(folder / TEST, everyone) for folder in folders}
    }
    runs["article"] = {name: best_passages(run, article_of) for name, run in runs["passage"].items()}
    runs["article"] |= {
        name: read_run_over(image_runs / name / "test_articles.trec", everyone) for name in parameters.image_encoders
    } | {row: read_run_over(fused / row / TEST, everyone) for row in ARTICLE_ROWS}

    metrics: dict[str, float] = {f"{name}_questions": float(len(ids)) for name, ids in subset.items()}
    blocks = blocks_of(parameters.image_encoders, added, with_images)
    measured, tables, per_query = measure_blocks(blocks, runs, qrels, subset, parameters)
    metrics |= measured
    best_text = max((*TEXT, *texts), key=lambda row: metrics[f"passage_{row}_mrr"])
    place = blocks["passage"].rows.index
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
    overlaps = write_overlaps(
        parameters.spacy_model,
        questions=questions,
        kb=kb,
        qrels=qrels["passage"],
        runs={name: runs["passage"][name] for name in ("bm25", "dpr_few_shot")},
        out=out_overlaps,
    )
    write_json(out_overlap_counts, overlaps)
    return metrics
