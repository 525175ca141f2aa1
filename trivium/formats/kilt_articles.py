"""Articles of KILT's knowledge source: Wikipedia's, one JSON object a line (kvqae.md §1)."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from trivium.formats.json_fields import Field, read_records


@dataclass(frozen=True)
class KiltArticle:
    """One article.

    Attributes:
        id: `wikipedia_id`, unique in its file.
        title: title of the page.
        text: the paragraphs as KILT has them; the first is the title.
        wikidata_id: the entity that the article is about, such as `Q12`; None where KILT names none.
        aliases: other names of the entity, as KILT has them; one may be blank.
    """

    id: str
    title: str
    text: tuple[str, ...]
    wikidata_id: str | None
    aliases: tuple[str, ...]


def article_records(path: Path) -> Iterator[Field]:
    """Stream the records of a file of articles, each of which has a `wikipedia_id` of its own; see `read_records`."""
    return read_records(path, "wikipedia_id", "article")


def read_articles(path: Path) -> Iterator[KiltArticle]:
    """Stream the articles of a file.

    Raises:
        BadInput: see `article_records` and `parse_article`.
    """
    return map(parse_article, article_records(path))


def parse_article(article: Field) -> KiltArticle:
    """Read the record of one article, whose `wikidata_info` may be absent or null.

    Raises:
        BadInput: a field is missing, empty or of the wrong type.
    """
    info = article.get_or("wikidata_info", {})
    return KiltArticle(
        article["wikipedia_id"].text(empty=False),
        article["wikipedia_title"].text(empty=False),
        article["text"].texts(),
        info.get_or("wikidata_id", "").text() or None,
        info.get_or("aliases", ()).texts(),
    )
