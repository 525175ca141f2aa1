"""The hub world: public data and weights, downloaded as pinned, converted to the raw files that every world writes.

Each piece is built once: a run that was killed goes on with the next piece, and inside a download with the next byte.
It does so after any change of code or parameters that leaves alone the pins and the modules that build pieces.
Archives are read as a stream, never unpacked to disk, and removed when their piece is built.
"""

import hashlib
import inspect
import pickle
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from trivium.errors import BadInput
from trivium.files import image_shards, tables
from trivium.files.atomic import write_atomically
from trivium.files.image_shards import write_images
from trivium.files.tables import read_json, read_json_lines, write_json, write_json_lines
from trivium.files.zips import unpack_member
from trivium.sources import archives
from trivium.sources.archives import images_in_tar, read_records
from trivium.sources.brought import bring_identities, link
from trivium.sources.disk import require_space
from trivium.sources.download import PATIENT, Patience
from trivium.sources.kvqae import kilt
from trivium.sources.kvqae.checks import validate_kvqae
from trivium.sources.kvqae.kilt import human_type, to_article, to_entity, to_question
from trivium.sources.kvqae.training_questions import leave_out_sources
from trivium.sources.pins import Pins, Source
from trivium.sources.repositories import Hub

KB_PARTS = {"humans_with_faces": True, "humans_without_faces": True, "non_humans": False}
TRIVIAQA_SPLITS = {"train": "without_viquae", "validation": "with_viquae_validation", "test": "with_viquae_test"}
SOURCES = {  # of each piece of the raw files, in the order in which they are built
    "entities": "viquae_wikipedia",
    "articles": "kilt",
    "viquae": "viquae_dataset",
    "triviaqa": "triviaqa",
    "question_images": "viquae_images",
    "kb_images": "viquae_all_images",
}
PIECES = "kvqae_pieces"  # where they lie among the downloads, until all are there
_BUILDERS = (sys.modules[__name__], archives, image_shards, kilt, tables)


def fetch_kvqae(out: Path, downloads: Path, pins: Pins | None = None, patience: Patience = PATIENT) -> dict[str, float]:
    """Download ViQuAE, its knowledge base and images, TriviaQA and KILT's Wikipedia; write the raw files of KVQAE.

    Args:
        out: the raw folder; complete or absent. `provenance/` in it keeps revisions, digests and licences.
        downloads: where they and finished pieces lie until all are there, whatever interrupts the run.
        pins: by default the project's.
        patience: how long a download insists.

    Returns:
        Counts of what was written and of everything passed over.

    Raises:
        BadInput: see `download` and `validate_kvqae`; or a record lacks a field.
    """
    pins = pins or Pins()
    with Hub(downloads, pins, patience) as hub:
        pieces, counts = _pieces(hub)
        with write_atomically(out) as beside:
            link(pieces, beside, sorted(str(file.relative_to(pieces)) for file in pieces.rglob("*") if file.is_file()))
            counts |= leave_out_sources(beside, counts["triviaqa_train"])
            counts |= validate_kvqae(beside, may_lack_images=True)
        hub.drop(PIECES)
    return counts


def pieces_key(sources: Iterable[Source], builders: Iterable[ModuleType]) -> str:
    """What finished pieces depend on: the pins of their sources, and the code that builds them."""
    digest = hashlib.sha256()
    for source in sources:
        digest.update(source.model_dump_json(exclude={"description", "bytes", "page"}).encode())
    for module in builders:
        digest.update(Path(inspect.getfile(module)).read_bytes())
    return digest.hexdigest()[:16]


def _pieces(hub: Hub) -> tuple[Path, dict[str, float]]:
    """The folder of all pieces and their counts; those that an interrupted run has finished stay as they are."""
    claimed = hub.claim(PIECES)
    raw = claimed / pieces_key(map(hub.pins.source, SOURCES.values()), _BUILDERS)
    for other in sorted(claimed.glob("*")):
        if other != raw:
            print(f"{other}: finished with other pins or code, and not read; it may go", file=sys.stderr)
    builds: dict[str, Callable[[dict[str, Path]], dict[str, float]]] = {
        "entities": partial(_entities, raw),
        "articles": partial(_articles, raw),
        "viquae": partial(_viquae, raw),
        "triviaqa": partial(_triviaqa, raw),
        "question_images": partial(_images, raw, "questions"),
        "kb_images": partial(_images, raw, "kb"),
    }
    markers = {piece: raw / "provenance" / f"{piece}.json" for piece in builds}
    _require_room(hub, [SOURCES[piece] for piece, finished in markers.items() if not finished.exists()])
    counts: dict[str, float] = {}
    for piece, build in builds.items():
        source, finished = SOURCES[piece], markers[piece]
        if not finished.exists():
            for leftover in list(raw.rglob(".*.partial*")):  # of a run that was killed
                shutil.rmtree(leftover, ignore_errors=True) if leftover.is_dir() else leftover.unlink(missing_ok=True)
            write_json(finished, {"counts": build(hub.fetch(source)), "sources": hub.pins.summary([source])})
        hub.drop(source)
        counts |= read_json(finished)["counts"]
    return raw, counts


def fetch_base_models(
    out: Path, downloads: Path, pins: Pins | None = None, patience: Patience = PATIENT, brought: Path | None = None
) -> dict[str, float]:
    """Download the public encoders and write them as `text/`, `arcface/`, `clip/`, `imagenet/`; nothing is unpickled.

    Args:
        out: the folder; complete or absent. `provenance.json` in it keeps revisions, digests and licences.
        downloads: where they lie until everything is written, whatever interrupts the run.
        pins: by default the project's.
        patience: how long a download insists.
        brought: a folder of the user's that may hold `overlap/identities.txt`, which nobody publishes.

    Returns:
        Bytes of each model's weights, and the counts of `bring_identities`.
    """
    pins, sources = pins or Pins(), ("bert", "clip", "arcface", "imagenet")
    with Hub(downloads, pins, patience) as hub:
        with write_atomically(out) as beside:
            for source, folder in (("bert", "text"), ("clip", "clip")):
                (beside / folder).mkdir(parents=True)
                for file, path in hub.fetch(source).items():
                    shutil.copyfile(path, beside / folder / file)
            unpack_member(hub.fetch("arcface")["buffalo_l.zip"], "w600k_r50.onnx", beside / "arcface" / "model.onnx")
            (weights,) = hub.fetch("imagenet").values()
            _torchvision_weights(weights, "resnet50", beside / "imagenet")
            listed = bring_identities(brought, beside) if brought else {}
            write_json(beside / "provenance.json", pins.summary(sources))
        hub.drop(*sources)
    files = {"text": "model.safetensors", "clip": "open_clip_model.safetensors", "arcface": "model.onnx"}
    files["imagenet"] = "model.safetensors"
    return {f"{name}_bytes": float((out / name / file).stat().st_size) for name, file in files.items()} | listed


def _require_room(hub: Hub, sources: list[str]) -> None:
    """Before the first byte: results weigh about as much as downloads, one of which is there at a time."""
    sizes = [hub.pins.source(source).bytes for source in sources]
    there = sum(map(hub.bytes_there, sources))
    require_space(hub.folder, sum(sizes) + max(sizes, default=0) - there, f"the hub's {', '.join(sources)}")


def _torchvision_weights(path: Path, architecture: str, folder: Path) -> None:
    """Rewrite a torchvision state dict as safetensors, with what is needed to use it."""
    import torch
    from safetensors.torch import save_file

    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError) as error:
        raise BadInput("not plain tensors, or broken", file=path, got=str(error).partition("\n")[0]) from None
    folder.mkdir(parents=True)
    save_file(state, folder / "model.safetensors")
    write_json(folder / "config.json", {"architecture": architecture, "size": 224})


def _entities(raw: Path, parts: dict[str, Path]) -> dict[str, float]:
    counts: Counter[str] = Counter()
    seen: set[str] = set()

    def entities() -> Iterator[dict[str, Any]]:
        yield human_type()
        for part, human in KB_PARTS.items():
            path = parts[f"{part}.jsonl.gz"]
            for row, record in read_records(path):
                entity = to_entity(record, human, path, row)
                if entity["id"] in seen:
                    counts["entities_twice"] += 1
                    continue
                seen.add(entity["id"])
                counts[f"entities_{part}"] += 1
                yield entity

    write_json_lines(raw / "wikidata.jsonl", entities())
    return {name: float(counts[name]) for name in (*(f"entities_{part}" for part in KB_PARTS), "entities_twice")}


def _articles(raw: Path, files: dict[str, Path]) -> dict[str, float]:
    path = files["kilt_knowledgesource.json"]
    count = write_json_lines(
        raw / "articles.jsonl", (to_article(record, path, row) for row, record in read_records(path))
    )
    return {"articles": float(count)}


def _viquae(raw: Path, files: dict[str, Path]) -> dict[str, float]:
    return {
        f"viquae_{split}": _questions(raw / "viquae" / f"{split}.jsonl", [files[f"{split}.jsonl"]])
        for split in ("train", "validation", "test")
    }


def _triviaqa(raw: Path, files: dict[str, Path]) -> dict[str, float]:
    counts = {}
    for split, name in TRIVIAQA_SPLITS.items():
        chosen = [path for file, path in files.items() if name in file]
        if not chosen:
            raise BadInput("no file for this split", field=f"triviaqa {split}", expected=f"*{name}*", choices=files)
        counts[f"triviaqa_{split}"] = _questions(raw / "triviaqa" / f"{split}.jsonl", chosen)
    return counts


def _questions(target: Path, paths: list[Path]) -> float:
    rows = (to_question(record, path, row) for path in paths for row, record in read_records(path))
    return float(write_json_lines(target, rows))


def _images(raw: Path, which: str, files: dict[str, Path]) -> dict[str, float]:
    if which == "kb":
        entities = (record for _, record in read_json_lines(raw / "wikidata.jsonl"))
        wanted = {
            claim["mainsnak"]["datavalue"]["value"] for entity in entities for claim in entity["claims"].get("P18", ())
        }
    else:
        splits = sorted((raw / "viquae").glob("*.jsonl"))
        wanted = {record["image"] for path in splits for _, record in read_json_lines(path) if record.get("image")}
    counts: Counter[str] = Counter()
    written = write_images(raw / "images" / which, images_in_tar(list(files.values()), wanted, counts))
    passed = {f"{which}_images_{why}": float(counts[why]) for why in ("not_wanted", "not_an_image", "twice")}
    return {f"{which}_images": float(written), f"{which}_images_missing": float(len(wanted) - written)} | passed
