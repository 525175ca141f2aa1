"""What the construction of ViQuAE reads, as its publishers serve it: TriviaQA's archive, Wikidata, Commons, spaCy."""

import io
import json
import tarfile
from pathlib import Path
from typing import Any

from sample.kvqae.construction import write_sources
from sample.kvqae.construction_questions import annotate_sentences
from sample.kvqae.entities import populate
from stages.kvqae.mention_model import MentionModelParameters
from stages.kvqae.mention_model import main as train_mention_model
from tests.sources.loopback import Loopback
from tests.sources.pinned import serve_pinned
from tests.sources.public_kvqae import DIFFICULTY, WORLD, WORLD_SEED, make_world
from tests.sources.small_wiki import SmallWiki
from trivium.core.engine import LocalEngine
from trivium.core.image_shards import Images
from trivium.core.stage import Context
from trivium.core.tables import read_json, read_json_lines, write_json_lines
from trivium.core.tracking import Tracker

PIPELINE = "en_core_web_lg"
SPACY = {"seed": 0, "held_out": 0.2, "epochs": 6, "batch": 8, "learning_rate": 0.005, "dropout": 0.1, "width": 32,
         "depth": 2, "rows": 500}  # fmt: skip


def serve_construction(hub: Loopback, wiki: SmallWiki, folder: Path) -> dict[str, Any]:
    """Serve a world and what it is built from; returns the sources' pins.

    Args:
        hub: to serve the world and TriviaQA's archive on.
        wiki: to serve Wikidata's entities, and Commons' categories and pictures on.
        folder: where the sample's are made.
    """
    world = make_world(folder / "raw")
    (folder / "sources").mkdir()
    entities, _ = populate(WORLD_SEED, **WORLD)
    write_sources(
        folder / "sources", folder / "raw", entities, LocalEngine(1), seed=WORLD_SEED, questions=120, linked=0.8,
        files=4, annotated=20, size=96, difficulty=DIFFICULTY,
    )  # fmt: skip
    wiki.entities |= {record["id"]: record for _, record in read_json_lines(folder / "sources" / "wikidata.jsonl")}
    _fill_commons(wiki, folder / "sources")
    return serve_pinned(hub, world | {"triviaqa_original": _archive(folder / "sources" / "triviaqa.json")})


def _archive(questions: Path) -> dict[str, bytes]:
    """TriviaQA's unfiltered questions: two of the members are read."""
    records = read_json(questions)["Data"]
    parts = {"train": records[::2], "dev": records[1::2], "test-without-answers": []}
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as archive:
        for name, held in parts.items():
            data = json.dumps({"Data": held, "Domain": "Web", "Version": 1.0}).encode()
            member = tarfile.TarInfo(f"triviaqa-unfiltered/unfiltered-web-{name}.json")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return {"triviaqa-unfiltered.tar.gz": target.getvalue()}


def _fill_commons(wiki: SmallWiki, sources: Path) -> None:
    """A file has one page, whatever categories it is in; what it depicts is an entity of its own."""
    pictures, numbers = Images(sources / "images"), dict[str, int]()
    for _, record in read_json_lines(sources / "commons.jsonl"):
        title = record["title"]
        number = numbers.setdefault(title, len(numbers) + 1)
        told = {"License": record["license"], "ImageDescription": f"<p>{record['description']}</p>"}
        page = wiki.page(number, title, categories=record["categories"], **told)
        page["imageinfo"][0]["sha1"] = record["sha1"]
        wiki.pictures[f"/thumb/{number}/500px-x.jpg"] = pictures.read(title.removeprefix("File:"))
        wiki.categories.setdefault(record["category"], []).append(page)
        statements = [
            {"mainsnak": {"snaktype": "value", "datavalue": {"value": {"id": item}}}} for item in record["depicts"]
        ]
        wiki.entities[f"M{number}"] = {"id": f"M{number}", "statements": {"P180": statements} if statements else []}


def install_pipeline(site: Path, work: Path) -> None:
    """Put a small spaCy pipeline into a folder of packages under the name of the large one, as spaCy packs them."""
    write_json_lines(work / "annotated.jsonl", (each.record() for each in annotate_sentences(0, 400, set())))
    package = site / PIPELINE
    package.mkdir(parents=True)
    parameters = MentionModelParameters(model="trained", **SPACY)
    context = Context(Tracker(), work, LocalEngine(1))
    train_mention_model(parameters, context, annotated=work / "annotated.jsonl", out=work / "pipeline")
    meta = read_json(work / "pipeline" / "meta.json") | {"lang": "en", "name": "core_web_lg", "version": "3.8.0"}
    (package / "meta.json").write_text(json.dumps(meta))
    (work / "pipeline").rename(package / f"{PIPELINE}-3.8.0")
    (package / "__init__.py").write_text(
        "from spacy.util import load_model_from_init_py\n\n\n"
        "def load(**overrides):\n    return load_model_from_init_py(__file__, **overrides)\n"
    )
    known = site / f"{PIPELINE}-3.8.0.dist-info"
    known.mkdir()
    (known / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {PIPELINE}\nVersion: 3.8.0\n")
