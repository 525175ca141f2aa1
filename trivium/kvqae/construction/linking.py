"""Link mentions in questions to the Wikipedia articles that TagMe found, as KILT has them."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import pyarrow as pa
from rapidfuzz.distance import Levenshtein
from tqdm import tqdm

from trivium.core.errors import BadInput
from trivium.core.folding import fold
from trivium.core.tables import read_json_lines
from trivium.formats.json_fields import Field
from trivium.formats.kilt_articles import parse_article
from trivium.formats.triviaqa import TriviaQuestion
from trivium.kvqae.construction.mentions import MENTION_SCHEMA, Mention
from trivium.measures.answers import AnswerMatcher, normalize_answer

_PARENTHESES = re.compile(r"\s*\([^()]*\)\s*$")


@dataclass
class LinkedArticle:
    """An article that a question links to.

    Attributes:
        title, wikipedia_id: as in KILT.
        wikidata_id: its entity; None if KILT has none.
        aliases: aliases of the entity in KILT.
        answers_to: the questions that link to it and whose answer its text contains.
    """

    title: str
    wikipedia_id: str
    wikidata_id: str | None
    aliases: tuple[str, ...] = ()
    answers_to: set[str] = field(default_factory=set)

    @property
    def names(self) -> tuple[str, ...]:
        """Distinct names: the title with and without its parentheses, and the aliases."""
        return tuple(dict.fromkeys([self.title, without_parentheses(self.title), *self.aliases]))


def page_title(link: str) -> str:
    """Spell a page's title as KILT does: blanks for underscores, the first letter in upper case."""
    title = " ".join(link.replace("_", " ").split())
    return title[:1].upper() + title[1:]


def without_parentheses(title: str) -> str:
    """Remove the disambiguation of a title: "Phoenix (ship)" → "Phoenix"."""
    return _PARENTHESES.sub("", title) or title


def read_linked_articles(articles: Path, questions: Iterable[TriviaQuestion]) -> dict[str, LinkedArticle]:
    """Stream KILT's articles once; returns those that are linked, by title, without their texts."""
    linking: dict[str, list[TriviaQuestion]] = defaultdict(list)
    for question in questions:
        for link in set(map(page_title, question.links)):
            linking[link].append(question)
    linked: dict[str, LinkedArticle] = {}
    for row, record in tqdm(read_json_lines(articles), desc="articles", unit="article", mininterval=5, leave=False):
        title = record.get("wikipedia_title")
        if not isinstance(title, str) or title not in linking:
            continue
        if title in linked:
            raise BadInput("title twice", file=articles, row=row, field="wikipedia_title", got=title)
        read = parse_article(Field(record, articles, row))
        article = LinkedArticle(title, read.id, read.wikidata_id, tuple(filter(str.strip, read.aliases)))
        normalized = normalize_answer("\n".join(read.text))
        for question in linking[title]:
            if AnswerMatcher(question.answers).matches_normalized(normalized):
                article.answers_to.add(question.id)
        linked[title] = article
    return linked


LINK_SCHEMA = pa.schema(
    [
        *MENTION_SCHEMA,
        ("title", pa.string()),
        ("wikipedia_id", pa.string()),
        ("wikidata_id", pa.string()),
        ("names", pa.list_(pa.string())),  # names of the entity: the title and its aliases
        ("answer", pa.string()),
        ("answers", pa.list_(pa.string())),
        ("distance", pa.float64()),
    ]
)


# Why a mention is not linked, in the order in which a link can fail: the link that came furthest gives the reason.
Reason = Literal["no_link", "distance_too_large", "no_article", "answer_not_in_article"]
REASONS: tuple[Reason, ...] = get_args(Reason)
CLAIMED = "claimed_by_nearer_mention"  # why a link is dropped
_POSSESSIVE = re.compile(r"['’]s?$")


class Link(NamedTuple):
    """The article of a mention's entity, and the distance of its nearest name to the mention."""

    article: LinkedArticle
    distance: float


def mention_distance(mention: str, name: str) -> float:
    """Compute the word Levenshtein distance over the longer length, in [0, 1], ignoring case and possessive ending."""
    a, b = _words(mention), _words(name)
    longer = max(len(a), len(b))
    return Levenshtein.distance(a, b) / longer if longer else 1.0


def _words(text: str) -> list[str]:
    return _POSSESSIVE.sub("", fold(text).casefold().strip()).split()


def link_mention(
    mention: Mention, question: TriviaQuestion, articles: Mapping[str, LinkedArticle], *, max_distance: float
) -> Link | Reason:
    """Find the article of a mention's entity, within `max_distance`, or the reason why there is none.

    A link without article is compared by its title alone.
    """
    reached: list[Reason] = ["no_link"]
    candidates: list[Link] = []
    for title in dict.fromkeys(map(page_title, question.links)):
        article = articles.get(title)
        names = article.names if article else (without_parentheses(title),)
        distance = min(mention_distance(mention.surface, name) for name in names)
        if distance > max_distance:
            reached.append("distance_too_large")
        elif article is None:
            reached.append("no_article")
        elif question.id not in article.answers_to:
            reached.append("answer_not_in_article")
        else:
            candidates.append(Link(article, distance))
    if not candidates:
        return max(reached, key=REASONS.index)
    return min(candidates, key=lambda link: (link.distance, link.article.title))


def _farther(links: Mapping[Mention, Link]) -> set[Mention]:
    """Find the mentions whose article is linked by a nearer mention of the question, and is not meant.

    An example is the second in "Unlike X Castle, Y Castle". A mention whose words, articles aside, are all in a name is
    kept, as "Lark" for "Ada Lark".
    """
    nearest: dict[tuple[str, str], float] = {}
    for mention, link in links.items():
        key = mention.question, link.article.title
        nearest[key] = min(link.distance, nearest.get(key, link.distance))
    return {
        mention
        for mention, link in links.items()
        if link.distance > nearest[mention.question, link.article.title]
        and not any(_bare_words(mention.surface) <= _bare_words(name) for name in link.article.names)
    }


def _bare_words(text: str) -> set[str]:
    return set(normalize_answer(_POSSESSIVE.sub("", fold(text).strip())).split())


def link_mentions(
    mentions: Sequence[Mention],
    questions: Mapping[str, TriviaQuestion],
    articles: Mapping[str, LinkedArticle],
    *,
    max_distance: float,
) -> tuple[list[dict[str, Any]], dict[str, float]]:
    """Link mentions, each a potential question; returns rows of `LINK_SCHEMA`, and counts of those left out."""
    counts: Counter[str] = Counter(dict.fromkeys((*REASONS, CLAIMED), 0))
    links: dict[Mention, Link] = {}
    for mention in mentions:
        link_or_reason = link_mention(mention, questions[mention.question], articles, max_distance=max_distance)
        if isinstance(link_or_reason, Link):
            links[mention] = link_or_reason
        else:
            counts[link_or_reason] += 1
    farther = _farther(links)
    counts[CLAIMED] = len(farther)
    rows = [
        vars(mention)
        | {
            "title": article.title,
            "wikipedia_id": article.wikipedia_id,
            "wikidata_id": article.wikidata_id,
            "names": list(article.names),
            "answer": questions[mention.question].answer,
            "answers": list(questions[mention.question].answers),
            "distance": distance,
        }
        for mention, (article, distance) in links.items()
        if mention not in farther
    ]
    metrics = {
        "mentions": float(len(mentions)),
        "linked": float(len(rows)),
        "linked_questions": float(len({row["question"] for row in rows})),
        "kept_share": len(rows) / len(mentions) if mentions else 0.0,
    }
    return rows, metrics | {reason: float(count) for reason, count in counts.items()}
