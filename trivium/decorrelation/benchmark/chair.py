"""CHAIR of captioners on painted pictures: how much they name that is not there (Rohrbach et al., EMNLP 2018).

    CHAIR_i = mentions of things that are not in x′ / all mentions        CHAIR_s = captions with such a mention / all

A mention is a noun phrase that names a class, found as in the graph's captions. In x′ are the annotated classes that
are left, and what people named in their captions of the picture, but for what was painted out. A captioner that still
names what is gone repeats what usually stands together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.core.parameters import used_values
from trivium.decorrelation.benchmark.benchmark_set import BenchmarkSet
from trivium.decorrelation.benchmark.scores import Interval, interval
from trivium.decorrelation.captions.phrases import Settings, read_phrases
from trivium.formats.pictures import Phrase
from trivium.language.english.chunker import chosen_chunker
from trivium.language.english.sentences import read_sentence
from trivium.vision.shard_pictures import ShardPictures


class Captions(Protocol):
    """What writes captions; `captions/captioner.py` has BLIP's."""

    def caption(self, pictures: Sequence[Image.Image], batch: int) -> list[str]:
        """One caption a picture, in order."""
        ...


@dataclass(frozen=True)
class CaptionerScores:
    """One captioner's values, by query in the order of the set.

    Attributes:
        texts: what it wrote.
        mentions, invented: (queries,) how many of a class, and of one that is not there.
        still_named: (queries,) whether what was painted out is named.
        intervals: {"chair_s", "still_named": of the mean, over pictures}.
    """

    texts: tuple[str, ...]
    mentions: NDArray[np.int64]
    invented: NDArray[np.int64]
    still_named: NDArray[np.bool_]
    intervals: dict[str, Interval]

    @property
    def chair_i(self) -> float | None:
        """Of all mentions together; None where no class was named."""
        total = int(self.mentions.sum())
        return int(self.invented.sum()) / total if total else None

    @property
    def chair_s(self) -> float:
        """Of all captions."""
        return float((self.invented > 0).mean())


def phrase_settings(project: Path, classes: Sequence[str]) -> Settings:
    """How the project's graph finds what captions name."""
    said = used_values(project / "params.yaml", "decorrelation.phrases")
    chunker = chosen_chunker(said["chunker"], said["spacy_model"])
    return Settings(tuple(classes), said["matching"], chunker, said["spacy_model"])


def write_captions(captioner: Captions, asked: BenchmarkSet, name: str, batch: int) -> list[str]:
    """A caption a painted picture.

    Raises:
        BadInput: a picture that cannot be decoded, or another number of captions than of pictures.
    """
    images = Images(asked.painted.folder)
    texts: list[str] = []
    for start in range(0, len(asked.painted.names), 8 * batch):
        names = asked.painted.names[start : start + 8 * batch]
        texts += captioner.caption(ShardPictures(images, names)[:], batch)  # decoded: a captioner may want a list
    if len(texts) != len(asked.painted.names):
        raise BadInput("another number of captions", file=name, got=len(texts), expected=str(len(asked.painted.names)))
    return texts


def chair(asked: BenchmarkSet, texts: Sequence[str], settings: Settings) -> CaptionerScores:
    """Judge captions of the painted pictures.

    Args:
        asked: the set.
        texts: one a query.
        settings: with the classes of the set, in its order.

    Raises:
        BadInput: see `read_phrases`.
    """
    counts = _mentions(read_phrases(settings, [read_sentence(text) for text in texts]), settings.classes)
    removed = asked.queries.removed
    there = (asked.queries.present | _named_by_people(asked)) & ~removed
    invented = (counts * ~there).sum(axis=1)
    still_named = np.asarray(((counts > 0) & removed).any(axis=1))
    bounds = {
        "chair_s": interval(asked, (invented > 0).astype(float), asked.queries.pictures),
        "still_named": interval(asked, still_named.astype(float), asked.queries.pictures),
    }
    return CaptionerScores(tuple(texts), counts.sum(axis=1), invented, still_named, bounds)


def _mentions(found: Sequence[Sequence[Phrase]], classes: Sequence[str]) -> NDArray[np.int64]:
    """(captions, classes) how often each is named."""
    column = {name: place for place, name in enumerate(classes)}
    counts = np.zeros((len(found), len(classes)), np.int64)
    for row, phrases in enumerate(found):
        for phrase in phrases:
            counts[row, [column[name] for name in phrase.classes]] += 1
    return counts


def _named_by_people(asked: BenchmarkSet) -> NDArray[np.bool_]:
    """(queries, classes) what the captions of each query's picture name."""
    named = np.zeros_like(asked.queries.present)
    for picture in np.unique(asked.queries.pictures):
        own = asked.gallery.names[asked.gallery.pictures == picture].any(axis=0)
        named[asked.queries.pictures == picture] = own
    return named
