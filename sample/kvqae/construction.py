"""The sample's sources of the data set's construction, all of them about the entities of the sample world."""

import hashlib
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sample.kvqae.construction_commons import draw_files, plan_files
from sample.kvqae.construction_questions import Candidate, annotate_sentences, ask_candidates
from sample.kvqae.entities import Entity
from sample.kvqae.write import item_claim, wikidata_items
from sample.render.difficulty import Difficulty
from trivium.core.engine import Engine
from trivium.core.image_shards import Images, write_images
from trivium.core.tables import read_json_lines, write_json, write_json_lines

ABSTRACT = ("country", "noble family", "order")  # types that the construction drops
# Shares of the persons; the last one is of all entities (the paper drops 31 % as living or abstract, and 3 % for want
# of a Commons category or of a picture in it).
LIVING, NO_GENDER, NO_OCCUPATION, MORE_OCCUPATIONS = 0.28, 0.03, 0.03, 0.2
NO_CATEGORY = 0.03
NO_ARTICLE = 5  # items that no article is about
CYCLE = ("Q3624078", "Q6256")  # sovereign state is made a subclass of country, which is one of sovereign state
_FIRST_WITHOUT_ARTICLE = 2 * 10**9


def write_sources(
    out: Path, raw: Path, entities: Sequence[Entity], engine: Engine, *, seed: int, questions: int, linked: float,
    files: int, annotated: int, size: int, difficulty: Difficulty,
) -> dict[str, float]:  # fmt: skip
    """Write every file of the sources but the concrete types below the folder `out`; returns what was written.

    Args:
        raw: the sample world's raw files; `entities` and `seed` are of that world.
        questions: candidate questions.
        linked: share of them whose links have the right page.
        files: most files of a Commons category.
        annotated: sentences with their analysis.
        size: side of a photograph in pixels.
        difficulty: how far photographs differ.
    """
    candidates = ask_candidates(entities, seed, questions, linked=linked, told=_told(raw / "triviaqa" / "train.jsonl"))
    write_json(out / "triviaqa.json", {"Data": [candidate.record() for candidate in candidates], "Domain": "sample"})
    items = list(plant(entities, seed))
    write_json_lines(out / "wikidata.jsonl", items)
    planned = plan_files(_subjects(candidates, items), seed, files)
    hashes: dict[str, str] = {}

    def images() -> Iterator[tuple[str, bytes]]:
        references = Images(raw / "images" / "kb")
        for name, data in draw_files(planned, references, engine, size=size, difficulty=difficulty):
            hashes[name] = hashlib.sha1(data, usedforsecurity=False).hexdigest()
            yield name, data

    write_images(out / "images", images())
    write_json_lines(out / "commons.jsonl", ({**file.record, "sha1": hashes[file.name]} for file in planned))
    known = {name for entity in entities for name in (entity.name, *entity.aliases)}
    sentences = annotate_sentences(seed, annotated, known)
    write_json_lines(out / "annotated.jsonl", (sentence.record() for sentence in sentences))
    return {
        "questions": len(candidates),
        "questions_linked_share": sum(candidate.linked for candidate in candidates) / len(candidates),
        "commons_files": len(planned),
    }


def _told(trivia: Path) -> dict[str, str]:
    """What TriviaQA's training questions say of an entity, by its Wikipedia id: the questions and their answers."""
    told: defaultdict[str, str] = defaultdict(str)
    for _, record in read_json_lines(trivia):
        said = " ".join([record["input"], *record["output"]["answer"]])
        for source in record["output"]["provenance"]:
            for identifier in source["wikipedia_id"]:
                told[identifier] += f" {said}"
    return told


def plant(entities: Sequence[Entity], seed: int) -> Iterator[dict[str, Any]]:
    """Entity JSON of the whole world, some claims taken away or added, as follows from its seed."""
    rng = random.Random(f"planted {seed}")
    persons = {entity.wikidata_id: entity.gender is not None for entity in entities}
    occupations = [entity.occupation.id for entity in entities if entity.occupation]
    items = list(wikidata_items(entities))
    for item in items:
        claims = item["claims"]
        if persons.get(item["id"]):  # each case is drawn by itself: a person may have several
            for share, key in ((LIVING, "P570"), (NO_GENDER, "P21")):
                if rng.random() < share:
                    del claims[key]
            drawn = rng.random()
            if drawn < NO_OCCUPATION:
                del claims["P106"]
            elif drawn < NO_OCCUPATION + MORE_OCCUPATIONS:
                claims["P106"].append(item_claim("P106", rng.choice(occupations)))
        if "P373" in claims and rng.random() < NO_CATEGORY:
            del claims["P373"]
        if item["id"] == CYCLE[0]:
            claims["P279"] = [item_claim("P279", CYCLE[1])]
        yield item
    for number in range(NO_ARTICLE):
        yield {**items[0], "id": f"Q{_FIRST_WITHOUT_ARTICLE + number}"}


def _subjects(candidates: Sequence[Candidate], items: Sequence[dict[str, Any]]) -> list[Entity]:
    """Entities whose photographs will be wanted: linked, dead, of a concrete type, with an image and a category."""
    claims = {item["id"]: item["claims"] for item in items if "P373" in item["claims"]}
    wanted = {identifier for identifier, claim in claims.items() if "P570" in claim or "P569" not in claim}
    subjects = {
        candidate.entity.number: candidate.entity
        for candidate in candidates
        if candidate.linked and candidate.entity.image and candidate.entity.wikidata_id in wanted
    }
    return [entity for entity in subjects.values() if entity.kind.name not in ABSTRACT]
