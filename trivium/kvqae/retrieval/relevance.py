"""Judge which pooled passages and articles contain an answer (kvqae.md §6)."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
from tqdm import tqdm

from trivium.core.errors import BadInput
from trivium.formats.questions import Question
from trivium.formats.trec import read_qrels
from trivium.kvqae.knowledge_base.passage_texts import ArticlePassages, Ids, numbers_of_rows, read_passage_texts
from trivium.measures.answers import AnswerMatcher, normalize_answer
from trivium.measures.runs import PADDING, Qrels, Run

AGREED = 0.9  # share of brought judgements that must hold an answer: titles and texts may differ a little


def judge_passages(questions: Sequence[Question], pool: Sequence[Ids], kb: Path) -> Qrels:
    """Judge passages: relevant if title or text contains an answer; `pool` has the passages of each question."""
    texts = read_passage_texts(kb, *pool)
    return _judge(questions, pool, lambda passage: [texts[passage]])


def judge_articles(questions: Sequence[Question], pool: Sequence[Ids], kb: Path) -> Qrels:
    """Judge articles: relevant if title or whole text contains an answer; arguments as in `judge_passages`."""
    passages_of = ArticlePassages(kb)
    ids = [passages_of(article) for article in _union(pool).tolist()]
    texts = read_passage_texts(kb, *ids)
    return _judge(questions, pool, lambda article: [texts[passage] for passage in passages_of(article).tolist()])


def brought_judgements(file: Path, questions: Sequence[Question], kb: Path) -> tuple[Qrels, dict[str, float]] | None:
    """Read judgements of passages that the user brings as TREC qrels; None where none of these questions is judged.

    Documents are rows of brought passages, or else of ours. The authors' judgements of the test questions are
    `experiments/ir/all_qrels.trec` of https://github.com/PaulLerner/ViQuAE. `BadInput`: no such passage, or a share
    below `AGREED` contains an answer. Returns the judgements, and counts of questions without any and of dropped
    passages, which have no article here.
    """
    qrels = read_qrels(file)
    numbers = numbers_of_rows(kb)
    relevant = dict(zip(qrels.queries, qrels.relevant, strict=True))
    rows = [relevant.get(question.id, np.empty(0, np.int64)) for question in questions]
    if not relevant.keys() & {question.id for question in questions}:
        return None
    if (last := max((int(row[-1]) for row in rows if len(row)), default=0)) >= len(numbers):
        raise BadInput("no such passage", file=file, field="document", got=last, expected=f"below {len(numbers)}")
    ids = [numbers[row] for row in rows]
    kept = [np.sort(row[row >= 0]) for row in ids]
    with_answer = judge_passages(questions, kept, kb).relevant
    judged, agreed = (sum(map(len, lists)) for lists in (kept, with_answer))
    if agreed < AGREED * judged:
        raise BadInput(
            "judged passages hold no answer: their rows are of another set of passages", file=file, field="document",
            got=f"{agreed} of {judged} hold one", expected=f"at least {AGREED:.0%}",
        )  # fmt: skip
    lost = sum(map(len, ids)) - judged
    unjudged = sum(question.id not in relevant for question in questions)
    counts = {"questions_unjudged": float(unjudged), "judged_without_article": float(lost)}
    return Qrels(tuple(question.id for question in questions), tuple(kept)), counts


def _judge(questions: Sequence[Question], pool: Sequence[Ids], parts: Callable[[int], list[tuple[str, str]]]) -> Qrels:
    """Judge every document with every question that pools it; a document's texts are normalised once.

    `parts` gives (title, text) of a document's parts; an answer may run on from one part to the next.
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
    """Pool the documents that any run has among the best `depth` of a question; sorted, one array a question."""
    queries = [question.id for question in questions]
    tops = [run.complete(queries).documents[:, :depth] for run in runs]
    return [_union(top[row][top[row] != PADDING] for top in tops) for row in range(len(queries))]
