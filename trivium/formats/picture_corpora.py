"""Read a data set's raw folder as pictures with objects and captions, from whatever source (decorrelation.md §1, §2).

The folder holds Karpathy's split file (which picture is in which split, and its captions: §4, §6) and either COCO's
instances or Flickr30k Entities' archive.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from trivium.core.errors import BadInput
from trivium.core.tables import read_json
from trivium.formats.coco_instances import MOST_DROPPED, read_instances
from trivium.formats.flickr_entities import Annotated, EntitiesArchive
from trivium.formats.json_fields import Field
from trivium.formats.pictures import Caption, Corpus, Phrase, Picture, Split

SPLIT_FILE, INSTANCES, ENTITIES, IMAGES = "karpathy.json", "instances.json", "entities.zip", "images"
CLASSES = "entity_types.json"
ENTITY_TYPES = ("people", "animals", "vehicles", "instruments")
SPLIT_NAMES: dict[str, Split] = {"train": "train", "restval": "train", "val": "validation", "test": "test"}


@dataclass(frozen=True)
class SplitPicture:
    """A picture of the split file.

    Attributes:
        id: `imgid`.
        name: `filename`.
        split: `restval` counts as train.
        coco_id: `cocoid`, by which COCO's annotations name the picture; None where the file has none.
        captions: the captions that are not empty, outer white space stripped.
    """

    id: int
    name: str
    split: Split
    coco_id: int | None
    captions: tuple[Caption, ...]


def read_karpathy(path: Path) -> tuple[list[SplitPicture], Counter[str]]:
    """Read a split file.

    Returns:
        The pictures in the order of the file, and counts of what was dropped: `captions_empty`,
        `pictures_without_caption`.

    Raises:
        BadInput: a field is missing or of a wrong type, a split is unknown, or an `imgid`, `sentid`, `cocoid` or
            `filename` stands twice; the message names picture and field.
    """
    tree = read_json(path)
    images = tree.get("images") if isinstance(tree, dict) else None
    if not isinstance(images, list) or not images:
        raise BadInput("no pictures", file=path, field="images", expected="Karpathy's format, a list of pictures")
    counts: Counter[str] = Counter(captions_empty=0, pictures_without_caption=0)
    values: dict[str, set[Any]] = {"imgid": set(), "filename": set(), "cocoid": set(), "sentid": set()}
    pictures = []
    for image in Field(images, path, name="images").items():
        picture = _picture(image, values, counts)
        if picture.captions:
            pictures.append(picture)
        else:
            counts["pictures_without_caption"] += 1
    return pictures, counts


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


def read_corpus(folder: Path) -> Corpus:
    """Read a raw folder: `karpathy.json` with `instances.json` or `entities.zip`; the images are not opened.

    Beside `entities.zip`, `entity_types.json` may list the types that are classes of objects (else `ENTITY_TYPES`);
    COCO's classes stand in `instances.json`.

    Returns:
        The corpus. Its `counts` are those of `read_karpathy`, and either those of `read_instances` and
        `annotated_pictures_not_in_split_file`, or those of `EntitiesArchive` and `captions_without_annotation`.

    Raises:
        BadInput: see these readers; or the folder has neither kind of annotations, or a picture has none.
    """
    pictures, counts = read_karpathy(folder / SPLIT_FILE)
    if (folder / INSTANCES).exists():
        return _with_instances(pictures, folder, counts)
    if (folder / ENTITIES).exists():
        chosen = folder / CLASSES
        return _with_entities(pictures, folder, counts, _types(chosen) if chosen.exists() else ENTITY_TYPES)
    raise BadInput("no annotations of objects", file=folder, choices=(INSTANCES, ENTITIES))


def _types(path: Path) -> tuple[str, ...]:
    types = read_json(path)
    if not isinstance(types, list) or not types or not all(isinstance(name, str) for name in types):
        expected = "a list of Flickr30k Entities' types"
        raise BadInput("not a list of texts", file=path, row=1, got=types, expected=expected)
    return tuple(types)


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
