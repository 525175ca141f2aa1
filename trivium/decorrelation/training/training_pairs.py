"""Training pairs: D, the original ones, and D', the synthetic ones (decorrelation.md §4)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from trivium.core.errors import BadInput
from trivium.core.tables import read_table
from trivium.formats.pictures import Caption, Corpus, Picture

Original = Literal["all", "subset", "none"]
_Row = dict[str, Any]  # of D': removal, picture, text


@dataclass(frozen=True)
class Shown:
    """A picture as it is shown in training, with the texts that are true of it.

    Attributes:
        id: unique among the shown: the picture's for an original, negative for a painted one. A painted picture is
            another picture than its original: it is no longer what the full caption says.
        name: in its image shards; a painted one's is its removal.
        texts: one of them is drawn when the picture is.
    """

    id: int
    name: str
    texts: tuple[str, ...]


@dataclass(frozen=True)
class TrainingPairs:
    """The pictures of D and of D'; a pair is a picture with one of its texts."""

    original: tuple[Shown, ...]
    painted: tuple[Shown, ...]

    @property
    def original_pairs(self) -> int:
        """The number of pairs |D|."""
        return sum(len(shown.texts) for shown in self.original)

    @property
    def painted_pairs(self) -> int:
        """The number of pairs |D'|."""
        return sum(len(shown.texts) for shown in self.painted)


def training_pairs(
    corpus: Corpus, synthetic: Path, *, original: Original, share: float, captions: int, seed: int
) -> TrainingPairs:
    """The pairs of a cell from the training pictures of a corpus, D, and the table of stage `pairs`, D'.

    `original`: `all` of D with D'; `none` of D, D' alone; `subset`: D_s, as many pairs of D as D' has, in the place
    of D' (appendix B compares the two at equal size). `share` is the part of D' that is used, by picture (figure
    4), `captions` the most captions of a painted picture, the first of those in D'.

    Raises:
        BadInput: a file name in training and, under another id, in another split; nothing to train on.
    """
    training = [picture for picture in corpus.pictures if picture.split == "train" and picture.captions]
    names = {picture.name for picture in corpus.pictures if picture.split == "train"}
    for picture in corpus.pictures:
        if picture.split != "train" and picture.name in names:
            raise BadInput("a picture of training is in another split too", field="filename", got=picture.name,
                           expected=f"not in {picture.split}")  # fmt: skip
    texts: dict[str, list[str]] = {}
    for row in _part(read_table(synthetic, ["removal", "picture", "text"]).to_pylist(), share, seed):
        texts.setdefault(row["removal"], []).append(row["text"])
    painted = tuple(
        Shown(-number, removal, tuple(of_removal[:captions]))  # below -1, which is nobody's (BLIP's queue)
        for number, (removal, of_removal) in enumerate(texts.items(), 2)
    )
    pairs = TrainingPairs((), painted)
    if original == "subset":
        pairs = TrainingPairs(_subset(training, pairs.painted_pairs, seed), ())
    elif original == "all":
        pairs = TrainingPairs(tuple(_shown(picture, picture.captions) for picture in training), painted)
    if not pairs.original and not pairs.painted:
        raise BadInput("nothing to train on", file=synthetic, got=f"original {original}, no synthetic pair")
    return pairs


def training_captions(corpus: Corpus) -> list[str]:
    """All captions of the training split, the same for every variant: they all start from one vocabulary."""
    return [caption.text for picture in corpus.pictures if picture.split == "train" for caption in picture.captions]


def _shown(picture: Picture, captions: Iterable[Caption]) -> Shown:
    return Shown(picture.id, picture.name, tuple(caption.text for caption in captions))


def _part(rows: Sequence[_Row], share: float, seed: int) -> list[_Row]:
    """The rows of a random part of the pictures; a smaller part lies inside a larger one of the same seed."""
    pictures = sorted({row["picture"] for row in rows})
    order = np.random.default_rng([seed, 0]).permutation(len(pictures))
    kept = {pictures[place] for place in order[: round(share * len(pictures))]}
    return [row for row in rows if row["picture"] in kept]


def _subset(training: Sequence[Picture], count: int, seed: int) -> tuple[Shown, ...]:
    """`count` pairs of D: as long as there are pictures one of each, as in D', then a second of each, and so on."""
    rng = np.random.default_rng([seed, 1])
    order = rng.permutation(len(training)).tolist()
    texts = [rng.permutation(len(picture.captions)).tolist() for picture in training]
    turns = range(max((len(picture.captions) for picture in training), default=0))
    pairs = [(place, texts[place][turn]) for turn in turns for place in order if turn < len(texts[place])]
    chosen: dict[int, list[int]] = {}
    for place, caption in pairs[:count]:
        chosen.setdefault(place, []).append(caption)
    return tuple(
        _shown(training[place], [training[place].captions[caption] for caption in which])
        for place, which in sorted(chosen.items())
    )
