"""Stage `kvqae-evaluate_reranking`. Compute Tables 5 and 6 with significance, split by encoders' training data."""

from dataclasses import replace
from pathlib import Path

from trivium.core.stage import stage
from trivium.core.tables import read_table, write_json, write_table
from trivium.formats.questions import read_questions
from trivium.formats.trec import read_qrels
from trivium.kvqae.knowledge_base.passage_texts import ArticlePassages
from trivium.kvqae.rerankers import evaluation
from trivium.kvqae.rerankers.fusion import read_lists
from trivium.kvqae.rerankers.model_files import IDENTITIES, LANDMARKS, is_left_out
from trivium.kvqae.retrieval.evaluation import measure_blocks, subsets
from trivium.measures.reorder import best_passages


@stage("kvqae.evaluate_reranking", metrics="metrics/kvqae/evaluate_reranking.json")
def main(
    parameters: evaluation.RerankingTablesParameters,
    *,
    initial: Path = Path("data/kvqae/runs/{kvqae.initial.folder}/{kvqae.initial.run}/test.trec"),
    bm25_image: Path = Path("data/kvqae/runs/fused/bm25_image/test.trec"),
    reranked: Path = Path("data/kvqae/runs/reranked"),
    fused: Path = Path("data/kvqae/runs"),
    brought: Path = Path("data/kvqae/runs/brought"),
    relevance: Path = Path("data/kvqae/relevance"),
    kb: Path = Path("data/kvqae/kb"),
    questions: Path = Path("data/kvqae/{kvqae.dataset}/viquae/test.jsonl"),
    routing: Path = Path("data/kvqae/routing/test.parquet"),
    identities: Path = Path("models/kvqae/base"),
    landmarks: Path = Path("models/kvqae/rrt"),
    out_tables: Path = Path("data/kvqae/evaluation/reranking.json"),
    out_per_query: Path = Path("metrics/kvqae/evaluate_reranking_per_query.parquet"),
) -> dict[str, float]:
    """Measure every block.

    `reranked` has a folder of runs for each re-ranker, `fused` for each fusion (row `image` is `image_alone`), and
    `brought` for each brought run; `identities` and `landmarks` are the models of ArcFace and of RRT.
    """
    subset = subsets(read_table(routing, ["question", "face", "human"]))
    folders = {"image": "image_alone", **{name: name for name in ("text_image", "text_initial", "text_image_initial")}}
    of_initial = {name: reranked / name / "test.trec" for name in parameters.rerankers}
    of_initial |= {row: fused / f"reranked_{name}" / "test.trec" for row, name in folders.items()}
    theirs = {path.parent.name: path for path in sorted(brought.glob("*/test.trec"))}
    paths = {"initial": initial, "bm25_image": bm25_image, **of_initial, **theirs}
    runs = read_lists(paths, subset["all"])
    article_of = ArticlePassages(kb).article_of
    by_level = {"passage": runs, "article": {name: best_passages(run, article_of) for name, run in runs.items()}}
    qrels = {level: read_qrels(relevance / f"test_{level}.qrels") for level in ("passage", "article")}

    lists = {"identities": identities / IDENTITIES, "landmarks": landmarks / LANDMARKS}
    entity_of = {question.id: question.wikidata_id for question in read_questions(questions)}
    subset |= evaluation.split_by_overlap(subset, entity_of, lists)
    blocks = evaluation.blocks_of(parameters.rerankers, tuple(theirs))
    for name, path in lists.items():
        blocks |= evaluation.OVERLAP_BLOCKS[name] if path.is_file() else {}
    left_out = is_left_out(landmarks)
    in_use = runs.keys() - ({"rrt"} if left_out else set())
    rows = {key: tuple(row for row in block.rows if row in in_use) for key, block in blocks.items()}
    blocks = {key: replace(block, rows=rows[key]) for key, block in blocks.items()}
    metrics, tables, per_query = measure_blocks(blocks, by_level, qrels, subset, parameters)
    metrics |= {f"{name}_questions": float(len(ids)) for name, ids in subset.items()}
    metrics |= {f"{name}_listed": float(path.is_file()) for name, path in lists.items()}
    metrics["rrt_left_out"] = float(left_out)
    for block, better, other in evaluation.COMPARED:
        if block not in tables or not {better, other} <= set(blocks[block].rows):
            continue
        place = blocks[block].rows.index
        for kind in ("mrr", "precision@1"):
            name = f"{block}_{better}_over_{other}_{kind}"
            metrics[f"{name}_difference"] = metrics[f"{block}_{better}_{kind}"] - metrics[f"{block}_{other}_{kind}"]
            metrics[f"{name}_p"] = tables[block]["p"][kind][place(better)][place(other)]
    write_json(out_tables, tables)
    write_table(out_per_query, per_query)
    return metrics
