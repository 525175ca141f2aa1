"""Write a world in the public formats of KILT, Wikidata, ViQuAE and TriviaQA; photographs are drawn in parallel."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from sample.kvqae.bank import kinds, read
from sample.kvqae.entities import Entity
from sample.kvqae.entity_world import World
from sample.kvqae.questions import EntityQuestion
from sample.kvqae.wording import description
from sample.render.photo import Difficulty, encode
from sample.render.photographs import render
from sample.render.things import THINGS
from trivium.core.engine import Engine
from trivium.core.image_shards import write_images
from trivium.core.tables import write_json_lines

_BATCH = 32
OUTSIDERS = 15 * 10**8  # identities that no world has (below 10⁹), nor the encoders' training (from 10⁹ on)
OTHER_VIEWS = 10**4  # photographs from here on are neither the knowledge base's nor a question's
_GENDERS = {"male": "Q6581097", "female": "Q6581072"}


class Picture(NamedTuple):
    """Photograph to draw; view 0 is the reference."""

    name: str
    kind: str
    identity: int
    view: int


def write_world(world: World, out: Path, engine: Engine, *, size: int, difficulty: Difficulty) -> None:
    """Write all raw files but TriviaQA's to `out`; their bytes do not depend on the number of workers."""
    write_json_lines(out / "articles.jsonl", world.articles)
    write_json_lines(out / "wikidata.jsonl", wikidata_items(world.entities))
    for split, questions in world.viquae.items():
        write_json_lines(out / "viquae" / f"{split}.jsonl", map(viquae_record, questions))
    viquae_questions = [question for split in world.viquae.values() for question in split]
    folders = {
        "kb": [Picture(one.image, *one.picture, 0) for one in world.entities if one.image and one.picture],
        "questions": [
            Picture(one.image, *one.entity.picture, one.view) for one in viquae_questions if one.entity.picture
        ],
    }
    for folder, pictures in folders.items():
        drawn = draw_pictures(pictures, engine, size=size, difficulty=difficulty, description=f"images/{folder}")
        write_images(out / "images" / folder, drawn)


def write_triviaqa(world: World, out: Path) -> None:
    """Write TriviaQA: its own training questions, and for the other splits those that ViQuAE's come from."""
    for split, questions in world.viquae.items():
        trivia = world.triviaqa_train if split == "train" else questions
        write_json_lines(out / f"{split}.jsonl", map(triviaqa_record, trivia))


def draw_pictures(
    pictures: Sequence[Picture], engine: Engine, *, size: int, difficulty: Difficulty, description: str
) -> Iterator[tuple[str, bytes]]:
    """Yield (file name, JPEG) of each photograph, in order."""
    shards = [pictures[start : start + _BATCH] for start in range(0, len(pictures), _BATCH)]
    for shard in engine.map(partial(_draw, size=size, difficulty=difficulty), shards, description=description):
        yield from shard


def _draw(pictures: Sequence[Picture], *, size: int, difficulty: Difficulty) -> list[tuple[str, bytes]]:
    return [(one.name, encode(render(*one[1:], size=size, difficulty=difficulty))) for one in pictures]


def choose_photographs(known: Sequence[Entity], *, landmarks: int, persons: float, views: int) -> dict[Picture, str]:
    """Choose photographs that train a re-ranker in place of GLDv2's, `views` of each landmark; returns their landmarks.

    Most landmarks are in no world: things of every kind, and people (the share `persons` in [0, 1] of them). Others are
    the `known` things of the knowledge base, in other photographs than its own and the questions': the overlap that
    GLDv2 has with ViQuAE.
    """
    people, kinds = round(persons * landmarks), list(THINGS)
    subjects = [
        ("person" if number < people else kinds[number % len(kinds)], OUTSIDERS + number, 0)
        for number in range(landmarks)
    ]
    subjects += [(*entity.picture, OTHER_VIEWS) for entity in known if entity.picture]
    return {
        Picture(f"{landmark}_{view}.jpg", kind, identity, first + view): str(landmark)
        for landmark, (kind, identity, first) in enumerate(subjects)
        for view in range(views)
    }


def viquae_record(question: EntityQuestion) -> dict[str, Any]:
    """Return a line of ViQuAE; `kilt_id` is the TriviaQA question's id in KILT."""
    return {
        "id": question.id,
        "input": question.text,
        "image": question.image,
        "wikidata_id": question.entity.wikidata_id,
        "kilt_id": question.source,
        "url": "",
        "original_question": question.original,
        "output": {"original_answer": question.answer[0], "answer": list(question.answer), "provenance": []},
        "meta": {},
    }


def triviaqa_record(question: EntityQuestion) -> dict[str, Any]:
    """Return a line of TriviaQA in KILT's format; the provenance is the entity's article."""
    provenance = [{"wikipedia_id": [question.entity.wikipedia_id], "title": [question.entity.title]}]
    answer = {"original_answer": question.answer[0], "answer": list(question.answer), "provenance": provenance}
    return {"id": question.source, "input": question.original, "output": answer}


def wikidata_items(entities: Sequence[Entity]) -> Iterator[dict[str, Any]]:
    """Yield all entities, then the types, occupations and genders that they use, and the classes above these."""
    yield from map(_entity_item, entities)
    labels = {item.id: item.label for kind in kinds().values() for item in kind.types}
    labels |= {identifier: label for identifier, (label, *_) in read("classes").items()}
    above = {below: identifier for identifier, (_, *classes) in read("classes").items() for below in classes}
    for identifier, label in labels.items():
        claims = {"P279": [item_claim("P279", above[identifier])]} if identifier in above else {}
        yield _item(identifier, label, claims=claims)


def _entity_item(entity: Entity) -> dict[str, Any]:
    claims: dict[str, list[dict[str, Any]]] = {}
    if entity.gender:
        claims["P31"] = [item_claim("P31", "Q5")]
        claims["P21"] = [item_claim("P21", _GENDERS[entity.gender])]
        claims["P106"] = [item_claim("P106", entity.occupation.id)] if entity.occupation else []
        claims["P569"], claims["P570"] = [_year_claim("P569", entity.start)], [_year_claim("P570", entity.end)]
    else:
        claims["P31"] = [item_claim("P31", item.id) for item in entity.kind.types]
    for key, name in entity.images.items():
        claims[key] = [_claim(key, "commonsMedia", "string", name)]
    if entity.images:
        claims["P373"] = [_claim("P373", "string", "string", entity.title)]
    return _item(entity.wikidata_id, entity.name, entity.aliases, description(entity), claims)


def _item(
    identifier: str, label: str, aliases: Sequence[str] = (), text: str = "", claims: dict[str, Any] | None = None
) -> dict[str, Any]:
    return {
        "id": identifier,
        "type": "item",
        "labels": {"en": {"language": "en", "value": label}},
        "descriptions": {"en": {"language": "en", "value": text}} if text else {},
        "aliases": {"en": [{"language": "en", "value": alias} for alias in aliases]} if aliases else {},
        "claims": claims or {},
    }


def _claim(key: str, datatype: str, value_type: str, value: Any) -> dict[str, Any]:
    datavalue = {"type": value_type, "value": value}
    snak = {"snaktype": "value", "property": key, "datatype": datatype, "datavalue": datavalue}
    return {"rank": "normal", "type": "statement", "mainsnak": snak}


def item_claim(key: str, identifier: str) -> dict[str, Any]:
    """Return a statement whose value is an item."""
    return _claim(key, "wikibase-item", "wikibase-entityid", {"id": identifier, "entity-type": "item"})


def _year_claim(key: str, year: int) -> dict[str, Any]:
    value = {
        "time": f"+{year}-00-00T00:00:00Z", "timezone": 0, "before": 0, "after": 0, "precision": 9,
        "calendarmodel": "http://www.wikidata.org/entity/Q1985727",
    }  # fmt: skip
    return _claim(key, "time", "time", value)
