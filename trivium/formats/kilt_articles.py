"""Articles of KILT's knowledge source: Wikipedia's, one JSON object a line (kvqae.md §1)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trivium.core.errors import BadInput
from trivium.core.tables import read_json_lines
from trivium.formats.json_fields import Field


@dataclass(frozen=True)
class KiltArticle:
    """One article.

    Attributes:
        id: `wikipedia_id`, unique in its file.
        title: of its page.
        text: its paragraphs as KILT has them; the first is the title.
        wikidata_id: its entity, such as `Q12`; None where it has none.
        aliases: other names of the entity, as KILT has them; one may be blank.
    """

    id: str
    title: str
    text: tuple[str, ...]
    wikidata_id: str | None
    aliases: tuple[str, ...]


def read_articles(path: Path) -> Iterator[tuple[int, KiltArticle]]:
    """Stream (row from 1, article).

    Raises:
        BadInput: see `parse_article`; or an id stands twice.
    """
    identifiers: set[str] = set()
    for row, record in read_json_lines(path):
        article = parse_article(record, path, row)
        if article.id in identifiers:
            raise BadInput("article twice", file=path, row=row, field="wikipedia_id", got=article.id)
        identifiers.add(article.id)
        yield row, article


def parse_article(record: Mapping[str, Any], file: Path, row: int) -> KiltArticle:
    """One article; `wikidata_info` may be absent or null.

    Raises:
        BadInput: a field is missing, empty or of the wrong type.
    """
    article = Field(record, file, row)
    info = article.get_or("wikidata_info", {})
    return KiltArticle(
        article["wikipedia_id"].text(empty=False),
        article["wikipedia_title"].text(empty=False),
        article["text"].texts(),
        info.get_or("wikidata_id", "").text() or None,
        info.get_or("aliases", ()).texts(),
    )
