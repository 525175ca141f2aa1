"""Lists of passages where a model chose the entity: whom it chose, the passages in order, and what they are worth."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from trivium.core.image_shards import Images
from trivium.core.matrices import read_matrix
from trivium.core.tables import read_table
from trivium.formats.questions import Question
from trivium.kvqae.knowledge_base.passage_texts import ArticlePassages, Ids, PassageTexts
from trivium.kvqae.reader.answered_rows import Values, answer_all, measure
from trivium.kvqae.reader.identification import NONE, Candidate, Identifier, ask_which, choice_of
from trivium.kvqae.reader.inputs import Row, judged, select_passages
from trivium.kvqae.reader.pairs import Pair
from trivium.kvqae.reader.prompted import Asked, ask_messages, is_readable
from trivium.kvqae.reader.reading import Reading
from trivium.kvqae.retrieval.dense_search import KB, QUERIES
from trivium.measures.ranking import evaluate
from trivium.measures.runs import PADDING, Run
from trivium.prompting.answer_cache import AnswerCache

RANKED = ("mrr", "precision@1", "hits@20")


class Choice(NamedTuple):
    """What a model said of a question's entities."""

    reply: str | None  # None: it was not asked; empty: it refused
    article: int | None  # None: none of them, or nobody knows


def choose(
    model: Identifier,
    questions: Sequence[Question],
    candidates: Sequence[Sequence[int]],
    articles: Mapping[str, Sequence[Any]],
    pictures: Images,
    article_pictures: Images,
    cache: AnswerCache,
    *,
    max_pixels: int,
) -> tuple[list[Choice], Counter[str]]:
    """Ask about each question with a picture that can be read and with candidates.

    Args:
        model: who is asked.
        questions: of a split.
        candidates: articles of each question, best first.
        articles: `title` and `image` of all.
        pictures: of the questions.
        article_pictures: of the articles.
        cache: answers that were paid for.
        max_pixels: of a picture.

    Returns:
        The choices, and counts: `none` of them, `unclear` replies, questions `without_picture` or candidates, and those
        of `ask_messages`.
    """
    limits = {"max_side": model.max_side, "max_pixels": max_pixels}

    def candidate(article: int) -> Candidate:
        image = articles["image"][article]
        known = image is not None and image in article_pictures
        return Candidate(articles["title"][article], partial(article_pictures.read, image) if known else None)

    messages: list[Asked | None] = []
    for question, row in zip(questions, candidates, strict=True):
        name = question.image
        if row and name is not None and name in pictures and is_readable(pictures.read(name), **limits):
            read, shown = partial(pictures.read, name), list(map(candidate, row))
            messages.append(ask_which(model, question.text, read, shown, **limits))
        else:
            messages.append(None)
    sent = [message for message in messages if message is not None]
    words, counts = ask_messages(model, sent, cache, **limits)
    counts.update(without_picture=messages.count(None))
    choices = []
    for message, row in zip(messages, candidates, strict=True):
        reply = None if message is None else words.get(message.key, "")
        number = None if reply is None else choice_of(reply, [articles["title"][article] for article in row])
        counts.update(none=int(number == NONE), unclear=int(reply is not None and number is None))
        choices.append(Choice(reply, row[number - 1] if number else None))
    return choices, counts


def rank_within(
    run: Run, vectors: Path, passages_of: ArticlePassages, articles: Sequence[int | None], name: str
) -> Run:
    """Rank the passages of each question's article by their vectors; without an article the list of `run` stays.

    Args:
        run: over the test questions.
        vectors: folder of a text encoder's vectors, of all passages and questions.
        passages_of: article → its passages.
        articles: one a question.
        name: of the result.
    """
    matrix, queries = read_matrix(vectors / KB), read_matrix(vectors / QUERIES)
    table = read_table(vectors / "queries.parquet")
    row_of = {
        key: row for row, key in enumerate(zip(*(table[name].to_pylist() for name in ("split", "id")), strict=True))
    }
    lists = {}
    for query, article, documents, scores in zip(run.queries, articles, run.documents, run.scores, strict=True):
        if article is None:
            there = documents != PADDING
            lists[query] = dict(zip(documents[there].tolist(), scores[there].tolist(), strict=True))
            continue
        own = passages_of(article)
        given = np.asarray(matrix[own], np.float32) @ np.asarray(queries[row_of["test", query]], np.float32)
        lists[query] = dict(zip(own.tolist(), given.tolist(), strict=True))
    return Run.from_dict(lists, run.documents.shape[1], name)


def measure_lists(
    lists: Mapping[str, Run],
    questions: Sequence[Question],
    texts: PassageTexts,
    own: Mapping[str, Ids],
    read: Callable[[Sequence[Pair]], Mapping[Pair, Reading]],
    passages: int,
) -> dict[str, dict[str, Any]]:
    """MRR, P@1, Hits@20, F1 and EM of lists, (questions,) each; of the full oracle of the first one F1 and EM.

    Args:
        lists: of the same questions.
        questions: in their order.
        texts: of all passages in the lists and in `own`.
        own: entity → the passages of its article.
        read: what a reader finds in pairs of question and passage.
        passages: best ones read.
    """
    first = next(iter(lists.values()))
    rows = {name: (run, "none") for name, run in lists.items()} | {"full_oracle": (first, "full")}
    selections = {}
    for name, (run, oracle) in rows.items():
        row = Row.model_validate({"model": "few_shot", "run": run.name, "passages": passages, "oracle": oracle})
        selections[name] = select_passages(row, questions, run, texts, own, passages)
    pairs = {(one.question.text, each) for row in selections.values() for one in row for each in one.passages.tolist()}
    readings = dict(read(sorted(pairs)))
    measured: dict[str, dict[str, Any]] = {}
    for name, selected in selections.items():
        values: Values = measure(selected, answer_all(selected, readings, weighted=False))
        ranked = evaluate(lists[name], judged(questions, lists[name], texts), RANKED) if name in lists else {}
        measured[name] = {**ranked, **values}
    return measured
