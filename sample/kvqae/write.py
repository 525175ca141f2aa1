"""Writing a world: the raw files of KVQAE, photographs drawn in parallel."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sample.kvqae.entity_world import World
from sample.kvqae.raw_records import image_name, triviaqa_record, viquae_record, wikidata_items
from sample.render.difficulty import Difficulty
from sample.render.photo import encode
from sample.render.photographs import render
from trivium.core.engine import Engine
from trivium.core.image_shards import write_images
from trivium.core.tables import write_json_lines

_BATCH = 32


@dataclass(frozen=True)
class Picture:
    """A photograph to draw: view 0 is the reference."""

    name: str
    kind: str
    identity: int
    view: int


def write_world(world: World, out: Path, engine: Engine, *, size: int, difficulty: Difficulty) -> None:
    """Write every raw file below `out`, but for TriviaQA; the same bytes whatever the number of workers."""
    write_json_lines(out / "articles.jsonl", world.articles)
    write_json_lines(out / "wikidata.jsonl", wikidata_items(world.entities))
    for split, questions in world.viquae.items():
        write_json_lines(out / "viquae" / f"{split}.jsonl", map(viquae_record, questions))
    for folder, pictures in (("kb", reference_pictures(world)), ("questions", question_pictures(world))):
        drawn = _draw(pictures, engine, size=size, difficulty=difficulty, description=f"images/{folder}")
        write_images(out / "images" / folder, drawn)


def write_triviaqa(world: World, out: Path) -> None:
    """Write TriviaQA: its own training questions, and those behind ViQuAE's of the other splits."""
    for split, questions in world.viquae.items():
        trivia = world.triviaqa_train if split == "train" else questions
        write_json_lines(out / f"{split}.jsonl", map(triviaqa_record, trivia))


def reference_pictures(world: World) -> list[Picture]:
    """The knowledge base's images, one an entity that has one."""
    return [Picture(entity.image, *entity.picture, 0) for entity in world.entities if entity.image and entity.picture]


def question_pictures(world: World) -> list[Picture]:
    """The photographs that illustrate questions."""
    return [
        Picture(image_name(question), *question.entity.picture, question.view)
        for split in world.viquae.values()
        for question in split
        if question.entity.picture
    ]


def _draw(
    pictures: Sequence[Picture], engine: Engine, *, size: int, difficulty: Difficulty, description: str
) -> Iterator[tuple[str, bytes]]:
    shards = [pictures[start : start + _BATCH] for start in range(0, len(pictures), _BATCH)]
    for shard in engine.map(partial(draw, size=size, difficulty=difficulty), shards, description=description):
        yield from shard


def draw(pictures: Sequence[Picture], *, size: int, difficulty: Difficulty) -> list[tuple[str, bytes]]:
    """Draw and encode some photographs: (file name, JPEG)."""
    return [
        (picture.name, encode(render(picture.kind, picture.identity, picture.view, size=size, difficulty=difficulty)))
        for picture in pictures
    ]
