"""Stage `kvqae-bm25_search`. Search ViQuAE and TriviaQA by BM25, with k1 and b from a grid on validation."""

from pathlib import Path

from trivium.core.stage import Context, stage
from trivium.core.tables import write_csv, write_json
from trivium.formats.questions import read_questions
from trivium.kvqae.retrieval.bm25 import Bm25SearchParameters, grid_search, write_runs
from trivium.kvqae.source_questions import check_no_leak


@stage("kvqae.bm25_search", metrics="metrics/kvqae/bm25_search.json")
def main(
    parameters: Bm25SearchParameters,
    context: Context,
    *,
    questions: Path = Path("data/kvqae/{kvqae.dataset}/viquae"),
    index: Path = Path("data/kvqae/indexes/kb"),
    kb: Path = Path("data/kvqae/kb"),
    triviaqa: Path = Path("data/kvqae/{kvqae.dataset}/triviaqa"),
    wikipedia: Path = Path("data/kvqae/indexes/wikipedia"),
    out: Path = Path("data/kvqae/runs/text/bm25"),
    out_triviaqa: Path = Path("data/kvqae/runs/bm25_triviaqa"),
    out_triviaqa_counts: Path = Path("metrics/kvqae/bm25_triviaqa.json"),
    out_grid: Path = Path("metrics/kvqae/bm25_grid.csv"),
) -> dict[str, float]:
    """Choose k1 and b; with them search ViQuAE in the knowledge base, and TriviaQA in all articles.

    A TriviaQA training question that one of ViQuAE's was made from is refused.
    """
    without_original = check_no_leak(questions, triviaqa)
    validation = read_questions(questions / "validation.jsonl")
    points = grid_search(index, parameters, context.engine, validation, kb, context.work)
    k1, b, mrr = max(points, key=lambda point: point[2])  # the first one among equals
    write_csv(out_grid, ["k1", "b", "mrr"], points)
    unanswered = write_runs(out, index, parameters, context.engine, questions, k1=k1, b=b)
    unanswered_triviaqa = write_runs(out_triviaqa, wikipedia, parameters, context.engine, triviaqa, k1=k1, b=b)
    counts = {f"triviaqa_{split}_without_result": count for split, count in unanswered_triviaqa.items()}
    write_json(out_triviaqa_counts, {"viquae_without_original_question": without_original, **counts})
    metrics: dict[str, float] = {"k1": k1, "b": b, "validation_mrr": mrr, "settings": len(points)}
    return metrics | {f"viquae_{split}_without_result": count for split, count in unanswered.items()}
