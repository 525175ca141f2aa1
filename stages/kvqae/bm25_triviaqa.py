"""Stage `kvqae-bm25_triviaqa`. TriviaQA's questions searched in all articles, with ViQuAE's k1 and b."""

from pathlib import Path

from trivium.core.stage import Context, run_stage
from trivium.core.tables import read_json
from trivium.kvqae.retrieval.bm25 import Search, SearchParameters, write_runs
from trivium.kvqae.source_questions import check_no_leak


class Bm25TriviaqaParameters(SearchParameters):
    """Section `kvqae.bm25_triviaqa`."""


def main(
    parameters: Bm25TriviaqaParameters,
    context: Context,
    *,
    viquae: Path = Path("data/kvqae/{kvqae.dataset}/viquae"),
    triviaqa: Path = Path("data/kvqae/{kvqae.dataset}/triviaqa"),
    index: Path = Path("data/kvqae/indexes/wikipedia"),
    chosen: Path = Path("metrics/kvqae/bm25_search.json"),
    out: Path = Path("data/kvqae/runs/bm25_triviaqa"),
) -> dict[str, float]:
    """Search with the `k1` and `b` of --chosen, the metrics of stage bm25_search.

    Every training on TriviaQA reads these lists: none can start where one of its questions is ViQuAE's.
    """
    without_original = check_no_leak(viquae, triviaqa)
    search, best = Search(index, parameters, context.engine), read_json(chosen)
    unanswered = write_runs(out, search, triviaqa, k1=best["k1"], b=best["b"])
    return {
        "viquae_without_original_question": without_original,
        **{f"triviaqa_{split}_without_result": count for split, count in unanswered.items()},
    }


if __name__ == "__main__":
    run_stage(main, "kvqae.bm25_triviaqa", Bm25TriviaqaParameters, metrics="metrics/kvqae/bm25_triviaqa.json")
