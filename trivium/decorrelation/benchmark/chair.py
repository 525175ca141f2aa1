"""CHAIR of captioners on painted pictures: how much they name that is not there (Rohrbach et al., EMNLP 2018).

    CHAIR_i = mentions of classes that are not in x′ / all mentions       CHAIR_s = captions with such a mention / all

A mention is a noun phrase that names a class, found as in the graph's captions. In x′ are the annotated classes that
are left, and what people named in their captions of the picture, but for what was painted out. A captioner that still
names what is gone repeats what usually stands together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trivium.core.errors import BadInput
from trivium.core.tables import read_json_lines
from trivium.decorrelation.benchmark.benchmark_set import BenchmarkSet
from trivium.decorrelation.benchmark.scores import Interval, interval
from trivium.decorrelation.captions.phrases import Settings, read_phrases
from trivium.language.english.chunker import choose_chunker
from trivium.language.english.sentences import read_sentence


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
        """The share of all mentions; None where no class was named."""
        total = int(self.mentions.sum())
        return int(self.invented.sum()) / total if total else None

    @property
    def chair_s(self) -> float:
        """The share of all captions."""
        return float((self.invented > 0).mean())


def read_captions(file: Path, benchmark: BenchmarkSet) -> list[str]:
    """The captions of any captioner: `{"id": of a painted picture, "caption": text}` a line, one each, in any order.

    Raises:
        BadInput: no text, an id twice, one that the set lacks, or one that is missing.
    """
    ids, texts = benchmark.painted.queries, dict[str, str]()
    wanted = set(ids)
    for row, line in read_json_lines(file):
        name, text = str(line.get("id")), line.get("caption")
        if name not in wanted or name in texts:
            problem = "an id twice" if name in texts else "an id that the set lacks"
            raise BadInput(problem, file=file, row=row, field="id", got=line.get("id"), choices=ids[:3])
        if not isinstance(text, str):
            raise BadInput("no text", file=file, row=row, field="caption", got=text)
        texts[name] = text
    if missing := [name for name in ids if name not in texts]:
        raise BadInput("captions are missing", file=file, got=f"none of {missing[0]}", expected=f"{len(ids)} lines")
    return [texts[name] for name in ids]


def chair(benchmark: BenchmarkSet, texts: Sequence[str]) -> CaptionerScores:
    """Judge captions of the painted pictures, one a query; what they name is found as in the set's own captions.

    Raises:
        BadInput: see `read_phrases`.
    """
    used = benchmark.phrases
    chunker = choose_chunker(used["chunker"], used["spacy_model"])
    settings = Settings(benchmark.classes, used["matching"], chunker, used["spacy_model"])
    counts = np.zeros(benchmark.queries.removed.shape, np.int64)
    for row, phrases in enumerate(read_phrases(settings, [read_sentence(text) for text in texts])):
        for phrase in phrases:
            counts[row, [benchmark.classes.index(name) for name in phrase.classes]] += 1
    removed = benchmark.queries.removed
    invented = (counts * ~((benchmark.queries.present | benchmark.named_by_people()) & ~removed)).sum(axis=1)
    still_named = np.asarray(((counts > 0) & removed).any(axis=1))
    shares = {"chair_s": invented > 0, "still_named": still_named}
    pictures = benchmark.queries.pictures
    bounds = {name: interval(benchmark, share.astype(float), pictures) for name, share in shares.items()}
    return CaptionerScores(tuple(texts), counts.sum(axis=1), invented, still_named, bounds)
