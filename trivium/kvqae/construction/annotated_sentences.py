"""Sentences with their gold analysis (`annotated.jsonl`), to train and measure a spaCy pipeline."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trivium.core.errors import BadInput
from trivium.core.tables import read_json_lines


@dataclass(frozen=True)
class Annotated:
    """One text of one or more sentences, word by word.

    Attributes:
        words: as tokenised; `spaces`: whether a space follows each.
        heads: the position of each word's head; a root's is its own.
        deps, tags: dependency labels and part-of-speech tags, those of spaCy's English pipelines.
        entities: (first word, end, label).
    """

    words: tuple[str, ...]
    spaces: tuple[bool, ...]
    heads: tuple[int, ...]
    deps: tuple[str, ...]
    tags: tuple[str, ...]
    entities: tuple[tuple[int, int, str], ...]


def read_annotated(path: Path) -> list[Annotated]:
    """Read `annotated.jsonl`.

    Raises:
        BadInput: a field is missing or of another type or length, heads do not form trees, entities overlap or lie
            outside the words, or there is no sentence.
    """
    sentences = [_sentence(record, path, row) for row, record in read_json_lines(path)]
    if not sentences:
        raise BadInput("no sentences", file=path, expected="one JSON object a line")
    return sentences


def _sentence(record: dict[str, Any], path: Path, row: int) -> Annotated:
    kinds: dict[str, type] = {"words": str, "spaces": bool, "heads": int, "deps": str, "tags": str}
    for field, kind in kinds.items():
        values = record.get(field)
        if not isinstance(values, list) or any(type(value) is not kind for value in values):
            raise BadInput(f"not a list of {kind.__name__}", file=path, row=row, field=field, got=values)
        if len(values) != len(record["words"]) or not values:
            expected = f"{len(record['words'])}, one a word" if values else "at least one"
            raise BadInput("wrong length", file=path, row=row, field=field, got=len(values), expected=expected)
    _check_trees(record["heads"], record["deps"], path, row)
    entities = _entities(record.get("entities"), len(record["words"]), path, row)
    return Annotated(**{field: tuple(record[field]) for field in kinds}, entities=entities)


def _check_trees(heads: list[int], deps: list[str], path: Path, row: int) -> None:
    """Every word reaches a root; roots, and nothing else, are called ROOT."""
    for word, (head, dep) in enumerate(zip(heads, deps, strict=True)):
        if not 0 <= head < len(heads):
            expected = f"a position from 0 to {len(heads) - 1}"
            raise BadInput("head outside the words", file=path, row=row, field="heads", got=head, expected=expected)
        if (head == word) != (dep == "ROOT"):
            raise BadInput(
                "a root not called ROOT, or a ROOT with another head", file=path, row=row, field="deps",
                got=f"word {word}: {dep}, head {head}",
            )  # fmt: skip
        place, steps = word, 0
        while heads[place] != place:
            place, steps = heads[place], steps + 1
            if steps > len(heads) or not 0 <= place < len(heads):
                raise BadInput("heads do not form a tree", file=path, row=row, field="heads", got=heads)


def _entities(value: Any, words: int, path: Path, row: int) -> tuple[tuple[int, int, str], ...]:
    if not isinstance(value, list):
        raise BadInput("missing or not a list", file=path, row=row, field="entities", got=value)
    end = 0
    for entity in value:
        right = isinstance(entity, list) and list(map(type, entity)) == [int, int, str]
        if not right or not 0 <= entity[0] < entity[1] <= words:
            expected = f"[first word, end, label] within {words} words"
            raise BadInput("not an entity", file=path, row=row, field="entities", got=entity, expected=expected)
    entities = tuple(sorted((start, stop, label) for start, stop, label in value))
    for start, stop, _ in entities:
        if start < end:
            raise BadInput("entities overlap", file=path, row=row, field="entities", got=value)
        end = stop
    return entities
