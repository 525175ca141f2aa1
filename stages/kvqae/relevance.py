"""Relevance: which passages and articles hold an answer, over the pool of the compared systems (kvqae.md §6)."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
from pydantic import Field
from tqdm import tqdm

from stages.atomic import write_atomically
from stages.kvqae.article_passages import ArticlePassages, Ids
from stages.kvqae.passage_texts import read_passage_texts
from stages.kvqae.questions import SPLITS, Question, read_questions
from stages.measures.answers import AnswerMatcher, normalize_answer
from stages.measures.runs import PADDING, Qrels, Run
from stages.stage import BadInput, Context, Parameters, run_stage
from stages.trec import read_run, write_qrels


class RelevanceParameters(Parameters):
    """Section `kvqae.relevance`."""

    depth: int = Field(ge=1, description="Best results of each system that go into the pool")


def judge_passages(questions: Sequence[Question], pool: Sequence[Ids], passages: Path, articles: Path) -> Qrels:
    """A passage is relevant if its title or its text contains an answer.

    Args:
        questions: to judge for.
        pool: the passages to look at, for each question.
        passages, articles: Parquet files of the knowledge base, streamed once.
    """
    texts = read_passage_texts(passages, articles, _union(pool))
    return _judge(questions, pool, lambda passage: [texts[passage]])


def judge_articles(questions: Sequence[Question], pool: Sequence[Ids], passages: Path, articles: Path) -> Qrels:
    """An article is relevant if its title or its whole text contains an answer; arguments as in `judge_passages`."""
    passages_of = ArticlePassages(passages)
    ids = [passages_of(article) for article in _union(pool).tolist()]
    texts = read_passage_texts(passages, articles, _union(ids))
    return _judge(questions, pool, lambda article: [texts[passage] for passage in passages_of(article).tolist()])


def _judge(questions: Sequence[Question], pool: Sequence[Ids], parts: Callable[[int], list[tuple[str, str]]]) -> Qrels:
    """Judge every document with every question that pools it; a document's texts are normalised once.

    Args:
        questions, pool: as in `judge_passages`.
        parts: the (title, text) of a document's parts; an answer may run on from one part to the next.
    """
    askers: dict[int, list[int]] = defaultdict(list)
    for row, documents in enumerate(pool):
        for document in documents.tolist():
            askers[document].append(row)
    matchers = [AnswerMatcher(question.answers) for question in questions]
    relevant: list[list[int]] = [[] for _ in questions]
    for document in tqdm(sorted(askers), desc="relevance", unit="document", mininterval=5, leave=False):
        pieces = parts(document)
        title = normalize_answer(pieces[0][0]) if pieces else ""
        text = " ".join(normalize_answer(piece) for _, piece in pieces)
        for row in askers[document]:
            if matchers[row].matches_normalized(title) or matchers[row].matches_normalized(text):
                relevant[row].append(document)
    return Qrels(tuple(question.id for question in questions), tuple(np.array(ids, dtype=np.int64) for ids in relevant))


def _union(pool: Iterable[Ids]) -> Ids:
    return np.unique(np.concatenate([np.empty(0, np.int64), *pool]))


def pool_runs(questions: Sequence[Question], runs: Sequence[Run], depth: int) -> list[Ids]:
    """For each question the documents that any run has among its best `depth`, sorted."""
    queries = [question.id for question in questions]
    tops = [run.complete(queries).documents[:, :depth] for run in runs]
    return [_union(top[row][top[row] != PADDING] for top in tops) for row in range(len(queries))]


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


def main(
    parameters: RelevanceParameters,
    context: Context,
    *,
    questions: Path,
    runs: list[Path],
    passages: Path,
    articles: Path,
    out: Path,
) -> dict[str, float]:
    """Pool the systems' results and judge them, passages and articles, for each split.

    `runs` are the systems' folders; `<split>.trec` in them ranks passages, `<split>_articles.trec`, where there is one,
    articles. The articles of pooled passages are pooled too.
    """
    article_of = ArticlePassages(passages).article_of
    metrics: dict[str, float] = {}
    with write_atomically(out) as beside:
        for split in SPLITS:
            asked = read_questions(questions / f"{split}.jsonl")
            found = _read_runs([folder / f"{split}.trec" for folder in runs], asked, len(article_of))
            by_article = [folder / f"{split}_articles.trec" for folder in runs]
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
                    not normalize_answer(answer) for question in asked for answer in question.answers
                ),
            }
    return metrics


if __name__ == "__main__":
    run_stage(main, "kvqae.relevance", RelevanceParameters)
