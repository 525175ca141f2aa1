"""Flickr30k Entities: boxes of the things that captions name, and the phrases that name them (decorrelation.md §2).

An archive holds `Annotations/{stem}.xml` (boxes by entity id) and `Sentences/{stem}.txt` (a caption a line, with marked
phrases: `[/EN#7/people A man] rides [/EN#8/vehicles a bicycle] .`). A phrase may have several types
(`bodyparts/people`). Coordinates of boxes count from 1, and the last row and column belong to the box.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring

from trivium.core.errors import BadInput
from trivium.core.reading import decode, whole_number
from trivium.core.zips import open_zip, read_member
from trivium.formats.coco_instances import check_size, fit_box
from trivium.formats.masks import Box
from trivium.formats.pictures import Object, Phrase

LARGEST_MEMBER = 1 << 24  # bytes; the largest of Flickr30k has a few kB
MARKED = re.compile(r"\[/EN#(?P<entity>\d+)/(?P<types>\S+) (?P<text>[^\]]*)\]")


@dataclass(frozen=True)
class Sentence:
    """A caption as Entities writes it, without the markup.

    Attributes:
        text: tokens joined by spaces; it differs from Flickr30k's own caption in spaces, quotation marks and the like.
        phrases: the phrases, at their places in `text`, with all their types.
        entities: the entity id of each phrase.
    """

    text: str
    phrases: tuple[Phrase, ...]
    entities: tuple[str, ...]

    def phrases_in(self, caption: str) -> list[Phrase] | None:
        """Place the phrases in Flickr30k's own caption; None if its letters and digits are not the same."""
        own = [position for position, character in enumerate(caption) if character.isalnum()]
        ours = [character.lower() for character in self.text if character.isalnum()]
        if [caption[position].lower() for position in own] != ours:
            return None
        before = [0]  # letters and digits before each position of `text`
        for character in self.text:
            before.append(before[-1] + character.isalnum())
        return [
            Phrase(own[before[phrase.start]], own[before[phrase.end] - 1] + 1, phrase.classes)
            for phrase in self.phrases
            if before[phrase.end] > before[phrase.start]
        ]


@dataclass(frozen=True)
class Annotated:
    """Annotations of one picture.

    Attributes:
        size: width and height in pixels.
        objects: one object for each box and class.
        others: boxes, clipped to the picture, of entities that belong to none of the classes.
        sentences: the captions.
    """

    size: tuple[int, int]
    objects: tuple[Object, ...]
    others: tuple[Box, ...]
    sentences: tuple[Sentence, ...]


class EntitiesArchive:
    """Reads Flickr30k Entities' zip archive, whose two folders may lie in another folder, picture by picture.

    `types` are those that count as classes of objects.

    Attributes:
        counts: `boxes_clipped`, `objects_box_outside`, `objects_without_area`, `objects_without_box` so far.

    Raises:
        BadInput: the file is not a zip archive.
    """

    def __init__(self, path: Path, types: Sequence[str]) -> None:
        self.path, self.types = path, tuple(types)
        self.counts: Counter[str] = Counter(
            boxes_clipped=0, objects_box_outside=0, objects_without_area=0, objects_without_box=0
        )
        self._archive = open_zip(path)
        self._members = {
            "/".join(PurePosixPath(member.filename).parts[-2:]): member
            for member in self._archive.infolist()
            if not member.filename.startswith("__MACOSX")
        }

    def __enter__(self) -> "EntitiesArchive":
        return self

    def __exit__(self, *_: object) -> None:
        self._archive.close()

    def read(self, stem: str) -> Annotated:
        """Read the annotations of the picture `{stem}.jpg`.

        Raises:
            BadInput: a member is missing or broken, or the markup of a line or a number cannot be read.
        """
        place = f"Sentences/{stem}.txt"
        lines = self._text(place).splitlines()
        sentences = [_sentence(line, self.path, f"{place}:{row}") for row, line in enumerate(lines, 1) if line.strip()]
        place = f"Annotations/{stem}.xml"
        try:
            root = fromstring(self._text(place))
        except (ParseError, DefusedXmlException) as error:
            raise BadInput(f"not XML: {error}", file=self.path, row=place) from None
        size = _number(root, "size/width", self.path, place), _number(root, "size/height", self.path, place)
        check_size(size, self.path, place)
        objects, others = self._objects(root, size, self._classes(sentences), place)
        return Annotated(size, tuple(objects), tuple(others), tuple(sentences))

    def _classes(self, sentences: list[Sentence]) -> dict[str, str]:
        """Return the class of each entity: the type that most of its phrases have; of several, the first in `types`."""
        votes: dict[str, Counter[str]] = {}
        for sentence in sentences:
            for phrase, entity in zip(sentence.phrases, sentence.entities, strict=True):
                votes.setdefault(entity, Counter()).update(name for name in phrase.classes if name in self.types)
        in_order = {entity: sorted(types, key=self.types.index) for entity, types in votes.items() if types}
        return {entity: max(types, key=votes[entity].__getitem__) for entity, types in in_order.items()}

    def _objects(
        self, root: Element, size: tuple[int, int], classes: dict[str, str], place: str
    ) -> tuple[list[Object], list[Box]]:
        """Return one object for each box and class, and the boxes of entities of no class, which are not counted."""
        objects, others, uncounted = [], [], Counter[str]()
        for item in root.findall("object"):
            corners = item.find("bndbox")
            names = {classes[name.text or ""] for name in item.findall("name") if (name.text or "") in classes}
            if corners is None:  # marked `nobox`, or as the whole scene
                self.counts["objects_without_box"] += bool(names)
                continue
            sides = (_number(corners, side, self.path, place) for side in ("xmin", "ymin", "xmax", "ymax"))
            left, top, right, bottom = sides
            whole = (left - 1.0, top - 1.0, right - left + 1.0, bottom - top + 1.0)
            box = fit_box(whole, size, self.counts if names else uncounted)
            if box is not None:
                objects += [Object(name, box) for name in sorted(names)]
                others += [] if names else [box]
        return objects, others

    def _text(self, place: str) -> str:
        if place not in self._members:
            raise BadInput("no such member", file=self.path, got=place)
        data = read_member(self._archive, self._members[place], self.path, LARGEST_MEMBER)
        return decode(data, self.path / place)


def _sentence(line: str, path: Path, row: str) -> Sentence:
    text, phrases, entities, end = "", [], [], 0
    for match in MARKED.finditer(line):
        text += line[end : match.start()]
        phrases.append(Phrase(len(text), len(text) + len(match["text"]), tuple(match["types"].split("/"))))
        entities.append(match["entity"])
        text += match["text"]
        end = match.end()
    text += line[end:]
    if "[/EN#" in text:
        raise BadInput("broken markup", file=path, row=row, got=line, expected="[/EN#7/people A man]")
    return Sentence(text, tuple(phrases), tuple(entities))


def _number(root: Any, name: str, path: Path, row: str) -> int:
    value = (root.findtext(name) or "").strip()
    try:
        return whole_number(value)
    except ValueError:
        expected = "a whole number of at most 64 bits"
        raise BadInput("missing or wrong", file=path, row=row, field=name, got=value, expected=expected) from None
