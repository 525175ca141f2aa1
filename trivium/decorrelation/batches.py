"""Training pairs, and the batch of every step: which pairs, their pictures decoded and prepared, texts tokenised.

Pairs are those of D, the original ones, and of D', the synthetic ones (decorrelation.md §4).

Everything about a step follows from the seed and the step's number, so a training goes on where it was killed, and
loader workers do not change what is drawn.

The loss is the paper's, plain contrast over the batch. Where an original and its painted picture meet in one, the full
caption is a hard negative of the painted picture (what is missing is what it must learn to see), and the shortened
caption counts as a negative of the original, of which it is still true. No pair is kept out of a batch for that.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from PIL import Image
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, default_collate
from tqdm import tqdm

from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.core.tables import read_table
from trivium.decorrelation.models.interface import RetrievalModel
from trivium.formats.pictures import Caption, Corpus, Picture
from trivium.nets.training import draw_places
from trivium.vision.decoding import read_rgb

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

    `BadInput`: nothing to train on.
    """
    training = [picture for picture in corpus.pictures if picture.split == "train" and picture.captions]
    texts: dict[str, list[str]] = {}
    for row in _part(read_table(synthetic, ["removal", "picture", "text"]).to_pylist(), share, seed):
        texts.setdefault(row["removal"], []).append(row["text"])
    painted = tuple(
        Shown(-number, removal, tuple(of_removal[:captions]))  # below -1, which BLIP's queue uses for no picture
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
    """Choose `count` pairs of D: one of every picture, as in D', then a second of every picture, and so on."""
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


class Batch(NamedTuple):
    """Inputs of the loss: (n, 3, h, w) pictures, tokens of n texts, and (n,) ids of the pictures as they are shown."""

    pixels: Tensor
    tokens: dict[str, Tensor]
    pictures: Tensor


class Draws:
    """The pairs of each step: two endless sequences of shuffled epochs, one of D and one of D', side by side.

    In an epoch each picture comes once; its texts take turns from epoch to epoch. `synthetic_share` is the part of
    a batch that is from D' when both are trained on; None: |D'| / (|D| + |D'|), counted in pairs.
    """

    def __init__(self, pairs: TrainingPairs, batch_size: int, synthetic_share: float | None, seed: int) -> None:
        self._sources = (pairs.original, pairs.painted)
        self._batch_size, self._seed = batch_size, seed
        total = pairs.original_pairs + pairs.painted_pairs
        self.steps_an_epoch = math.ceil(total / batch_size)  # in which as many pairs are seen as there are
        share = pairs.painted_pairs / total
        both = pairs.original and pairs.painted
        self._share = synthetic_share if both and synthetic_share is not None else share
        self._turns = [
            np.random.default_rng([seed, source, 0]).integers(0, 2**31, len(shown))
            for source, shown in enumerate(self._sources)
        ]

    def painted_before(self, step: int) -> int:
        """The number of pairs of D' that the steps before `step` (from 0) have seen."""
        return math.floor(step * self._batch_size * self._share + 1e-9)

    def step(self, step: int) -> list[tuple[Shown, str]]:
        """The pairs of a step in random order."""
        painted = range(self.painted_before(step), self.painted_before(step + 1))
        first = step * self._batch_size - painted.start
        original = range(first, first + self._batch_size - len(painted))
        pairs = [*self._drawn(0, original), *self._drawn(1, painted)]
        return [pairs[place] for place in np.random.default_rng([self._seed, 2, step]).permutation(len(pairs))]

    def shown(self, steps: int) -> list[Shown]:
        """The pictures that so many steps see."""
        painted = self.painted_before(steps)
        pictures = []
        for source, count in enumerate((steps * self._batch_size - painted, painted)):
            first_epoch = range(min(count, len(self._sources[source])))
            pictures += [shown for shown, _ in self._drawn(source, first_epoch)]
        return pictures

    def _drawn(self, source: int, places: range) -> Iterator[tuple[Shown, str]]:
        shown, turns = self._sources[source], self._turns[source]
        for place, epoch in draw_places(len(shown), places, self._seed, source, 1):
            texts = shown[place].texts
            yield shown[place], texts[(int(turns[place]) + epoch) % len(texts)]


class Pictures:
    """Pictures by their shown id, prepared for a model; the first stay in memory, up to so many bytes.

    Where the model prepares a picture always in the same way its prepared form is kept, else the decoded one.
    `painted` is None where there is no D'.
    """

    def __init__(self, model: RetrievalModel, raw: Images, painted: Images | None, memory: int) -> None:
        self._model, self._sources, self._memory = model, (raw, painted), memory
        self._kept: dict[int, Tensor | Image.Image] = {}

    def keep(self, shown: Iterable[Shown]) -> None:
        """Decode these once, shard after shard, until the memory is used up."""
        for source, painted in zip(self._sources, (False, True), strict=True):
            ids = {picture.name: picture.id for picture in shown if (picture.id < 0) == painted}
            if source is None or not ids or self._memory <= 0:
                continue
            for name, data in tqdm(source.stream(), desc="decode", unit="image", mininterval=5, leave=False):
                if name not in ids:
                    continue
                kept = self._decode(name, data)
                size = kept.nbytes if isinstance(kept, Tensor) else 3 * kept.width * kept.height
                if size > self._memory:
                    return
                self._memory -= size
                self._kept[ids[name]] = kept

    def __call__(self, shown: Shown, seed: tuple[int, ...]) -> Tensor:
        """(3, h, w); what is drawn in preparing it follows from the seed."""
        kept = self._kept.get(shown.id)
        if kept is None:
            source = self._sources[shown.id < 0]
            assert source is not None
            kept = self._decode(shown.name, source.read(shown.name))
        if isinstance(kept, Tensor):
            return kept
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed_of(*seed))
            return self._model.prepare(kept, training=True)

    def _decode(self, name: str, data: bytes) -> Tensor | Image.Image:
        image = read_rgb(data, name)
        return image if self._model.prepare.augments else self._model.prepare(image, training=True)


class Batches(Dataset[Batch]):
    """The batch of each step; `seed` is of what is drawn in preparing pictures."""

    def __init__(self, model: RetrievalModel, draws: Draws, pictures: Pictures, *, seed: int) -> None:
        self._model, self._draws, self._pictures, self._seed = model, draws, pictures, seed
        self.steps_an_epoch = draws.steps_an_epoch

    def __getitem__(self, step: int) -> Batch:
        pairs = self._draws.step(step)
        pixels = [self._pictures(shown, (self._seed, step, place)) for place, (shown, _) in enumerate(pairs)]
        return Batch(
            default_collate(pixels),  # in a process of the loader straight into memory that is shared
            self._model.tokenize([text for _, text in pairs]),
            torch.tensor([shown.id for shown, _ in pairs]),
        )

    def between(self, first: int, last: int, workers: int) -> DataLoader[Batch]:
        """The batches of the steps from `first` up to, not including, `last`; decoded ahead by `workers` processes."""
        pinned = torch.cuda.is_available()
        return DataLoader(self, batch_size=None, sampler=range(first, last), num_workers=workers, pin_memory=pinned)


def seed_of(*parts: int) -> int:
    """A seed of torch from numbers that name its use."""
    return int(np.random.SeedSequence(parts).generate_state(1, np.uint64)[0] >> 1)
