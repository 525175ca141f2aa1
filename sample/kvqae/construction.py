"""The sample's sources of the data set's construction, all of them about the entities of the sample world."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sample.kvqae.construction_commons import draw_files, plan_files, sha1_of
from sample.kvqae.construction_questions import Candidate, annotate_sentences, ask_candidates
from sample.kvqae.construction_wikidata import living, plant
from sample.kvqae.entities import Entity
from sample.kvqae.entity_world import build_world
from sample.render.difficulty import Difficulty
from trivium.core.engine import Engine
from trivium.core.errors import BadInput
from trivium.core.image_shards import Images, write_images
from trivium.core.tables import read_json_lines, write_json, write_json_lines
from trivium.formats.questions import SPLITS

_ABSTRACT = ("country", "noble family", "order")


def entities_of(raw: Path, seed: int, *, articles: int, imageless: int) -> list[Entity]:
    """The entities of the sample world of `raw`, made again.

    Raises:
        BadInput: seed or sizes are not those of the world in `raw`.
    """
    no_questions = dict.fromkeys(SPLITS, 0)
    world = build_world(seed, articles=articles, imageless=imageless, sentences=4, viquae=no_questions, triviaqa=0)
    labels = {
        record["id"]: record["labels"]["en"]["value"]
        for _, record in read_json_lines(raw / "wikidata.jsonl")
        if "en" in record.get("labels", {})
    }
    wrong = next((entity for entity in world.entities if labels.get(entity.wikidata_id) != entity.name), None)
    if wrong is not None:
        raise BadInput(
            "another world than the raw data's", file=raw / "wikidata.jsonl", field=wrong.wikidata_id,
            got=labels.get(wrong.wikidata_id),
            expected=f"{wrong.name!r}, as in world {seed} of {articles} + {imageless} articles",
        )  # fmt: skip
    return world.entities


def write_sources(
    out: Path, raw: Path, entities: Sequence[Entity], engine: Engine, *, seed: int, questions: int, linked: float,
    files: int, annotated: int, size: int, difficulty: Difficulty,
) -> dict[str, float]:  # fmt: skip
    """Write every file of the sources but the concrete types below `out`; returns what was written and planted.

    Args:
        out: a folder that is there.
        raw: the sample world's raw files.
        entities: of that world.
        engine: draws.
        seed: of that world.
        questions: candidate questions.
        linked: share of them whose links have the right page.
        files: most files of a Commons category.
        annotated: sentences with their analysis.
        size: side of a photograph in pixels.
        difficulty: how far photographs differ.
    """
    counts: Counter[str] = Counter()
    candidates = ask_candidates(entities, seed, questions, linked=linked, told=_told(raw / "triviaqa" / "train.jsonl"))
    write_json(out / "triviaqa.json", {"Data": [candidate.record() for candidate in candidates], "Domain": "sample"})
    items = list(plant(entities, seed, counts))
    write_json_lines(out / "wikidata.jsonl", items)
    planned = plan_files(_subjects(candidates, items), seed, files)
    hashes: dict[str, str] = {}

    def images() -> Iterator[tuple[str, bytes]]:
        drawn = draw_files(planned, Images(raw / "images" / "kb"), engine, size=size, difficulty=difficulty)
        for file, data in drawn:
            hashes[file.name] = sha1_of(data)
            yield file.name, data

    write_images(out / "images", images())
    write_json_lines(out / "commons.jsonl", ({**file.record, "sha1": hashes[file.name]} for file in planned))
    known = {name for entity in entities for name in (entity.name, *entity.aliases)}
    sentences = annotate_sentences(seed, annotated, known)
    write_json_lines(out / "annotated.jsonl", (sentence.record() for sentence in sentences))
    return {
        "questions": len(candidates),
        "questions_linked_share": sum(candidate.linked for candidate in candidates) / len(candidates),
        "questions_of_persons_share": sum(each.entity.gender is not None for each in candidates) / len(candidates),
        "entities": len(items),
        "commons_categories": len({file.record["category"] for file in planned}),
        "commons_files": len(planned),
        "commons_references": sum(not file.view and not file.copy for file in planned),
        "commons_near_duplicates": sum(file.copy for file in planned),
        "annotated_sentences": len(sentences),
        **{name: float(count) for name, count in sorted(counts.items())},
    }


def _told(trivia: Path) -> dict[str, str]:
    """What TriviaQA's training questions say of an entity, by its Wikipedia id: the questions and their answers."""
    told: dict[str, str] = {}
    for _, record in read_json_lines(trivia):
        said = " ".join([record["input"], *record["output"]["answer"]])
        for source in record["output"]["provenance"]:
            for identifier in source["wikipedia_id"]:
                told[identifier] = f"{told.get(identifier, '')} {said}"
    return told


def _subjects(candidates: Sequence[Candidate], items: Sequence[dict[str, Any]]) -> list[Entity]:
    """Entities whose photographs will be wanted: linked, dead, of a concrete type, with an image and a category."""
    wanted = {item["id"] for item in items if "P373" in item["claims"] and not living(item)}
    subjects = {
        candidate.entity.number: candidate.entity
        for candidate in candidates
        if candidate.linked and candidate.entity.image and candidate.entity.wikidata_id in wanted
    }
    return [entity for entity in subjects.values() if entity.kind.name not in _ABSTRACT]
