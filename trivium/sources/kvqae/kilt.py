"""Records of the hub's data sets, in the one form that the stages read: KILT articles, Wikidata JSON, questions.

`datasets` turns a list of structures into a structure of lists, so the same field comes in two shapes:
`"text": ["…"]` or `"text": {"paragraph": ["…"]}`; both are accepted everywhere.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trivium.core.errors import BadInput

HUMAN = "Q5"
VIQUAE_FIELDS = ("image", "wikidata_id", "kilt_id", "url", "original_question")


def to_article(record: dict[str, Any], file: Path, row: int) -> dict[str, Any]:
    """A KILT article with the fields that are used; links and revision history are left behind."""
    info = record.get("wikidata_info") or {}
    return {
        "wikipedia_id": _text(record, "wikipedia_id", file, row),
        "wikipedia_title": _text(record, "wikipedia_title", file, row),
        "text": _strings(record.get("text"), "paragraph"),
        "categories": record.get("categories") or "",
        "wikidata_info": {
            "wikidata_id": info.get("wikidata_id"),
            "aliases": _strings(info.get("aliases"), "alias"),
            "description": info.get("description") or "",
        },
        "anchors": [],
    }


def to_entity(record: dict[str, Any], human: bool, file: Path, row: int) -> dict[str, Any]:
    """The Wikidata entity behind an article of ViQuAE's KB, as far as that set tells.

    It says whether the entity is a human (instance of Q5) and which image its authors chose for it (as P18, whichever
    property it came from); type, occupation and gender it does not tell.
    """
    info = record.get("wikidata_info") or {}
    label = info.get("wikidata_label") or record.get("wikipedia_title") or ""
    claims = {"P31": [_claim("P31", "wikibase-item", {"id": HUMAN, "entity-type": "item"})]} if human else {}
    if record.get("image"):
        claims["P18"] = [_claim("P18", "commonsMedia", record["image"])]
    aliases = [{"language": "en", "value": alias} for alias in _strings(info.get("aliases"), "alias")]
    return {
        "id": _text(info, "wikidata_id", file, row),
        "type": "item",
        "labels": {"en": {"language": "en", "value": label}},
        "aliases": {"en": aliases} if aliases else {},
        "claims": claims,
    }


def human_type() -> dict[str, Any]:
    """The entity Q5, which `to_entity` refers to."""
    return {
        "id": HUMAN,
        "type": "item",
        "labels": {"en": {"language": "en", "value": "human"}},
        "aliases": {},
        "claims": {},
    }


def to_question(record: dict[str, Any], file: Path, row: int) -> dict[str, Any]:
    """A question with its answers; `output` is one structure (ViQuAE) or one a valid answer (KILT)."""
    output = record.get("output")
    several = output if isinstance(output, list) else [output or {}]
    answers = list(dict.fromkeys(answer for one in several for answer in _strings(one.get("answer")) if answer))
    original = next((one["original_answer"] for one in several if one.get("original_answer")), None)
    if original is None and not answers:
        raise BadInput("no answer", file=file, row=row, field="output.answer", got=output, expected="at least one")
    kept: dict[str, Any] = {name: record[name] for name in VIQUAE_FIELDS if record.get(name)}
    return {
        "id": _text(record, "id", file, row),
        "input": _text(record, "input", file, row),
        **kept,
        "output": {
            "original_answer": original or answers[0],
            "answer": answers or [original],
            "provenance": [place for one in several for place in _provenance(one.get("provenance"))],
        },
        "meta": {},
    }


def _claim(prop: str, datatype: str, value: str | dict[str, str]) -> dict[str, Any]:
    kind = "string" if isinstance(value, str) else "wikibase-entityid"
    snak = {"snaktype": "value", "property": prop, "datatype": datatype, "datavalue": {"type": kind, "value": value}}
    return {"rank": "normal", "mainsnak": snak}


def _text(record: dict[str, Any], field: str, file: Path, row: int) -> str:
    value = record.get(field)
    if value is None or value == "":
        raise BadInput("missing", file=file, row=row, field=field, choices=record)
    return str(value)


def _strings(value: Any, key: str | None = None) -> list[str]:
    """The strings of a list, of a structure of lists, or of one string."""
    if isinstance(value, dict) and key is not None:
        value = value.get(key)
    if value is None:
        return []
    return [value] if isinstance(value, str) else [str(item) for item in value if item is not None]


def _provenance(value: Any) -> Iterator[dict[str, list[str]]]:
    """Each place that supports the answer; a place names one article or several."""
    if isinstance(value, dict):
        articles = list(_flat(value.get("wikipedia_id")))
        if articles:
            yield {"wikipedia_id": articles, "title": list(_flat(value.get("title")))}
    elif isinstance(value, list):
        for item in value:
            yield from _provenance(item)


def _flat(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _flat(item)
    elif value is not None:
        yield str(value)
