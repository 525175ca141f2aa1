"""VSE++ as a retrieval model, with its vocabulary (Faghri et al. 2018; decorrelation.md §4).

Base: a saved model, as `trivium/sources/decorrelation/models.py` makes of its authors' checkpoint; or a CNN trained to
classify, `config.json` and torchvision's state dict as `model.safetensors`:
{"architecture": "vgg19", "size": 224, "resize": 256}, or in place of a torchvision name "vgg" with its "channels",
"grid" and "hidden".
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor
from torchvision.transforms import InterpolationMode

from trivium.core.errors import BadInput
from trivium.core.tables import read_json, write_json
from trivium.decorrelation.models.interface import CONFIG, IMAGENET, RetrievalModel, scale_and_crop
from trivium.decorrelation.models.kinds.vse import VOCABULARY, VseSettings
from trivium.nets.tokens import pad
from trivium.nets.vse import GRID, HIDDEN, TORCHVISION, Vgg, VseTowers, channels_of, triplet_hinge
from trivium.nets.weights import WEIGHTS, load_weights, read_weights, save_weights

PADDING, UNKNOWN, BEGIN, END = range(4)
SPECIAL = ("<pad>", "<unk>", "<start>", "<end>")
WORD = r"\w+(?:['’]\w+)*"


def words_of(text: str) -> list[str]:
    """Runs of letters and digits, lower case; a word may have apostrophes inside."""
    return re.findall(WORD, text.lower())


_TREEBANK = (  # applied in this order, spaces around what becomes a word
    (r"(^|[ (\[{<])\"", r"\1 `` "),
    (r"([^.])(\.)([\])}>\"']*)\s*$", r"\1 \2 \3 "),
    (r"([:,])(?=\D|$)", r" \1 "),
    (r"(\.{2,}|--|[;@#$%&?!*()\[\]{}<>])", r" \1 "),
    (r"\"", " '' "),
    (r"([^' ])('s|'m|'d|'ll|'re|'ve|n't|')(?= )", r"\1 \2"),
    (r"\b(can(?=not\b)|(?:gon|wan)(?=na\b)|got(?=ta\b)|(?:lem|gim)(?=me\b))", r"\1 "),
)


def treebank_words(text: str) -> list[str]:
    """Words of a caption as NLTK's `word_tokenize` gives them, which the vocabularies of vsepp are made with.

    NLTK finds sentences by a trained model (Punkt); here one ends at a full stop, a question or an exclamation mark
    before a space. Within a sentence the rules are those of the Penn Treebank, as NLTK's documentation describes them.
    """
    words = []
    for sentence in re.split(r"(?<=[.?!])\s+", text.lower().strip()):
        padded = f" {sentence} "
        for pattern, replacement in _TREEBANK:
            padded = re.sub(pattern, replacement, padded)
        words += padded.split()
    return words


READERS: dict[str, Callable[[str], list[str]]] = {"words": words_of, "treebank": treebank_words}


class Vocabulary:
    """Numbers of words, in their order, the special ones first; `reader` is a name of `READERS`."""

    def __init__(self, words: Sequence[str], reader: str = "words") -> None:
        self.words, self._read = tuple(words), READERS[reader]
        self._numbers = {word: number for number, word in enumerate(self.words)}

    @classmethod
    def of(cls, captions: Iterable[str], minimum_count: int) -> "Vocabulary":
        """Words that the captions hold at least so often, in alphabetical order; `BadInput` where there is none."""
        counts = Counter(word for caption in captions for word in words_of(caption))
        words = sorted(word for word, count in counts.items() if count >= minimum_count)
        if not words:
            raise BadInput("no word is frequent enough", field="minimum_count", got=minimum_count)
        return cls([*SPECIAL, *words])

    @classmethod
    def read(cls, path: Path, reader: str) -> "Vocabulary":
        """Read the words of a JSON list; `BadInput` where it is something else."""
        words = read_json(path)
        if not isinstance(words, list) or tuple(words[: len(SPECIAL)]) != SPECIAL:
            raise BadInput("not a vocabulary", file=path, expected=f"a list of words that begins {', '.join(SPECIAL)}")
        return cls(words, reader)

    def encode(self, texts: Sequence[str]) -> dict[str, torch.Tensor]:
        """`ids` (texts, longest) with begin and end marks, padded on the right, and `lengths` (texts,)."""
        rows = [[BEGIN, *(self._numbers.get(word, UNKNOWN) for word in self._read(text)), END] for text in texts]
        return {"ids": pad(rows, PADDING), "lengths": torch.tensor([len(row) for row in rows], dtype=torch.int64)}


_CLASSIFIER = ("classifier.6.weight", "classifier.6.bias")  # torchvision's last layer


def read_cnn_config(path: Path) -> dict[str, Any]:
    """The CNN's configuration, with `channels`, `grid` and `hidden` also for torchvision's names.

    Raises:
        BadInput: unknown architecture, or a field that is missing or out of range.
    """
    config = read_json(path)
    name = config.get("architecture") if isinstance(config, dict) else None
    if name in TORCHVISION:
        config |= {"channels": channels_of(name), "grid": GRID, "hidden": HIDDEN}
    elif name != "vgg":
        raise BadInput("unknown CNN", file=path, field="architecture", got=name, choices=(*TORCHVISION, "vgg"))
    for field in ("size", "resize", "grid", "hidden"):
        if not isinstance(config.get(field), int) or config[field] < 1:
            raise BadInput("bad CNN", file=path, field=field, got=config.get(field), expected="a whole number above 0")
    channels = config.get("channels")
    if not isinstance(channels, list) or not any(isinstance(width, int) for width in channels):
        raise BadInput("bad CNN", file=path, field="channels", got=channels, expected="a list of widths and M")
    return config


def read_cnn(base: Path, dropout: float = 0.0) -> tuple[Vgg, dict[str, Any]]:
    """The trained CNN of a folder without its classifier, and its configuration; `dropout` is of its features.

    Raises:
        BadInput: see `read_cnn_config`; or weights that are missing, broken or do not fit.
    """
    config = read_cnn_config(base / CONFIG)
    cnn = _vgg(config, dropout)
    weights = read_weights(base / WEIGHTS)
    load_weights(cnn, {name: value for name, value in weights.items() if name not in _CLASSIFIER}, base / WEIGHTS)
    return cnn, config


def _vgg(config: dict[str, Any], dropout: float) -> Vgg:
    return Vgg(config["channels"], grid=config["grid"], hidden=config["hidden"], classes=None, dropout=dropout)


class Vse(RetrievalModel):
    """See `RetrievalModel`. A loaded one cannot train.

    `config` is the CNN's with `word_dimension` and `dimension`; that of a vsepp checkpoint has `bidirectional` and
    `reader` besides.
    """

    kind = "vse"

    def __init__(
        self, module: VseTowers, vocabulary: Vocabulary, config: dict[str, Any], settings: VseSettings | None
    ) -> None:
        self.module, self.dimension = module, int(config["dimension"])
        self._vocabulary, self._config, self._settings = vocabulary, config, settings
        self.prepare = scale_and_crop(
            config["size"],
            resize=config["resize"],
            standard=IMAGENET,
            interpolation=InterpolationMode.BILINEAR,
            smallest_crop=settings.smallest_crop if settings else 1.0,
        )

    @classmethod
    def start(cls, base: Path, settings: VseSettings, captions: Iterable[str]) -> Self:
        """A saved model with its own vocabulary; or a trained CNN below new layers, the vocabulary the captions'."""
        if (base / VOCABULARY).is_file():
            towers, vocabulary, config = _read_whole(base, settings.dropout)
        else:
            vocabulary = Vocabulary.of(captions, settings.minimum_count)
            cnn, config = read_cnn(base, settings.dropout)
            config |= {"word_dimension": settings.word_dimension, "dimension": settings.embedding_dimension}
            towers = _towers(cnn, config, vocabulary)
        towers.cnn.requires_grad_(settings.frozen < 1)
        towers.cnn.checkpointing = settings.gradient_checkpointing
        return cls(towers, vocabulary, config, settings)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """What `save` wrote."""
        towers, vocabulary, config = _read_whole(folder, dropout=0.0)
        return cls(towers.eval(), vocabulary, config, None)

    def begin_step(self, step: int, steps: int, epoch: int) -> None:
        """Freeze or train the CNN, and switch dropout, as the settings say for this step.

        The authors' code validates after every 500th step, counted over all epochs, and stays in evaluation mode until
        the epoch ends: dropout is on only until then.
        """
        assert self._settings is not None
        frozen, ends = self._settings.frozen, self._settings.dropout_ends
        self.module.cnn.requires_grad_(frozen < 1 and step >= frozen * steps)
        if ends is not None and step // ends * ends > step // epoch * epoch:
            for layer in self.module.cnn.classifier:
                layer.eval()

    def tokenize(self, texts: Sequence[str]) -> dict[str, Tensor]:
        """`ids` and `lengths`; unknown words have a number of their own."""
        return self._vocabulary.encode(texts)

    def contrast(self, images: Tensor, texts: Tensor, *, pictures: Tensor, progress: float) -> Tensor:
        """The hinge over the hardest negative, after the warm-up; before it over the mean.

        From random weights the hardest negative alone pulls all embeddings together (the loss stays at two margins).
        """
        assert self._settings is not None
        hardest = progress >= self._settings.warm_up
        return triplet_hinge(images @ texts.T, pictures, margin=self._settings.margin, hardest=hardest)

    def encode_images(self, pixels: Tensor) -> Tensor:
        """(n, 3, h, w) → (n, d)."""
        return self.module.images(pixels)

    def encode_texts(self, tokens: dict[str, Tensor]) -> Tensor:
        """`ids` (n, l) and `lengths` (n,) → (n, d)."""
        lengths = tokens["lengths"]
        return self.module.texts(tokens["ids"][:, : int(lengths.max())], lengths)

    def save(self, folder: Path) -> None:
        """`config.json`, `vocabulary.json` and `model.safetensors`."""
        folder.mkdir(parents=True, exist_ok=True)
        write_json(folder / CONFIG, self._config | {"kind": self.kind})
        write_json(folder / VOCABULARY, self._vocabulary.words)
        save_weights(self.module, folder / WEIGHTS)


def _read_whole(folder: Path, dropout: float) -> tuple[VseTowers, Vocabulary, dict[str, Any]]:
    """A saved model with its vocabulary and configuration; `BadInput` where it is none."""
    config = read_cnn_config(folder / CONFIG)
    for field in ("word_dimension", "dimension"):
        if not isinstance(config.get(field), int):
            raise BadInput("not a VSE++", file=folder / CONFIG, field=field, got=config.get(field),
                           expected="a whole number")  # fmt: skip
    vocabulary = Vocabulary.read(folder / VOCABULARY, config.get("reader", "words"))
    towers = _towers(_vgg(config, dropout), config, vocabulary)
    load_weights(towers, read_weights(folder / WEIGHTS), folder / WEIGHTS)
    return towers, vocabulary, config


def _towers(cnn: Vgg, config: dict[str, Any], vocabulary: Vocabulary) -> VseTowers:
    return VseTowers(
        cnn,
        words=len(vocabulary.words),
        word_dimension=config["word_dimension"],
        dimension=config["dimension"],
        bidirectional=config.get("bidirectional", True),
    )
