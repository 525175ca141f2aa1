"""What a model is trained on: D, the original pairs, and D', the synthetic ones (decorrelation.md §4)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from trivium.core.errors import BadInput
from trivium.core.tables import read_table
from trivium.formats.pictures import Corpus, Picture

Original = Literal["all", "subset", "none"]
ORIGINALS: tuple[Original, ...] = ("all", "subset", "none")


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
    """D and D'; a pair is a picture with one of its texts.

    Attributes:
        original: pictures of D.
        painted: pictures of D'.
    """

    original: tuple[Shown, ...]
    painted: tuple[Shown, ...]

    @property
    def original_pairs(self) -> int:
        """|D|."""
        return sum(len(each.texts) for each in self.original)

    @property
    def painted_pairs(self) -> int:
        """|D'|."""
        return sum(len(each.texts) for each in self.painted)


@dataclass(frozen=True)
class _Row:
    removal: str
    picture: int
    text: str


def training_pairs(
    corpus: Corpus, synthetic: Path, *, original: Original, share: float, captions: int, seed: int
) -> TrainingPairs:
    """The pairs of a cell.

    Args:
        corpus: the data set; its training pictures are D.
        synthetic: D', the table of stage `pairs`.
        original: `all` of D with D'; `none` of D, D' alone; `subset`: D_s, as many pairs of D as D' has, in the place
            of D' (appendix B compares the two at equal size).
        share: part of D' that is used, by picture (figure 4).
        captions: of a painted picture, at most; the first of those in D'.
        seed: of both choices.

    Raises:
        BadInput: a picture or a caption of D' that is not one of the training split; nothing to train on.
    """
    training = [picture for picture in corpus.pictures if picture.split == "train" and picture.captions]
    _check_names(corpus)
    rows = _part(_first(_read_rows(synthetic, corpus), captions), share, seed)
    if original == "subset":
        pairs = TrainingPairs(_subset(training, len(rows), seed), ())
    else:
        whole = tuple(Shown(each.id, each.name, _texts(each)) for each in training) if original == "all" else ()
        pairs = TrainingPairs(whole, _painted(rows))
    if not pairs.original and not pairs.painted:
        raise BadInput("nothing to train on", file=synthetic, got=f"original {original}, {len(rows)} synthetic pairs")
    return pairs


def training_captions(corpus: Corpus) -> list[str]:
    """All captions of the training split, the same for every variant: they all start from one vocabulary."""
    return [caption.text for picture in corpus.pictures if picture.split == "train" for caption in picture.captions]


def _texts(picture: Picture) -> tuple[str, ...]:
    return tuple(caption.text for caption in picture.captions)


def _check_names(corpus: Corpus) -> None:
    """No file may be in training and, under another id, in validation or test."""
    training = {picture.name for picture in corpus.pictures if picture.split == "train"}
    for picture in corpus.pictures:
        if picture.split != "train" and picture.name in training:
            raise BadInput("a picture of training is in another split too", field="filename", got=picture.name,
                           expected=f"not in {picture.split}")  # fmt: skip


def _read_rows(path: Path, corpus: Corpus) -> list[_Row]:
    """D' as it was written, each row checked against the corpus: a picture that is tested must never be trained on."""
    pictures = {picture.id: picture for picture in corpus.pictures}
    captions = {picture.id: {caption.id for caption in picture.captions} for picture in corpus.pictures}
    table = read_table(path, ["removal", "picture", "caption", "text"])
    rows = []
    for number, row in enumerate(table.to_pylist(), 1):
        picture = pictures.get(row["picture"])
        if picture is None:
            raise BadInput("no such picture", file=path, row=number, field="picture", got=row["picture"])
        if picture.split != "train":
            raise BadInput(f"a picture of the {picture.split} split in training", file=path, row=number,
                           field="picture", got=picture.id, expected="split train")  # fmt: skip
        if row["caption"] not in captions[picture.id]:
            raise BadInput("not a caption of its picture", file=path, row=number, field="caption", got=row["caption"],
                           choices=sorted(captions[picture.id]))  # fmt: skip
        if not row["removal"].startswith(f"{picture.id}_"):
            raise BadInput("a removal from another picture", file=path, row=number, field="removal",
                           got=row["removal"], expected=f"{picture.id}_…")  # fmt: skip
        rows.append(_Row(row["removal"], picture.id, row["text"]))
    return rows


def _first(rows: Sequence[_Row], captions: int) -> list[_Row]:
    """At most so many rows of each removal; one caption is the first of several."""
    taken: Counter[str] = Counter()
    kept = []
    for row in rows:
        taken[row.removal] += 1
        if taken[row.removal] <= captions:
            kept.append(row)
    return kept


def _part(rows: Sequence[_Row], share: float, seed: int) -> list[_Row]:
    """The rows of a random part of the pictures; a smaller part lies inside a larger one of the same seed."""
    pictures = sorted({row.picture for row in rows})
    order = np.random.default_rng([seed, 0]).permutation(len(pictures))
    kept = {pictures[place] for place in order[: round(share * len(pictures))]}
    return [row for row in rows if row.picture in kept]


def _subset(training: Sequence[Picture], count: int, seed: int) -> tuple[Shown, ...]:
    """`count` pairs of D: as long as there are pictures one of each, as in D', then a second of each, and so on."""
    rng = np.random.default_rng([seed, 1])
    order = rng.permutation(len(training))
    texts = [rng.permutation(len(picture.captions)) for picture in training]
    chosen: dict[int, list[int]] = {}
    for turn in range(max((len(picture.captions) for picture in training), default=0)):
        for place in order:
            if count and turn < len(texts[place]):
                chosen.setdefault(int(place), []).append(int(texts[place][turn]))
                count -= 1
    return tuple(
        Shown(training[place].id, training[place].name, tuple(training[place].captions[each].text for each in which))
        for place, which in sorted(chosen.items())
    )


def _painted(rows: Sequence[_Row]) -> tuple[Shown, ...]:
    texts: dict[str, list[str]] = {}
    for row in rows:
        texts.setdefault(row.removal, []).append(row.text)
    # Below -1, which is nobody's (the empty places of BLIP's queue).
    return tuple(Shown(-number, removal, tuple(each)) for number, (removal, each) in enumerate(texts.items(), 2))
