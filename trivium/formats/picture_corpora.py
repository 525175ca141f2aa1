"""Read a data set's raw folder as pictures with objects and captions, from whatever source (decorrelation.md §1, §2).

The folder holds Karpathy's split file (which picture is in which split, and its captions: §4, §6) and either COCO's
instances or Flickr30k Entities' archive: boxes of the things that captions name, and the phrases that name them.

Entities' archive holds `Annotations/{stem}.xml` (boxes by entity id) and `Sentences/{stem}.txt` (a caption a line, with
marked phrases: `[/EN#7/people A man] rides [/EN#8/vehicles a bicycle] .`). A phrase may have several types
(`bodyparts/people`). Coordinates of boxes count from 1, and the last row and column belong to the box.
"""

import re
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring

from trivium.core.errors import BadInput
from trivium.core.reading import decode, whole_number
from trivium.core.tables import read_json
from trivium.core.zips import open_zip, read_member
from trivium.formats.coco_instances import MOST_DROPPED, check_size, fit_box, read_instances
from trivium.formats.json_fields import Field
from trivium.formats.masks import Box
from trivium.formats.pictures import Caption, Corpus, Object, Phrase, Picture, Split

SPLIT_FILE, INSTANCES, ENTITIES, IMAGES = "karpathy.json", "instances.json", "entities.zip", "images"
CLASSES, RENDERED = "entity_types.json", "rendered"  # the second of a sample world only
ENTITY_TYPES = ("people", "animals", "vehicles", "instruments")
LARGEST_MEMBER = 1 << 24  # bytes; the largest of Flickr30k has a few kB
MARKED = re.compile(r"\[/EN#(?P<entity>\d+)/(?P<types>\S+) (?P<text>[^\]]*)\]")
SPLIT_NAMES: dict[str, Split] = {"train": "train", "restval": "train", "val": "validation", "test": "test"}


@dataclass(frozen=True)
class SplitPicture:
    """A picture of the split file; `restval` counts as train."""

    id: int
    name: str
    split: Split
    coco_id: int | None  # by which COCO's annotations name the picture; None where the file has none
    captions: tuple[Caption, ...]  # those that are not empty, outer white space stripped


def read_karpathy(path: Path) -> tuple[list[SplitPicture], Counter[str]]:
    """Read a split file to its pictures, in order, and counts of what was dropped.

    Raises:
        BadInput: a field is missing or of a wrong type, a split is unknown, an `imgid`, `sentid`, `cocoid` or
            `filename` stands twice, or there is no picture.
    """
    tree = read_json(path)
    images = tree.get("images") if isinstance(tree, dict) else None
    if not isinstance(images, list) or not images:
        raise BadInput("no pictures", file=path, field="images", expected="Karpathy's format, a list of pictures")
    counts: Counter[str] = Counter(captions_empty=0)
    values: dict[str, set[Any]] = {"imgid": set(), "filename": set(), "cocoid": set(), "sentid": set()}
    pictures = [_picture(image, values, counts) for image in Field(images, path, name="images").items()]
    captioned = [picture for picture in pictures if picture.captions]
    counts["pictures_without_caption"] = len(pictures) - len(captioned)
    return captioned, counts


def _picture(image: Field, values: dict[str, set[Any]], counts: Counter[str]) -> SplitPicture:
    identifier, name = image["imgid"].integer(), image["filename"].text(empty=False)
    coco_id = None if (field := image.get("cocoid")) is None else field.integer()
    split = SPLIT_NAMES[image["split"].name_of(SPLIT_NAMES)]
    for key in ("imgid", "filename", "cocoid"):
        _once(image, key, values)
    captions = []
    for sentence in image["sentences"].items():
        number, text = sentence["sentid"].integer(), sentence["raw"].text().strip()
        _once(sentence, "sentid", values)
        if text:
            captions.append(Caption(number, text))
        else:
            counts["captions_empty"] += 1
    return SplitPicture(identifier, name, split, coco_id, tuple(captions))


def _once(record: Field, key: str, values: dict[str, set[Any]]) -> None:
    value = record.value.get(key)
    if value in values[key]:
        record[key].refuse("stands twice")
    if value is not None:
        values[key].add(value)


@dataclass(frozen=True)
class Sentence:
    """A caption as Entities writes it, without the markup."""

    text: str  # tokens joined by spaces; Flickr30k's own caption has other spaces, quotation marks and the like
    phrases: tuple[Phrase, ...]  # at their places in `text`, with all their types
    entities: tuple[str, ...]  # the entity id of each phrase

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
    """Annotations of one picture."""

    size: tuple[int, int]  # width and height in pixels
    objects: tuple[Object, ...]  # one for each box and class
    others: tuple[Box, ...]  # clipped to the picture, of entities of none of the classes
    sentences: tuple[Sentence, ...]


class EntitiesArchive(AbstractContextManager["EntitiesArchive"]):
    """Reads Flickr30k Entities' zip archive, whose two folders may lie in another folder, picture by picture.

    `types` are those that count as classes of objects; `counts` has what was dropped or changed so far.
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

    def __exit__(self, *_: object) -> None:
        self._archive.close()

    def read(self, stem: str) -> Annotated:
        """Read the annotations of the picture `{stem}.jpg`; a missing or broken member or markup is `BadInput`."""
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


def read_corpus(folder: Path) -> Corpus:
    """Read a raw folder: `karpathy.json` with `instances.json` or `entities.zip`; the images are not opened.

    Beside `entities.zip`, `entity_types.json` may list the types that are classes of objects (else `ENTITY_TYPES`). A
    folder with neither kind of annotations, or a picture without them, is `BadInput`.
    """
    pictures, counts = read_karpathy(folder / SPLIT_FILE)
    if (folder / INSTANCES).exists():
        return _with_instances(pictures, folder, counts)
    if (folder / ENTITIES).exists():
        types: Sequence[str] = ENTITY_TYPES
        if (chosen := folder / CLASSES).exists():
            listed = Field(read_json(chosen), chosen, name="types")
            types = listed.texts() or listed.refuse("no types", expected="a list of Flickr30k Entities' types")
        return _with_entities(pictures, folder, counts, types)
    raise BadInput("no annotations of objects", file=folder, choices=(INSTANCES, ENTITIES))


def _with_instances(pictures: list[SplitPicture], folder: Path, counts: Counter[str]) -> Corpus:
    instances = read_instances(folder / INSTANCES)
    kept = []
    for picture in pictures:
        if picture.coco_id is None:
            expected = "the picture's id in instances.json"
            raise BadInput("missing", file=folder / SPLIT_FILE, row=picture.name, field="cocoid", expected=expected)
        size = instances.sizes.get(picture.coco_id)
        if size is None:
            problem = f"no such picture in {INSTANCES}"
            raise BadInput(problem, file=folder / SPLIT_FILE, row=picture.name, field="cocoid", got=picture.coco_id)
        objects = instances.objects.get(picture.coco_id, ())
        kept.append(Picture(picture.id, picture.name, picture.split, *size, objects, picture.captions))
    counts["annotated_pictures_not_in_split_file"] = len(instances.sizes) - len(kept)
    return Corpus(tuple(kept), instances.classes, {**counts, **instances.counts})


def _with_entities(pictures: list[SplitPicture], folder: Path, counts: Counter[str], types: Sequence[str]) -> Corpus:
    counts["captions_without_annotation"] = 0
    kept = []
    with EntitiesArchive(folder / ENTITIES, types) as archive:
        for picture in pictures:
            annotated = archive.read(Path(picture.name).stem)
            captions = tuple(_with_phrases(caption, annotated, types, counts) for caption in picture.captions)
            size = annotated.size
            kept.append(
                Picture(picture.id, picture.name, picture.split, *size, annotated.objects, captions, annotated.others)
            )
    dropped = archive.counts["objects_box_outside"] + archive.counts["objects_without_area"]
    objects = dropped + sum(len(picture.objects) for picture in kept)
    if dropped > MOST_DROPPED * objects:
        problem = "too many boxes lie outside their picture or have no area"
        raise BadInput(problem, file=folder / ENTITIES, got=f"{dropped} of {objects}", expected="corners in pixels")
    return Corpus(tuple(kept), tuple(types), {**counts, **archive.counts})


def _with_phrases(caption: Caption, annotated: Annotated, types: Sequence[str], counts: Counter[str]) -> Caption:
    """Return the caption with the phrases of the annotated sentence of the same letters and digits, if there is one."""
    for sentence in annotated.sentences:
        phrases = sentence.phrases_in(caption.text)
        if phrases is not None:
            kept = tuple(
                Phrase(phrase.start, phrase.end, tuple(name for name in types if name in phrase.classes))
                for phrase in phrases
            )
            return replace(caption, phrases=kept)
    counts["captions_without_annotation"] += 1
    return caption
