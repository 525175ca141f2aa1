"""Stage `kvqae-relevance`. Pooled relevance of passages and articles."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.parameters import Parameters
from trivium.core.stage import Context, run_stage
from trivium.core.tables import write_json
from trivium.formats.questions import SPLITS, Question, read_questions
from trivium.formats.trec import read_run, write_qrels
from trivium.kvqae.knowledge_base.passage_texts import ArticlePassages
from trivium.kvqae.retrieval.relevance import _union, judge_articles, judge_passages, pool_runs
from trivium.kvqae.retrieval.systems import NAMES, NameEncoders, system_of, write_brought_runs
from trivium.kvqae.retrieval.text_encoders import TextEncoders
from trivium.measures.answers import is_matchable
from trivium.measures.runs import Run
from trivium.vision.encoder_registry import SECTION, ImageEncoders


class RelevanceParameters(Parameters):
    """Section `kvqae.relevance`."""

    elsewhere: ClassVar = {
        "depth": "kvqae.depth",
        "text_encoders": "kvqae.text_encoders",
        "image_encoders": SECTION,
        "name_encoders": NAMES,
    }
    depth: int = Field(ge=1, description="Best results of each system that go into the pool")
    text_encoders: TextEncoders
    image_encoders: ImageEncoders
    name_encoders: NameEncoders


def _read_runs(paths: Iterable[Path], questions: Sequence[Question], documents: int) -> list[Run]:
    runs = []
    for path in paths:
        if not path.is_file():
            raise BadInput("no run of this split", file=path)
        run = read_run(path)
        if run.documents.max() >= documents:
            raise BadInput("no such document", file=path, got=run.documents.max(), expected=f"below {documents}")
        if unknown := set(run.queries) - {question.id for question in questions}:
            raise BadInput("unknown question", file=path, got=min(unknown), expected="an id of the split")
        runs.append(run)
    return runs


def write_relevance(
    parameters: RelevanceParameters,
    *,
    questions: Path,
    text_runs: Path,
    image_runs: Path,
    brought: Path,
    passages: Path,
    articles: Path,
    out: Path,
) -> dict[str, float]:
    """Pool the systems' results and judge them, passages and articles, for each split.

    `text_runs`, `image_runs` and `brought` hold a folder a system; `<split>.trec` in it ranks passages, and
    `<split>_articles.trec`, where there is one, articles. A brought run may lack splits. The articles of pooled
    passages are pooled too.
    """
    folders = [
        *(text_runs / name for name in ("bm25", *parameters.text_encoders)),
        *(text_runs / system_of(name) for name in parameters.name_encoders),
        *(image_runs / name for name in parameters.image_encoders),
    ]
    article_of = ArticlePassages(passages).article_of
    metrics: dict[str, float] = {}
    with write_atomically(out) as beside:
        for split in SPLITS:
            asked = read_questions(questions / f"{split}.jsonl")
            given = filter(Path.exists, (folder / f"{split}.trec" for folder in sorted(brought.iterdir())))
            found = _read_runs([*(folder / f"{split}.trec" for folder in folders), *given], asked, len(article_of))
            by_article = [folder / f"{split}_articles.trec" for folder in folders]
            found_articles = _read_runs(filter(Path.exists, by_article), asked, int(article_of[-1]) + 1)
            pool = pool_runs(asked, found, parameters.depth)
            article_pool = [
                _union([article_of[passage_ids], article_ids])
                for passage_ids, article_ids in zip(
                    pool, pool_runs(asked, found_articles, parameters.depth), strict=True
                )
            ]
            passage_qrels = judge_passages(asked, pool, passages, articles)
            article_qrels = judge_articles(asked, article_pool, passages, articles)
            write_qrels(beside / f"{split}_passage.qrels", passage_qrels)
            write_qrels(beside / f"{split}_article.qrels", article_qrels)
            metrics |= {
                f"{split}_questions": len(asked),
                f"{split}_judged_passages": sum(map(len, pool)),
                f"{split}_judged_articles": sum(map(len, article_pool)),
                f"{split}_without_relevant_passage": sum(not len(ids) for ids in passage_qrels.relevant),
                f"{split}_without_relevant_article": sum(not len(ids) for ids in article_qrels.relevant),
                f"{split}_answers_normalised_to_nothing": sum(
                    not is_matchable(answer) for question in asked for answer in question.answers
                ),
            }
    return metrics


def main(
    parameters: RelevanceParameters,
    context: Context,
    *,
    questions: Path = Path("data/kvqae/{kvqae.dataset}/viquae"),
    text_runs: Path = Path("data/kvqae/runs/text"),
    image_runs: Path = Path("data/kvqae/runs/image"),
    brought: Path = Path("brought/kvqae/runs"),
    passages: Path = Path("data/kvqae/kb/passages.parquet"),
    articles: Path = Path("data/kvqae/kb/articles.parquet"),
    out: Path = Path("data/kvqae/relevance"),
    out_brought: Path = Path("data/kvqae/runs/brought"),
    out_brought_counts: Path = Path("metrics/kvqae/brought_runs.json"),
) -> dict[str, float]:
    """Cut brought runs, a TREC file each, into splits; then judge what all systems found."""
    counts = write_brought_runs(
        brought=brought, questions=questions, passages=passages, depth=parameters.depth, out=out_brought
    )
    write_json(out_brought_counts, counts)
    return write_relevance(
        parameters,
        questions=questions,
        text_runs=text_runs,
        image_runs=image_runs,
        brought=out_brought,
        passages=passages,
        articles=articles,
        out=out,
    )


if __name__ == "__main__":
    run_stage(main, "kvqae.relevance", RelevanceParameters, metrics="metrics/kvqae/relevance.json")
