"""Wikidata entities with image, type, gender, occupations and death (kvqae.md §1-2), from official JSON lines."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from trivium.core.errors import BadInput
from trivium.core.reading import decode, is_packed, open_file, open_text
from trivium.core.tables import parse_object, read_json_lines
from trivium.formats.json_fields import Field

PROPERTIES = {
    "P18": "image",
    "P154": "logo",
    "P41": "flag",
    "P94": "coat of arms",
    "P2425": "service ribbon",
    "P31": "instance of",
    "P279": "subclass of",
    "P21": "gender",
    "P106": "occupation",
    "P570": "date of death",
    "P373": "Commons category",
}
IMAGE_PROPERTIES = ("P18", "P154", "P41", "P94", "P2425")
HUMAN = "Q5"
_LANGUAGES = ("en", "mul")  # what stands under "mul", for all languages, need not be repeated in English


@dataclass(frozen=True)
class Entity:
    """One Wikidata item, reduced to `PROPERTIES`.

    `claims` has for each property its best-ranked values in the order of the source; None is Wikidata's `somevalue`:
    there is a value, but it is unknown.
    """

    id: str  # such as `Q12`
    label: str | None = None  # the English one, else the one for all languages
    aliases: tuple[str, ...] = ()  # the English ones, then those for all languages
    claims: Mapping[str, tuple[str | None, ...]] = field(default_factory=dict)

    def values(self, name: str) -> tuple[str, ...]:
        """Return the known values of one of `PROPERTIES`: item ids, file names or times."""
        return tuple(value for value in self.claims.get(name, ()) if value is not None)

    def image(self, properties: Sequence[str] = IMAGE_PROPERTIES) -> str | None:
        """Return the first value, a file name, of the first of these properties that has one; None without any."""
        return next((value for name in properties for value in self.values(name)), None)

    @property
    def human(self) -> bool:
        """Whether it is an instance of human."""
        return HUMAN in self.values("P31")

    @property
    def deceased(self) -> bool:
        """Whether it has a date of death, known or not."""
        return bool(self.claims.get("P570"))


def parse_entity(record: Mapping[str, Any], *, file: Path | None = None, row: int | str | None = None) -> Entity:
    """Read official entity JSON; of each property only claims of the best rank count, and never deprecated ones."""
    item = Field(record, file or Path("Wikidata"), row)
    identifier = item["id"].text()
    if not identifier.startswith("Q"):
        item["id"].refuse("not an item id", expected="such as 'Q12'")
    claims = {}
    for name, statements in _mapping(item, "claims").value.items():
        if name in PROPERTIES:
            try:
                claims[name] = tuple(_best_values(statements))
            except (KeyError, TypeError, AttributeError, ValueError) as error:
                problem = f"claim outside Wikidata's data model ({error!r})"
                raise BadInput(problem, file=file, row=row, field=f"{identifier}.{name}") from None
    labels, aliases = _mapping(item, "labels"), _mapping(item, "aliases")
    label = next((labels[name]["value"].text() for name in _LANGUAGES if name in labels.keys), None)
    also = dict.fromkeys(
        alias["value"].text() for name in _LANGUAGES if name in aliases.keys for alias in aliases[name].items()
    )
    return Entity(identifier, label, tuple(also), {name: values for name, values in claims.items() if values})


def read_entities(path: Path) -> Iterator[Entity]:
    """Stream the entities of official JSON, one a line; see `parse_entity`."""
    for row, record in read_json_lines(path):
        yield parse_entity(record, file=path, row=row)


def _mapping(item: Field, name: str) -> Field:
    """Return an object that may be absent; Wikidata writes an empty list in place of an empty object."""
    field = item.get(name)
    if field is None or not field.value:
        return Field({}, item.file, item.row, name)
    if not isinstance(field.value, dict):
        field.refuse("not an object", expected="an object by name")
    return field


def _best_values(statements: Sequence[Mapping[str, Any]]) -> Iterator[str | None]:
    """Yield the values of the preferred statements, or of the normal ones if none is preferred."""
    ranks = {statement.get("rank", "normal") for statement in statements}
    best = "preferred" if "preferred" in ranks else "normal"
    for statement in statements:
        snak = statement["mainsnak"]
        if statement.get("rank", "normal") != best or snak["snaktype"] == "novalue":
            continue
        yield None if snak["snaktype"] == "somevalue" else _value(snak["datavalue"]["value"])


def _value(value: str | Mapping[str, Any]) -> str:
    """Return a value as text: an item's id, a time, or a text such as a file name."""
    if isinstance(value, Mapping):
        value = value["time"] if "time" in value else value["id"] if "id" in value else f"Q{value['numeric-id']:d}"
    if not isinstance(value, str):
        raise TypeError(f"a value is a text, not {type(value).__name__}")
    return value


class WikidataFile:
    """A file of entity JSON lines, each of another entity, with random access; memory holds only their offsets."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._place: dict[str, tuple[int, int]] = {}  # id -> row, offset
        with open_text(path):  # refuses what is not a file of text, such as a page of HTML
            self._lines = open_file(path)
        if is_packed(self._lines):
            raise BadInput("packed by gzip", file=path, expected="the unpacked file, which allows random access")
        offset = 0
        for row, line in enumerate(self._lines, 1):
            if line.strip():
                identifier = parse_entity(self._json(line, row) | {"claims": {}}, file=path, row=row).id
                if identifier in self._place:
                    raise BadInput("entity twice", file=path, row=row, field="id", got=identifier)
                self._place[identifier] = (row, offset)
            offset += len(line)
        self.label = lru_cache(maxsize=65536)(self._label)

    def get(self, identifier: str) -> Entity | None:
        """Read one entity; None if the file does not have it."""
        if identifier not in self._place:
            return None
        row, offset = self._place[identifier]
        self._lines.seek(offset)
        return parse_entity(self._json(self._lines.readline(), row), file=self._path, row=row)

    def _label(self, identifier: str) -> str:
        """Return the label of an item; its id if it has no label or is not in the file."""
        entity = self.get(identifier)
        return entity.label or identifier if entity else identifier

    def _json(self, line: bytes, row: int) -> dict[str, Any]:
        return parse_object(decode(line, self._path, row).removeprefix("\ufeff"), self._path, row)
