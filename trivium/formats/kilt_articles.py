"""Articles of KILT's knowledge source: Wikipedia's, one JSON object a line (kvqae.md §1)."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from trivium.formats.json_fields import Field, read_records


@dataclass(frozen=True)
class KiltArticle:
    """One article, with text and aliases as KILT has them; None stands for no entity."""

    id: str  # `wikipedia_id`, unique in its file
    title: str
    text: tuple[str, ...]  # paragraphs; the first is the title
    wikidata_id: str | None  # the entity that the article is about, such as `Q12`
    aliases: tuple[str, ...]  # other names of the entity; one may be blank


def read_articles(path: Path) -> Iterator[KiltArticle]:
    """Stream the articles of a file, each of which has a `wikipedia_id` of its own; see `read_records`."""
    return map(parse_article, read_records(path, "wikipedia_id", "article"))


def parse_article(article: Field) -> KiltArticle:
    """Read the record of one article, whose `wikidata_info` may be absent or null."""
    info = article.get_or("wikidata_info", {})
    return KiltArticle(
        article["wikipedia_id"].text(empty=False),
        article["wikipedia_title"].text(empty=False),
        article["text"].texts(),
        info.get_or("wikidata_id", "").text() or None,
        info.get_or("aliases", ()).texts(),
    )
