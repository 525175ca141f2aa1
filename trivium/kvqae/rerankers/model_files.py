"""Files beside a re-ranker's weights: lists of the entities in its training, and whether RRT is left out.

An overlap list (docs/kvqae-formats.md, kvqae.md §6) is a text file: one Wikidata id a line; `#` begins a comment. It
may have entities that are not in the knowledge base.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from trivium.core.atomic import write_text
from trivium.core.errors import BadInput
from trivium.core.reading import read_lines
from trivium.core.tables import read_json, write_json

IDENTITIES = Path("overlap/identities.txt")  # ArcFace's, below the base models
LANDMARKS = Path("landmarks.txt")  # RRT's, below its model
CONFIG = "config.json"  # of RRT
_LEFT_OUT = {"use": False}
_ID = re.compile(r"Q[1-9][0-9]*")


def write_entities(path: Path, entities: Iterable[str], comment: str) -> None:
    """Write an overlap list, sorted by number, after one line of comment."""
    lines = [f"# {comment}", *sorted(entities, key=lambda entity: int(entity[1:]))]
    write_text(path, "\n".join(lines) + "\n")


def read_entities(path: Path) -> frozenset[str]:
    """Read an overlap list without duplicates; `BadInput`: a line is not a Wikidata id, or the file is not UTF-8."""
    entities = set()
    for row, line in read_lines(path):
        entity = line.partition("#")[0].strip()
        if not entity:
            continue
        if not _ID.fullmatch(entity):
            raise BadInput("not a Wikidata id", file=path, row=row, got=entity, expected="such as Q42")
        entities.add(entity)
    return frozenset(entities)


def leave_out(folder: Path) -> None:
    """Write to RRT's folder that RRT is left out."""
    write_json(folder / CONFIG, _LEFT_OUT)


def is_left_out(folder: Path) -> bool:
    """Whether RRT's folder says that RRT is left out."""
    return read_json(folder / CONFIG) == _LEFT_OUT
