"""Join articles with their Wikidata entities and images (kvqae.md §1)."""

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field, field_validator
from tqdm import tqdm

from trivium.core.parameters import Parameters
from trivium.formats.kilt_articles import read_articles
from trivium.formats.wikidata import IMAGE_PROPERTIES, Entity, WikidataFile

# Starts of paragraphs that are headings, lists and remains of tables.
_NOT_TEXT = ("Section::::", "BULLET::::", "{|", "|")
_GENDERS = {"Q6581097": "male", "Q6581072": "female"}


class KnowledgeBaseParameters(Parameters):
    """Section `kvqae.knowledge_base`."""

    places: ClassVar = {"image_properties": "kvqae.image_properties"}
    image_properties: tuple[str, ...] = Field(
        min_length=1, description="Wikidata properties an article's image may come from; the first present wins"
    )

    @field_validator("image_properties")
    @classmethod
    def _are_image_properties(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if unknown := [name for name in names if name not in IMAGE_PROPERTIES]:
            raise ValueError(f"not image properties: {unknown} (choices: {', '.join(IMAGE_PROPERTIES)})")
        return names


def clean_paragraphs(text: Sequence[str]) -> list[str]:
    """Extract the running text of a KILT article: no title (paragraph 0), headings, lists or tables."""
    paragraphs = (" ".join(paragraph.split()) for paragraph in text[1:] if not paragraph.startswith(_NOT_TEXT))
    return [paragraph for paragraph in paragraphs if paragraph]


def describe(entity: Entity | None, wikidata: WikidataFile, image_properties: Sequence[str]) -> dict[str, Any]:
    """Describe an article's entity as columns; types and occupations by their labels."""
    entity = entity or Entity("")
    gender = next(iter(entity.values("P21")), None)
    return {
        "image": entity.image(image_properties),
        "human": entity.human,
        "gender": None if gender is None else _GENDERS.get(gender) or wikidata.label(gender),
        "occupations": [wikidata.label(item) for item in entity.values("P106")],
        "types": [wikidata.label(item) for item in entity.values("P31")],
        "deceased": entity.deceased,
    }


def join_articles(
    articles: Path,
    wikidata: WikidataFile,
    available: Container[str],
    image_properties: Sequence[str],
    counts: Counter[str],
) -> Iterator[dict[str, Any]]:
    """Stream the articles that have text, with columns from Wikidata, in the order of the file.

    An image that is not `available` counts as none; `counts` receives numbers of dropped and missing items.
    """
    for article in tqdm(read_articles(articles), desc="articles", unit="article", mininterval=5, leave=False):
        paragraphs = clean_paragraphs(article.text)
        if not paragraphs:
            counts["no_text"] += 1
            continue
        entity = wikidata.get(article.wikidata_id or "")
        counts["without_wikidata"] += entity is None
        columns = describe(entity, wikidata, image_properties)
        if columns["image"] is not None and columns["image"] not in available:
            counts["image_file_missing"] += 1
            columns["image"] = None
        yield {
            "title": article.title,
            "wikipedia_id": article.id,
            "wikidata_id": article.wikidata_id,
            "aliases": list(dict.fromkeys([*article.aliases, *(entity.aliases if entity else ())])),
            **columns,
            "text": paragraphs,
        }
