"""The public data of KVQAE: downloaded as pinned, and converted to the raw files of `data/kvqae/raw`.

The knowledge base is ViQuAE's with KILT's articles, or a smaller one chosen from it with previews from Commons.

Each piece is built once: after a kill, a run continues with the next piece, and within a download with the next byte,
unless the pins or this room's code have changed. Archives are read as a stream, never unpacked to disk, and removed
when their piece is built.
"""

import gzip
import hashlib
import shutil
import tarfile
import zlib
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import Any

from trivium.core.errors import BadInput
from trivium.core.image_shards import write_images
from trivium.core.reading import LARGEST_IMAGE, open_file
from trivium.core.tables import read_json, read_json_lines, write_json, write_json_lines
from trivium.formats.pictures import is_picture
from trivium.formats.wikidata import read_entities
from trivium.sources.brought import link, read_records, require_space
from trivium.sources.download import Hub, fetch_into
from trivium.sources.kvqae import kilt
from trivium.sources.kvqae.raw import leave_out_sources, validate_kvqae, validate_triviaqa, write_parts
from trivium.sources.kvqae.wikimedia import COMMONS, MediaWiki, fetch_thumbnails
from trivium.sources.pins import Source

TRIVIAQA_SPLITS = {"train": "without_viquae", "validation": "with_viquae_validation", "test": "with_viquae_test"}
PIECES, INDEX, PREVIEWS = "kvqae_pieces", "kvqae_index", "kvqae_previews"  # folders among the downloads, until used
PREVIEW_BYTES, INDEX_BYTES = 100_000, 3_000_000_000  # about
_CHUNK = 1 << 20  # bytes of an archive that are read at a time
Build = Callable[[dict[str, Path]], dict[str, float]]


def fetch_kvqae(out: Path, downloads: Path, base: kilt.SmallerBaseParameters | None = None) -> dict[str, float]:
    """Download ViQuAE, its knowledge base and images; write the raw files of KVQAE except TriviaQA to `out`.

    Each part of `out` is complete or absent; its `provenance/` keeps revisions and digests. Downloads and finished
    pieces stay in `downloads` until all are there, even if the run is interrupted. Without `base` the knowledge base
    has all articles, KILT's. Returns counts of what was written and of everything that was skipped.
    """
    hub = Hub(downloads)
    pieces, counts = _build_pieces(hub, base)
    with write_parts(out) as temporary:
        link(pieces, temporary, sorted(str(file.relative_to(pieces)) for file in pieces.rglob("*") if file.is_file()))
        counts |= validate_kvqae(temporary, may_lack_images=True)
    hub.drop(PIECES)
    return counts


def fetch_triviaqa(out: Path, viquae: Path, downloads: Path) -> dict[str, float]:
    """Download TriviaQA as ViQuAE's authors split it, without training questions from which ViQuAE's were made."""
    with fetch_into(["triviaqa"], out, downloads) as (temporary, sources, pins):
        files = sources["triviaqa"]
        for split, name in TRIVIAQA_SPLITS.items():
            chosen = [path for file, path in files.items() if name in file]
            if not chosen:
                raise BadInput("no file for this split", field=f"triviaqa {split}", expected=f"*{name}*", choices=files)
            _write_questions(temporary / f"{split}.jsonl", chosen)
        counts = validate_triviaqa(temporary) | leave_out_sources(temporary, viquae)
        write_json(temporary / "provenance.json", pins.summary(["triviaqa"]))
    return counts


def _build_pieces(hub: Hub, base: kilt.SmallerBaseParameters | None) -> tuple[Path, dict[str, float]]:
    """Return the folder of all pieces and their counts; pieces that an interrupted run has finished are kept."""
    images = "viquae_images"
    names = ("viquae_dataset", "viquae_wikipedia", images) + (() if base else ("kilt", "viquae_all_images"))
    key = _pieces_key(map(hub.pins.source, names), base)
    raw = hub.folder / PIECES / key
    # In the order in which they are built: the source of each, and what writes it.
    pieces: dict[str, tuple[str | None, Build]] = {"viquae": ("viquae_dataset", partial(_write_viquae, raw))}
    if base:
        build = partial(kilt.write_smaller_base, raw, base=base, index=hub.folder / INDEX / key)
        pieces["base"] = ("viquae_wikipedia", build)
    else:
        pieces["entities"] = ("viquae_wikipedia", partial(_write_entities, raw))
        pieces["articles"] = ("kilt", partial(_write_articles, raw))
    pieces["question_images"] = (images, partial(_write_images, raw, "questions"))
    if base:  # images of a smaller base are previews from Commons, which are not pinned
        pieces["previews"] = (None, partial(_write_previews, raw, hub))
    else:
        pieces["kb_images"] = ("viquae_all_images", partial(_write_images, raw, "kb"))
    markers = {piece: raw / "provenance" / f"{piece}.json" for piece in pieces}
    left = [piece for piece in pieces if not markers[piece].exists()]
    sources = [source for piece in left if (source := pieces[piece][0])]
    _require_room(hub, sources, base if "previews" in left else None)
    counts: dict[str, float] = {}
    for piece, (source, write) in pieces.items():
        if piece in left:
            for leftover in list(raw.rglob(".*.partial*")):  # of a run that was killed
                shutil.rmtree(leftover, ignore_errors=True) if leftover.is_dir() else leftover.unlink(missing_ok=True)
            counted = write(hub.fetch(source) if source else {})
            origin = hub.pins.summary([source]) if source else COMMONS
            write_json(markers[piece], {"counts": counted, "sources": origin})
        if source:
            hub.drop(source)
        counts |= read_json(markers[piece])["counts"]
    if base:
        hub.drop(INDEX, PREVIEWS)
    return raw, counts


def _pieces_key(sources: Iterable[Source], base: kilt.SmallerBaseParameters | None) -> str:
    """Digest what finished pieces depend on: their pins, the code of this room, and how a base is chosen."""
    digest = hashlib.sha256(base.model_dump_json(exclude={"threads", "heap_gib"}).encode() if base else b"")
    for source in sources:
        digest.update(source.model_dump_json(exclude={"description", "bytes", "page"}).encode())
    for module in sorted(Path(__file__).parents[1].rglob("*.py")):
        digest.update(module.read_bytes())
    return digest.hexdigest()[:16]


def _require_room(hub: Hub, sources: list[str], base: kilt.SmallerBaseParameters | None) -> None:
    """Check the free disk before the first download: results are about as large as downloads, kept one at a time."""
    sizes = [hub.pins.source(source).bytes for source in sources]
    downloaded = sum(map(hub.bytes_there, sources))
    # A smaller base also needs previews, in files and in shards, and the index by which it is chosen.
    smaller = 2 * base.articles * PREVIEW_BYTES + INDEX_BYTES if base else 0
    needed = sum(sizes) + max(sizes, default=0) - downloaded + smaller
    require_space(hub.folder, needed, f"the hub's {', '.join(sources)}" + (" and previews of Commons" if base else ""))


def _write_entities(raw: Path, parts: dict[str, Path]) -> dict[str, float]:
    counts: Counter[str] = Counter()

    def entities() -> Iterator[dict[str, Any]]:
        yield kilt.human_type()
        for part, _, entity, _ in kilt.read_once(parts, counts):
            counts[f"entities_{part}"] += 1
            yield entity

    write_json_lines(raw / "wikidata.jsonl", entities())
    return {name: float(counts[name]) for name in (*(f"entities_{part}" for part in kilt.KB_PARTS), "entities_twice")}


def _write_articles(raw: Path, files: dict[str, Path]) -> dict[str, float]:
    path = files["kilt_knowledgesource.json"]
    articles = (kilt.to_article(record, path, row) for row, record in read_records(path))
    return {"articles": float(write_json_lines(raw / "articles.jsonl", articles))}


def _write_viquae(raw: Path, files: dict[str, Path]) -> dict[str, float]:
    return {
        f"viquae_{split}": _write_questions(raw / "viquae" / f"{split}.jsonl", [files[f"{split}.jsonl"]])
        for split in ("train", "validation", "test")
    }


def _write_questions(target: Path, paths: list[Path]) -> float:
    rows = (kilt.to_question(record, path, row) for path in paths for row, record in read_records(path))
    return float(write_json_lines(target, rows))


def _write_images(raw: Path, which: str, files: dict[str, Path]) -> dict[str, float]:
    if which == "kb":
        names = _read_kb_images(raw)
    else:
        splits = sorted((raw / "viquae").glob("*.jsonl"))
        names = {record["image"] for path in splits for _, record in read_json_lines(path) if record.get("image")}
    counts: Counter[str] = Counter()
    written = write_images(raw / "images" / which, images_in_tar(list(files.values()), names, counts))
    passed = {f"{which}_images_{why}": float(counts[why]) for why in ("not_wanted", "not_an_image", "twice")}
    return {f"{which}_images": float(written), f"{which}_images_missing": float(len(names) - written)} | passed


def _write_previews(raw: Path, hub: Hub, _: dict[str, Path]) -> dict[str, float]:
    names, kept = sorted(_read_kb_images(raw)), hub.folder / PREVIEWS
    counts: Counter[str] = Counter()
    commons = MediaWiki(COMMONS, kept / "answers")
    fetched = fetch_thumbnails(names, commons, kept / "pictures", counts)
    written = write_images(raw / "images" / "kb", fetched)
    counts.update(kb_images=written, kb_images_missing=len(names) - written)
    return {name: float(count) for name, count in counts.items()}


def _read_kb_images(raw: Path) -> set[str]:
    return {image for entity in read_entities(raw / "wikidata.jsonl") if (image := entity.image())}


def _read_joined(parts: Sequence[Path]) -> Iterator[bytes]:
    """Yield the bytes of files one after another."""
    for part in parts:
        with open_file(part) as stream:
            while data := stream.read(_CHUNK):
                yield data


def images_in_tar(parts: Sequence[Path], names: Container[str], counts: Counter[str]) -> Iterator[tuple[str, bytes]]:
    """Stream (file name, encoded bytes) from a gzipped tar, given as one file or as consecutive parts of one.

    Nothing is unpacked to disk. The archive's folders are removed from the names, of which those in `names` are kept;
    `counts` counts what is skipped: `not_wanted`, `not_an_image`, `twice`.
    """
    streamed: set[str] = set()
    try:
        chunks = _read_joined(parts)
        joined: Any = SimpleNamespace(read=lambda size: next(chunks, b""))  # tarfile only reads it
        with tarfile.open(fileobj=joined, bufsize=_CHUNK, mode="r|gz") as archive:
            for member in archive:
                if not member.isfile():
                    continue
                name = PurePosixPath(member.name).name
                if not is_picture(name):
                    counts["not_an_image"] += 1
                elif name not in names:
                    counts["not_wanted"] += 1
                elif name in streamed:
                    counts["twice"] += 1
                elif member.size > LARGEST_IMAGE:
                    got, expected = f"{member.size} bytes", f"at most {LARGEST_IMAGE}"
                    raise BadInput("image too large", file=parts[0], row=name, got=got, expected=expected)
                else:
                    streamed.add(name)
                    stream = archive.extractfile(member)
                    assert stream is not None  # a regular file
                    yield name, stream.read()
    except (tarfile.TarError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise BadInput(f"broken archive: {error}", file=parts[0], got=f"{len(parts)} parts") from None
