"""How much there is of everything in KVQAE's world, from which its costs follow."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow.parquet as pq

from trivium.commands.costs.row import Row, chosen
from trivium.commands.stage_models import Used
from trivium.formats.questions import SPLITS
from trivium.page.kvqae.smaller_base import PAPERS_ARTICLES
from trivium.sources.kvqae.hub import INDEX_BYTES, PREVIEW_BYTES


@dataclass(frozen=True)
class KvqaeWorld:
    """How much there is of everything.

    Attributes:
        downloaded: 1 where it comes from the network, else 0.
        raw: what the stages that fetch or make it take.
    """

    downloaded: int
    articles: float
    kb_articles: float
    passages: float
    kb_passages: float
    words: float
    viquae_questions: float
    triviaqa_questions: float
    images: float
    image_gb: float
    text_parameters: float
    text_dimension: float
    image_teraflop: float
    image_dimensions: float
    image_gib: float
    raw: Row


def _raw(articles: float, image_gb: float, downloads: float) -> Row:
    """Of stage `world`: archive and images together, then articles of 3.5 kB."""
    return Row(
        downloads=downloads,
        disk=2.2 * image_gb + articles * 4e-6,
        memory=1 + articles * 2e-7,  # ids, to find what stands twice
        core_hours=0.02 + articles / 5000 / 3600 + image_gb / 100 * 0.5,
    )


def _sample(used: Used) -> KvqaeWorld:
    articles = used("kvqae.world.articles") + used("kvqae.world.imageless")
    kb_articles = used("kvqae.world.articles")
    questions = sum(used(f"kvqae.world.questions.{split}") for split in ("train", "validation", "test"))
    images = kb_articles + questions
    return KvqaeWorld(
        downloaded=0,
        articles=articles,
        kb_articles=kb_articles,
        passages=5 * articles,
        kb_passages=5 * kb_articles,
        words=used("kvqae.passages.words"),
        viquae_questions=questions,
        triviaqa_questions=used("kvqae.world.triviaqa"),
        images=images,
        image_gb=images * 2e-5,
        text_parameters=10_600_000,  # MiniLM, 6 layers
        text_dimension=384,
        image_teraflop=0.002,  # the stand-ins
        image_dimensions=512,
        image_gib=1.5,  # measured: a process with all networks
        raw=_raw(articles, images * 2e-5, 0),
    )


def _hub(used: Used) -> KvqaeWorld:
    words, base = used("kvqae.passages.words"), used("kvqae.world.base")
    everything = KvqaeWorld(
        downloaded=1,
        articles=5_903_530,  # KILT
        kb_articles=PAPERS_ARTICLES,  # ViQuAE: 506 237 + 35 736 + 953 379, 8 passages each
        words=words,
        passages=24_000_000 * 100 / words,  # a guess: as many again outside the KB, where articles are shorter
        kb_passages=12_000_000 * 100 / words,
        viquae_questions=3697,
        triviaqa_questions=47_000,
        images=1_425_000,  # 95 % of the KB's are unique, and the questions'
        image_gb=106,
        text_parameters=85_000_000,  # BERT, base
        text_dimension=768,
        image_teraflop=0.033,  # ResNet-50 .008, CLIP RN50 .012, ArcFace .013
        image_dimensions=3584,  # 512 + 2048 + 1024
        image_gib=4,  # larger networks, their GPU's libraries, 256 pictures
        raw=_raw(5_903_530, 106, 157),  # bytes as in trivium/sources/pins.yaml
    )
    if not base:
        return everything
    articles = base["articles"]
    passages, previews = 8 * articles * 100 / words, articles * PREVIEW_BYTES / 1e9
    return replace(
        everything,
        articles=articles,
        kb_articles=articles,
        passages=passages,
        kb_passages=passages,
        images=articles + 3300,
        image_gb=previews + 0.4,
        raw=Row(
            downloads=3.2 + 0.4 + previews,
            disk=3.2 + 0.8 + 2 * previews + INDEX_BYTES / 1e9 + articles * 7e-6,
            memory=6,  # Java's 4, and the ids of all articles
            # All articles are read twice, and indexed once: measured, 1800 a second.
            core_hours=PAPERS_ARTICLES * (2 / 4000 + 1 / 1800) / 3600,
            waiting=articles / 8 / 3600,  # Commons gives two connections, which begin anew for each preview
        ),
    )


def _local(used: Used) -> KvqaeWorld:
    """What lies in the user's folder, with models as large as the hub's; as much as the hub's while it is not there."""
    folder = Path(used("world.local.kvqae"))
    if not (folder / "articles.jsonl").is_file():
        there = _hub(used)
        return replace(there, downloaded=0, raw=replace(there.raw, downloads=0))
    words = used("kvqae.passages.words")
    articles = _lines(folder / "articles.jsonl")
    passages = articles + (folder / "articles.jsonl").stat().st_size / 6 / words  # 6 bytes a word
    files = [path for path in (folder / "images").rglob("*") if path.is_file()]
    image_gb = sum(path.stat().st_size for path in files) / 1e9
    return replace(
        _hub(used),
        downloaded=0,
        articles=articles,
        kb_articles=articles,
        passages=passages,
        kb_passages=passages,
        viquae_questions=sum(_lines(folder / "viquae" / f"{split}.jsonl") for split in SPLITS),
        triviaqa_questions=sum(_lines(folder / "triviaqa" / f"{split}.jsonl") for split in SPLITS),
        images=_images(files),
        image_gb=image_gb,
        raw=_raw(articles, image_gb, 0),
    )


def _lines(path: Path) -> int:
    if not path.is_file():
        return 0
    with path.open("rb") as lines:
        return sum(1 for _ in lines)


def _images(files: Iterable[Path]) -> int:
    """Shards have a row an image."""
    return sum(pq.read_metadata(path).num_rows if path.suffix == ".parquet" else 1 for path in files)


def kvqae_world(used: Used) -> KvqaeWorld:
    """The world that `world.kvqae` chooses."""
    return chosen(used, "kvqae", _sample, _hub, _local)(used)
