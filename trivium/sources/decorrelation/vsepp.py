"""VSE++ as its authors released it (github.com/fartashf/vsepp), made a saved model of `models/vse.py`.

A checkpoint, `model_best.pth.tar`, is no archive but a file of torch: {"model": [image tower, text tower], "opt": the
training's options, an `argparse.Namespace`, ...}. The image tower is torchvision's VGG19, whose features ran on several
GPUs (`cnn.features.module.0.weight` ...), and `fc`; the text tower `embed` and a GRU in one direction, `rnn`. The
vocabulary is a pickle of an object with the dictionary `word2idx`, made by NLTK's `word_tokenize`.
"""

import argparse
import pickle
import tarfile
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from trivium.core.errors import BadInput
from trivium.core.tables import write_json
from trivium.decorrelation.models.vse import SPECIAL
from trivium.nets.weights import WEIGHTS, read_plain_tensors
from trivium.sources.plain_weights import rename

CHECKPOINT = "model_best.pth.tar"
RELEASED = {  # model: its members of runs.tar and vocab.tar, VGG19 fine-tuned on the data set
    "vsepp_coco": ("runs/coco_vse++_vggfull_restval_finetune/model_best.pth.tar", "vocab/coco_vocab.pkl"),
    "vsepp_flickr30k": ("runs/f30k_vse++_vggfull_finetune/model_best.pth.tar", "vocab/f30k_vocab.pkl"),
}
_IMAGE = (
    (r"^cnn\.features\.(?:module\.)?(\d+)\.", r"cnn.features.\1."),
    (r"^cnn\.classifier\.[01]\.", "cnn.classifier.0."),  # 1 and 4 before torchvision put dropout behind
    (r"^cnn\.classifier\.[34]\.", "cnn.classifier.3."),
    (r"^fc\.", "image."),
)
_TEXT = ((r"^embed\.", "words."), (r"^rnn\.", "gru."))


class _Words:
    """Stands for the class `vocab.Vocabulary` of the pickle; it holds values and does nothing."""

    word2idx: dict[str, int]


class _Reader(pickle.Unpickler):
    """Reads one class, which does nothing, and plain values; whatever else a file asks for is refused."""

    def find_class(self, module: str, name: str) -> type:
        if (module.split(".")[-1], name) != ("vocab", "Vocabulary"):
            raise pickle.UnpicklingError(f"{module}.{name}")
        return _Words


def read_words(path: Path) -> list[str]:
    """The words of a vocabulary of vsepp, by their numbers.

    Raises:
        BadInput: broken, another object, or numbers that are not 0, 1, ...
    """
    try:
        with path.open("rb") as file:
            numbers = _Reader(file, encoding="utf-8").load().word2idx
        words = sorted(numbers, key=numbers.__getitem__)
        if [numbers[word] for word in words] != list(range(len(words))) or not {*SPECIAL} <= {*words}:
            raise ValueError("numbers with gaps, or no special words")
    except (pickle.UnpicklingError, EOFError, AttributeError, TypeError, ValueError, IndexError, KeyError) as error:
        raise BadInput("not a vocabulary of vsepp", file=path, got=str(error), expected="vocab.Vocabulary") from None
    return words


def convert_vsepp(checkpoint: Path, vocabulary: Path, folder: Path) -> None:
    """Write `config.json`, `vocabulary.json` and `model.safetensors` of a released VSE++ on VGG19.

    Raises:
        BadInput: see `read_plain_tensors` and `read_words`; or another network than VGG19 under cosines.
    """
    with torch.serialization.safe_globals([argparse.Namespace]):
        tree = read_plain_tensors(checkpoint)
    towers, options = (tree.get(name) if isinstance(tree, dict) else None for name in ("model", "opt"))
    if not isinstance(towers, list | tuple) or len(towers) != 2 or not isinstance(options, argparse.Namespace):
        raise BadInput("not a checkpoint of vsepp", file=checkpoint, expected="`model`, two towers, and `opt`")
    expected = {"cnn_type": "vgg19", "measure": "cosine", "num_layers": 1, "use_abs": False, "no_imgnorm": False}
    for name, value in expected.items():
        if (got := getattr(options, name, None)) != value:
            raise BadInput("another network", file=checkpoint, field=f"opt.{name}", got=got, expected=str(value))
    weights = {
        rename(name, patterns, checkpoint): value
        for tower, patterns in zip(towers, (_IMAGE, _TEXT), strict=True)
        for name, value in tower.items()
    }
    words = read_words(vocabulary)
    vectors = weights.get("words.weight")
    if vectors is None or len(vectors) != len(words):
        raise BadInput("a vocabulary of another checkpoint", file=vocabulary, got=f"{len(words)} words",
                       expected=f"{0 if vectors is None else len(vectors)}, as the checkpoint has vectors")  # fmt: skip
    order = [*map(words.index, SPECIAL), *(row for row, word in enumerate(words) if word not in SPECIAL)]
    weights["words.weight"] = vectors[order]
    save_file({name: value.float().contiguous() for name, value in weights.items()}, folder / WEIGHTS)
    write_json(folder / "vocabulary.json", [words[row] for row in order])
    sizes: dict[str, Any] = {"word_dimension": vectors.shape[1], "dimension": len(weights["image.weight"])}
    cnn = {"architecture": "vgg19", "size": 224, "resize": 256}
    write_json(folder / "config.json", {"kind": "vse", **cnn, **sizes, "bidirectional": False, "reader": "treebank"})


def extract(archive: Path, member: str, out: Path) -> None:
    """Write one file of a tar archive; `BadInput` lists what the archive has in its place."""
    try:
        with tarfile.open(archive) as files:
            names = {name.removeprefix("./"): name for name in files.getnames()}
            stream = files.extractfile(names[member]) if member in names else None
            if stream is None:
                raise BadInput("no such file in the archive", file=archive, got=member, choices=sorted(names))
            with stream, out.open("wb") as file:
                while part := stream.read(1 << 20):
                    file.write(part)
    except tarfile.TarError as error:
        raise BadInput(f"not a tar archive: {error}", file=archive) from None
