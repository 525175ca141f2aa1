"""Articles of KILT's knowledge source: Wikipedia's, one JSON object a line (kvqae.md §1)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trivium.core.errors import BadInput
from trivium.core.tables import read_json_lines


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
    seen: set[str] = set()
    for row, record in read_json_lines(path):
        article = parse_article(record, path, row)
        if article.id in seen:
            raise BadInput("article twice", file=path, row=row, field="wikipedia_id", got=article.id)
        seen.add(article.id)
        yield row, article


def parse_article(record: Mapping[str, Any], file: Path, row: int) -> KiltArticle:
    """One article; `wikidata_info` may be absent or null.

    Raises:
        BadInput: a field is missing, empty or of the wrong type.
    """
    identifier, title = (_text(record, name, file, row) for name in ("wikipedia_id", "wikipedia_title"))
    info = record.get("wikidata_info") or {}
    if not isinstance(info, dict):
        raise BadInput("not an object", file=file, row=row, field="wikidata_info", got=info)
    entity = info.get("wikidata_id")
    if entity is not None and not isinstance(entity, str):
        raise BadInput("not a text", file=file, row=row, field="wikidata_info.wikidata_id", got=entity)
    aliases = _texts(info.get("aliases") or (), "wikidata_info.aliases", file, row)
    return KiltArticle(identifier, title, _texts(record.get("text"), "text", file, row), entity or None, aliases)


def _text(record: Mapping[str, Any], field: str, file: Path, row: int) -> str:
    value = record.get(field)
    if not isinstance(value, str) or not value.strip():
        raise BadInput("missing or empty", file=file, row=row, field=field, got=value, expected="a text")
    return value


def _texts(value: Any, field: str, file: Path, row: int) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(text, str) for text in value):
        raise BadInput("not a list of texts", file=file, row=row, field=field, got=value)
    return tuple(value)
