"""Sources of the construction (kvqae.md §2): TriviaQA's archive, Wikidata's and Commons' APIs, or the user's files."""

import json
import shutil
import tarfile
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from tqdm import tqdm

from trivium.core.atomic import write_atomically, write_text
from trivium.core.errors import BadInput
from trivium.core.image_shards import Images, write_images
from trivium.core.tables import read_json_records, write_json, write_json_lines
from trivium.formats.triviaqa import parse_triviaqa, read_triviaqa
from trivium.formats.wikidata import PROPERTIES, Entity, parse_entity, read_entities
from trivium.kvqae.construction.commons import CommonsFile
from trivium.kvqae.construction.linking import page_title, read_linked_articles
from trivium.kvqae.construction.spacy_pipeline import read_annotated
from trivium.kvqae.construction.subjects import class_ancestors, read_concrete_types
from trivium.sources.brought import bring, hash_files, require_files
from trivium.sources.download import Hub, fetch_into
from trivium.sources.kvqae.raw import CONCRETE_TYPES, bring_images
from trivium.sources.kvqae.wikimedia import (
    COMMONS,
    MediaWiki,
    PictureFetcher,
    category_files,
    reduce_to_width,
    rendered_width,
)

WIKIDATA = "https://www.wikidata.org/w/api.php"
MEMBERS = ("unfiltered-web-train.json", "unfiltered-web-dev.json")  # the test questions have no answers
_ABOVE = ("P31", "P106", "P21", "P279")  # properties whose values are fetched, too
KEPT = "kvqae_sources"  # folder of the APIs' answers and pictures among the downloads


def fetch_sources(out: Path, raw: Path, downloads: Path, *, files: int, width: int) -> dict[str, float]:
    """Fetch the sources for the subjects: entities to which TagMe links a question and whose article has its answer.

    Pictures are fetched only for subjects that have an image in the knowledge base, which is among the raw files in
    `raw`: at most `files` of a category, `width` pixels wide (previews have the next width that Wikimedia renders).
    Downloads and the APIs' answers stay in `downloads` until everything is written.
    """
    counts: Counter[str] = Counter()
    kept = downloads / KEPT
    wiki = MediaWiki(WIKIDATA, kept / "wikidata")
    commons = MediaWiki(COMMONS, kept / "commons")
    with fetch_into(["triviaqa_original"], out, downloads) as (temporary, sources, pins):
        shutil.copyfile(CONCRETE_TYPES, temporary / CONCRETE_TYPES.name)
        write_triviaqa(temporary / "triviaqa.json", sources["triviaqa_original"]["triviaqa-unfiltered.tar.gz"])
        questions = list(read_triviaqa(temporary / "triviaqa.json"))
        articles = read_linked_articles(raw / "articles.jsonl", questions).values()
        linked = {article.wikidata_id for article in articles if article.wikidata_id}
        # A mention is linked to an article with the question's answer alone (construction/linking.py).
        with_answer = {article.wikidata_id for article in articles if article.wikidata_id and article.answers_to}
        illustrated = with_answer & {entity.id for entity in read_entities(raw / "wikidata.jsonl") if entity.image()}
        # Also those without an image: why a linked entity is no subject is counted (construction/subjects.py).
        entities = fetch_entities(wiki, sorted(with_answer))
        write_json_lines(temporary / "wikidata.jsonl", entities.values())
        parsed = list(map(parse_entity, entities.values()))
        subjects = _choose_subjects(parsed, illustrated)
        records: list[CommonsFile] = []
        previews = kept / f"pictures_{rendered_width(width)}"
        fetcher = PictureFetcher(previews, counts, "commons_not_fetched")
        pictures = _fetch_pictures(subjects, commons, fetcher, files, width, records, counts)
        counts["commons_images"] = write_images(temporary / "images", pictures)
        write_json_lines(temporary / "commons.jsonl", map(vars, records))
        (temporary / "annotated.jsonl").touch()
        write_json(temporary / "provenance.json", pins.summary(["triviaqa_original"]))
    Hub(downloads).drop(KEPT)
    links = {page_title(link) for question in questions for link in question.links}
    counts.update(links=len(links), linked=len(linked), with_answer=len(with_answer), illustrated=len(illustrated))
    counts.update(entities=len(entities), subjects=len(subjects), commons_files=len(records))
    return {name: float(count) for name, count in counts.items()}


def write_triviaqa(target: Path, archive: Path) -> None:
    """Write the archive's questions as one file, without the pages that a search engine found."""
    left, records = set(MEMBERS), list[dict[str, Any]]()
    with tarfile.open(archive, "r|*") as members:
        for member in members:
            stream = members.extractfile(member) if Path(member.name).name in left else None
            if stream is not None:
                left.remove(Path(member.name).name)
                records += [
                    {
                        "QuestionId": question.id,
                        "Question": question.text,
                        "Answer": {"Value": question.answer, "Aliases": list(question.answers)},
                        "EntityPages": [{"DocSource": "TagMe", "Title": title} for title in question.links],
                    }
                    for question in parse_triviaqa(stream, archive / member.name)
                ]
    if left:
        raise BadInput("no such member", file=archive, got=sorted(left), expected=", ".join(MEMBERS))
    write_text(target, json.dumps({"Data": records}, ensure_ascii=False))


def fetch_entities(wiki: MediaWiki, identifiers: list[str]) -> dict[str, dict[str, Any]]:
    """Fetch items and all classes, occupations and genders above them, with only the claims in `PROPERTIES`.

    An item that was merged into another one is returned twice, under the requested id and under the new one.
    """
    entities: dict[str, dict[str, Any]] = {}
    requested: set[str] = set()
    batch = identifiers
    while batch:
        requested |= set(batch)
        for entity in wiki.entities(batch, "labels|descriptions|aliases|claims"):
            claims = {name: claims for name, claims in entity["claims"].items() if name in PROPERTIES}
            for name in dict.fromkeys([entity["id"], entity.get("redirects", {}).get("from", entity["id"])]):
                entities[name] = {**entity, "id": name, "claims": claims}  # the rest is most of an item's weight
        above = (
            value for entity in map(parse_entity, entities.values()) for name in _ABOVE for value in entity.values(name)
        )
        batch = sorted(set(above) - requested)
    return entities


def _choose_subjects(entities: list[Entity], illustrated: Collection[str]) -> list[Entity]:
    """Choose the illustrated entities with a Commons category that are dead people or of a concrete type."""
    concrete = read_concrete_types(CONCRETE_TYPES).keys()
    above = {entity.id: entity.values("P279") for entity in entities}

    def can_be_shown(entity: Entity) -> bool:
        if entity.human:
            return entity.deceased
        return any(concrete & class_ancestors(item, lambda one: above.get(one, ())) for item in entity.values("P31"))

    with_category = (entity for entity in entities if entity.id in illustrated and entity.values("P373"))
    return [entity for entity in with_category if can_be_shown(entity)]


def _fetch_pictures(
    subjects: list[Entity], commons: MediaWiki, fetcher: PictureFetcher, files: int, width: int,
    records: list[CommonsFile], counts: Counter[str],
) -> Iterator[tuple[str, bytes]]:  # fmt: skip
    """Stream (name, bytes) of each picture once; `records` gets a record for each category and file."""
    names: set[str] = set()
    named = {category for subject in subjects for category in subject.values("P373")[:1]}
    categories = sorted({category.removeprefix("Category:").replace("_", " ") for category in named})
    for category in tqdm(categories, desc="Commons", unit="category", mininterval=5, leave=False):
        new: dict[str, tuple[str, str, str]] = {}
        for file, address in category_files(commons, category, files, width, counts):
            records.append(file)
            if file.name not in names:
                new.setdefault(file.name, (file.name, address, file.sha1))
        names |= new.keys()
        for name, encoded in fetcher.fetch(list(new.values())):
            yield name, reduce_to_width(encoded, name, width)


FILES = ("triviaqa.json", "wikidata.jsonl", "commons.jsonl", CONCRETE_TYPES.name)
_ANNOTATED = "annotated.jsonl"


def check_sources(source: Path, out: Path) -> dict[str, float]:
    """Check a folder laid out as `data/kvqae/sources` and copy it there; `annotated.jsonl` may be missing."""
    require_files(source, FILES)
    annotated = [_ANNOTATED] if (source / _ANNOTATED).exists() and (source / _ANNOTATED).stat().st_size else []
    counts = {
        "questions": sum(1 for _ in read_triviaqa(source / "triviaqa.json")),
        "entities": sum(1 for _ in read_entities(source / "wikidata.jsonl")),
        "annotated_sentences": len(read_annotated(source / _ANNOTATED)) if annotated else 0,
    }
    with write_atomically(out) as temporary:
        bring_images(source / "images", temporary / "images")
        images = Images(temporary / "images")
        files = [file for _, file in read_json_records(source / "commons.jsonl", CommonsFile)]
        counts["commons_files"] = len(files)
        counts["commons_files_without_image"] = sum(file.name not in images for file in files)
        bring(source, temporary, [*FILES, *annotated])
        if not annotated:
            (temporary / _ANNOTATED).touch()
        write_json(temporary / "provenance.json", hash_files(temporary))
    return {name: float(count) for name, count in counts.items()}
