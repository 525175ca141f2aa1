"""A world of a few entities for the tests of the data set's construction, in the formats of its stages."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trivium.core.tables import write_json_lines
from trivium.kvqae.construction.mentions import Mention

MALE, FEMALE = "Q6581097", "Q6581072"


def mention(question: str, text: str, surface: str, dependency: str = "nsubj", **fields: Any) -> Mention:
    """A mention of the first `surface` in a text, its own subtree unless told otherwise."""
    start = text.index(surface)
    end = start + len(surface)
    span = {"subtree_start": start, "subtree_end": end, "possessive": False, "label": "PERSON", "head": "x"}
    return Mention(question=question, text=text, start=start, end=end, dependency=dependency, **span | fields)


def write_triviaqa(path: Path, questions: dict[str, tuple[str, list[str], list[str]]]) -> Path:
    """Questions by id: text, answers (the first as first written), titles of the linked pages."""
    records = [
        {
            "QuestionId": name,
            "Question": text,
            "Answer": {"Value": answers[0], "Aliases": answers[1:]},
            "EntityPages": [{"DocSource": "TagMe", "Title": title} for title in links],
        }
        for name, (text, answers, links) in questions.items()
    ]
    path.write_text(json.dumps({"Data": records}))
    return path


def article(number: str, title: str, *paragraphs: str, item: str | None = None, aliases: Sequence[str] = ()) -> Any:
    """An article of KILT's knowledge source."""
    record: dict[str, Any] = {"wikipedia_id": number, "wikipedia_title": title, "text": [title, *paragraphs]}
    return record | {"wikidata_info": {"wikidata_id": item, "aliases": list(aliases)}} if item else record


def entity(identifier: str, label: str | None, aliases: Sequence[str] = (), **claims: Sequence[str | None]) -> Any:
    """Official entity JSON; a value None is `somevalue`, one that begins with Q an item."""

    def statement(value: str | None) -> dict[str, Any]:
        if value is None:
            return {"rank": "normal", "mainsnak": {"snaktype": "somevalue"}}
        known = {"id": value} if value.startswith("Q") else value
        return {"rank": "normal", "mainsnak": {"snaktype": "value", "datavalue": {"value": known}}}

    return {
        "id": identifier,
        "labels": {"en": {"language": "en", "value": label}} if label else {},
        "aliases": {"en": [{"language": "en", "value": alias} for alias in aliases]},
        "claims": {name: [statement(value) for value in values] for name, values in claims.items()},
    }


def person(identifier: str, label: str | None, **claims: Sequence[str | None]) -> Any:
    """A deceased writer with a Commons category and an image, but for the claims given (empty: none)."""
    usual = {"P31": ["Q5"], "P21": [FEMALE], "P106": ["Q201"], "P570": ["+1950"], "P373": [label or identifier]}
    return entity(identifier, label, **usual | {"P18": [f"{identifier}.jpg"]} | claims)


def commons_file(category: str, title: str, **fields: Any) -> dict[str, Any]:
    """A line of commons.jsonl: a file that says nothing about what it shows, with a free licence."""
    sha1 = hashlib.sha1(title.encode()).hexdigest()
    silent = {"description": "", "categories": [], "depicts": [], "license": "cc0", "sha1": sha1}
    return {"category": category, "title": f"File:{title}", **silent, **fields}


def write_lines(path: Path, records: Sequence[dict[str, Any]]) -> Path:
    write_json_lines(path, records)
    return path
