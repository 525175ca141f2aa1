"""The Wikipedia articles that TagMe found in questions, as KILT has them, with what their entities are called."""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tqdm import tqdm

from trivium.core.errors import BadInput
from trivium.core.tables import read_json_lines
from trivium.formats.kilt_articles import parse_article
from trivium.formats.triviaqa import TriviaQuestion
from trivium.measures.answers import AnswerMatcher, normalize_answer

_PARENTHESES = re.compile(r"\s*\([^()]*\)\s*$")


@dataclass
class LinkedArticle:
    """An article that some question links to.

    Attributes:
        title, wikipedia_id: KILT's.
        wikidata_id: its entity; None when KILT does not know it.
        aliases: of the entity, as KILT gives them.
        answers_to: the questions that link to it and whose answer its text contains.
    """

    title: str
    wikipedia_id: str
    wikidata_id: str | None
    aliases: tuple[str, ...] = ()
    answers_to: set[str] = field(default_factory=set)

    @property
    def names(self) -> tuple[str, ...]:
        """The title with and without its parentheses, and the aliases; none twice."""
        return tuple(dict.fromkeys([self.title, without_parentheses(self.title), *self.aliases]))


def page_title(link: str) -> str:
    """A page's title as KILT spells it: blanks for underscores, the first letter in upper case."""
    title = " ".join(link.replace("_", " ").split())
    return title[:1].upper() + title[1:]


def without_parentheses(title: str) -> str:
    """The title without what Wikipedia adds to tell namesakes apart: "Phoenix (ship)" → "Phoenix"."""
    return _PARENTHESES.sub("", title) or title


def read_linked_articles(articles: Path, questions: Iterable[TriviaQuestion]) -> dict[str, LinkedArticle]:
    """Stream KILT's articles once, keeping those that are linked: by title, without their texts.

    Raises:
        BadInput: a linked article lacks a field, or its title stands twice.
    """
    linking: dict[str, list[TriviaQuestion]] = defaultdict(list)
    for question in questions:
        for link in set(map(page_title, question.links)):
            linking[link].append(question)
    matchers: dict[str, AnswerMatcher] = {}
    found: dict[str, LinkedArticle] = {}
    for row, record in tqdm(read_json_lines(articles), desc="articles", unit="article", mininterval=5, leave=False):
        title = record.get("wikipedia_title")
        if not isinstance(title, str) or title not in linking:
            continue
        if title in found:
            raise BadInput("title twice", file=articles, row=row, field="wikipedia_title", got=title)
        read = parse_article(record, articles, row)
        article = LinkedArticle(title, read.id, read.wikidata_id, tuple(filter(str.strip, read.aliases)))
        normalized = normalize_answer("\n".join(read.text))
        for question in linking[title]:
            matcher = matchers.setdefault(question.id, AnswerMatcher(question.answers))
            if matcher.matches_normalized(normalized):
                article.answers_to.add(question.id)
        found[title] = article
    return found
