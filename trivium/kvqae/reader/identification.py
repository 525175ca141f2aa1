"""Identify a picture's entity: a model behind an endpoint chooses among retrieved ones (kvqae.md §5).

It replies with the number of a name, or 0 for none of them. Then only the passages of this entity are read.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import Field

from trivium.core.folding import fold
from trivium.core.image_shards import Images
from trivium.core.matrices import read_matrix
from trivium.core.tables import read_table
from trivium.formats.questions import Question
from trivium.kvqae.knowledge_base.passage_texts import ArticlePassages, Ids, PassageTexts
from trivium.kvqae.reader.answered_rows import Values, answer_all, measure
from trivium.kvqae.reader.inputs import judge_listed, select_passages
from trivium.kvqae.reader.prompted import Message, Part, ask_messages, is_readable
from trivium.kvqae.reader.reading import Pair, Reading
from trivium.kvqae.retrieval.dense_search import KB, QUERIES
from trivium.measures.ranking import evaluate
from trivium.measures.runs import PADDING, Run
from trivium.prompting.answer_cache import AnswerCache, key_of
from trivium.prompting.endpoint import EndpointModel
from trivium.vision.neighbours import exact_search

INSTRUCTION = (
    "The first picture shows a person, a place or a thing that a question is about. "
    "Numbered names follow, some of them with a picture of their own. Which of them does the first picture show? "
    "Reply with its number alone, or with 0 if it shows none of them."
)
NONE = 0  # the number of no entity
RANKED = ("mrr", "precision@1", "hits@20")
_STATED = re.compile(r"\b(?:is|number|answer|entity|option)[\s:*#]*(\d+)\b")
_LEADING = re.compile(r"[\W_]*(\d+)\b")


class Identifier(EndpointModel):
    """An entry of `kvqae.identifiers`."""

    endpoint: str = Field(description="Base URL, such as http://localhost:8000/v1")
    run: str = Field(description="Folder of the run whose best entities are compared")
    encoder: str = Field(description="Text encoder that ranks the passages of the chosen entity")
    entities: int = Field(default=5, ge=1, le=50, description="Best entities of the run that the model chooses among")
    passages: int = Field(default=5, ge=1, description="Best passages read")
    max_side: int = Field(default=512, ge=32, description="Longer side of the pictures that are sent, in pixels")


class Candidate(NamedTuple):
    """An entity that the picture may show, with its picture."""

    title: str
    picture: Callable[[], bytes] | None  # reads the file of its picture; None without one


def ask_which(
    model: EndpointModel, question: str, picture: Callable[[], bytes], candidates: Sequence[Candidate], **limits: int
) -> Message:
    """Make the message that asks which entity a picture shows; broken pictures of entities are left out.

    `picture` reads the picture's file, which can be decoded; `limits` are `max_side` and `max_pixels` of pictures.
    """
    parts: list[Part] = [INSTRUCTION, picture, f"The question: {question}"]
    for number, candidate in enumerate(candidates, 1):
        parts.append(f"{number}. {candidate.title}")
        if candidate.picture is not None and is_readable(candidate.picture(), **limits):
            parts.append(candidate.picture)
    content = [
        part if isinstance(part, str) else {"picture": hashlib.sha256(part()).hexdigest(), "side": limits["max_side"]}
        for part in parts
    ]
    return Message(key_of(model.model, [{"role": "user", "content": content}], model.sampling), parts)


def choice_of(words: str, titles: Sequence[str]) -> int | None:
    """Parse a reply: the chosen number from 1, or `NONE`; None if the reply is unclear.

    A reply may contain a title instead of its number, or more words than it should.
    """
    said, names = fold(words).casefold().strip(" .*"), [fold(title).casefold() for title in titles]
    if names.count(said) == 1:
        return names.index(said) + 1
    leading = _LEADING.match(words)
    if leading and int(leading[1]) <= len(titles):
        return int(leading[1])
    named = [number for number, name in enumerate(names, 1) if name in said]
    if len(named) == 1:
        return named[0]
    if not named and re.search(r"\bnone\b", said):
        return NONE
    numbers = {int(number) for number in _STATED.findall(said)}
    return numbers.pop() if not named and len(numbers) == 1 and max(numbers) <= len(titles) else None


class Choice(NamedTuple):
    """A model's choice among a question's entities."""

    reply: str | None  # None: not asked; empty: refused
    article: int | None  # None: none of them, or unclear


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
    """Ask a model about each question with a readable picture and with candidates, articles, best first.

    `articles` has `title` and `image` of all articles. Returns the choices, and counts: `none` of them, `unclear`
    replies, questions `without_picture` or candidates, and those of `ask_messages`.
    """
    limits = {"max_side": model.max_side, "max_pixels": max_pixels}

    def candidate(article: int) -> Candidate:
        image = articles["image"][article]
        has_picture = image is not None and image in article_pictures
        return Candidate(articles["title"][article], partial(article_pictures.read, image) if has_picture else None)

    messages: list[Message | None] = []
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
    """Rank the passages of each question's article by their vectors; without an article the list of `run` is kept.

    `vectors` is a text encoder's folder of vectors; `articles` has one article, or None, for each question.
    """
    matrix, queries = read_matrix(vectors / KB), read_matrix(vectors / QUERIES)
    table = read_table(vectors / "queries.parquet")
    places = zip(table["split"].to_pylist(), table["id"].to_pylist(), strict=True)
    row_of = {query: row for row, (split, query) in enumerate(places) if split == "test"}
    lists = {}
    for query, article, documents, scores in zip(run.queries, articles, run.documents, run.scores, strict=True):
        if article is None:
            kept = documents != PADDING
            lists[query] = dict(zip(documents[kept].tolist(), scores[kept].tolist(), strict=True))
            continue
        own = passages_of(article)
        (products,), (ranked,) = exact_search(queries[[row_of[query]]], matrix, len(own), rows=own)
        lists[query] = dict(zip(ranked.tolist(), products.tolist(), strict=True))
    return Run.from_dict(lists, run.documents.shape[1], name)


def measure_lists(
    lists: Mapping[str, Run],
    questions: Sequence[Question],
    texts: PassageTexts,
    own: Mapping[str, Ids],
    read: Callable[[Sequence[Pair]], Mapping[Pair, Reading]],
    passages: int,
) -> dict[str, dict[str, Any]]:
    """Measure lists: MRR, P@1, Hits@20, F1 and EM, (questions,) each; F1 and EM of the first list's full oracle.

    Args:
        lists: runs of the same questions, in their order.
        texts: texts of all passages in the lists and in `own`.
        own: entity → the passages of its article.
        read: returns the best spans of pairs of question and passage.
        passages: number of best passages that are read.
    """
    first = next(iter(lists.values()))
    selections = {name: select_passages("none", questions, run, texts, own, passages) for name, run in lists.items()}
    selections["full_oracle"] = select_passages("full", questions, first, texts, own, passages)
    pairs = {(one.question.text, passage) for row in selections.values() for one in row for passage in one.passages}
    readings = dict(read(sorted((text, int(passage)) for text, passage in pairs)))
    measured: dict[str, dict[str, Any]] = {}
    for name, selected in selections.items():
        values: Values = measure(selected, answer_all(selected, readings, weighted=False))
        ranked = evaluate(lists[name], judge_listed(questions, lists[name], texts), RANKED) if name in lists else {}
        measured[name] = {**ranked, **values}
    return measured
