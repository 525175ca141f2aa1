"""Overlap lists: the entities that an encoder has seen in its own training (docs/kvqae-formats.md, kvqae.md §6).

A text file: one Wikidata id a line, `#` begins a comment. A list may hold entities that the knowledge base lacks.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.reading import read_lines

IDENTITIES = Path("overlap/identities.txt")  # ArcFace's, below the base models
LANDMARKS = Path("landmarks.txt")  # RRT's, below its model
_ID = re.compile(r"Q[1-9][0-9]*")


def write_entities(path: Path, entities: Iterable[str], comment: str) -> None:
    """Write a list, sorted by number, below one line of comment."""
    lines = [f"# {comment}", *sorted(entities, key=lambda entity: int(entity[1:]))]
    with write_atomically(path) as file:
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read_entities(path: Path) -> frozenset[str]:
    """Read a list; an entity twice counts once; `BadInput`: a line is not a Wikidata id, or the file is not UTF-8."""
    entities = set()
    for row, line in read_lines(path):
        entity = line.partition("#")[0].strip()
        if not entity:
            continue
        if not _ID.fullmatch(entity):
            raise BadInput("not a Wikidata id", file=path, row=row, got=entity, expected="such as Q42")
        entities.add(entity)
    return frozenset(entities)
