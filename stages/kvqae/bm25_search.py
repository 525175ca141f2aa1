"""Stage `kvqae-bm25_search`. BM25 with k1 and b from a grid on validation."""

from pathlib import Path

from trivium.core.csv_tables import write_csv
from trivium.core.stage import Context, run_stage
from trivium.formats.questions import read_questions
from trivium.kvqae.retrieval.bm25 import Bm25SearchParameters, Search, grid, grid_search, write_runs


def main(
    parameters: Bm25SearchParameters,
    context: Context,
    *,
    questions: Path = Path("data/kvqae/{kvqae.dataset}/viquae"),
    index: Path = Path("data/kvqae/indexes/kb"),
    passages: Path = Path("data/kvqae/kb/passages.parquet"),
    articles: Path = Path("data/kvqae/kb/articles.parquet"),
    out: Path = Path("data/kvqae/runs/text/bm25"),
    out_grid: Path = Path("metrics/kvqae/bm25_grid.csv"),
) -> dict[str, float]:
    """Choose k1 and b; with them search ViQuAE in the knowledge base."""
    search = Search(index, parameters, context.engine)
    points = grid_search(
        search,
        read_questions(questions / "validation.jsonl"),
        passages,
        articles,
        settings=grid(parameters.k1_step, parameters.b_step),
        work=context.work,
    )
    best = max(points, key=lambda point: point.mrr)  # the first one among equals
    write_csv(out_grid, ["k1", "b", "mrr"], ([point.k1, point.b, point.mrr] for point in points))
    unanswered = write_runs(out, search, questions, k1=best.k1, b=best.b)
    metrics: dict[str, float] = {"k1": best.k1, "b": best.b, "validation_mrr": best.mrr, "settings": len(points)}
    return metrics | {f"viquae_{split}_without_result": count for split, count in unanswered.items()}


if __name__ == "__main__":
    run_stage(main, "kvqae.bm25_search", Bm25SearchParameters, metrics="metrics/kvqae/bm25_search.json")
