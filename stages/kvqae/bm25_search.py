"""Stage `kvqae-bm25_search`. BM25 with k1 and b from a grid on validation."""

from pathlib import Path

from trivium.files.csv_tables import write_csv
from trivium.formats.questions import read_questions
from trivium.harness.stage import Context, run_stage
from trivium.kvqae.retrieval.bm25_search import Bm25SearchParameters, grid, grid_search, write_runs
from trivium.kvqae.retrieval.lucene import Searcher
from trivium.kvqae.source_questions import check_no_leak


def main(
    parameters: Bm25SearchParameters,
    context: Context,
    *,
    viquae: Path,
    triviaqa: Path,
    index_kb: Path,
    index_wikipedia: Path,
    passages: Path,
    articles: Path,
    out_viquae: Path,
    out_triviaqa: Path,
    out_grid: Path,
) -> dict[str, float]:
    """Choose k1 and b; with them search ViQuAE in the knowledge base, and TriviaQA in all articles.

    Every training on TriviaQA reads these lists: none can start where one of its questions is ViQuAE's.
    """
    without_original = check_no_leak(viquae, triviaqa)
    java = {"threads": parameters.threads, "heap_gib": parameters.heap_gib}
    knowledge_base = Searcher(index_kb, **java)
    points = grid_search(
        knowledge_base,
        read_questions(viquae / "validation.jsonl"),
        passages,
        articles,
        settings=grid(parameters.k1_step, parameters.b_step),
        depth=parameters.depth,
        work=context.work,
    )
    best = max(points, key=lambda point: point.mrr)  # the first one among equals
    write_csv(out_grid, ["k1", "b", "mrr"], ([point.k1, point.b, point.mrr] for point in points))
    metrics: dict[str, float] = {"k1": best.k1, "b": best.b, "validation_mrr": best.mrr, "settings": len(points)}
    metrics["viquae_without_original_question"] = without_original
    for name, out, searcher, folder in (
        ("viquae", out_viquae, knowledge_base, viquae),
        ("triviaqa", out_triviaqa, Searcher(index_wikipedia, **java), triviaqa),
    ):
        for split, unanswered in write_runs(out, searcher, folder, best, parameters.depth).items():
            metrics[f"{name}_{split}_without_result"] = unanswered
    return metrics


if __name__ == "__main__":
    run_stage(main, "kvqae.bm25_search", Bm25SearchParameters)
