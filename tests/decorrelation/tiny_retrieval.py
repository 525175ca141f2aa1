"""A retrieval model that fits on a page, pairs for it, and a raw data set with D' and queries."""

import io
from pathlib import Path

import pyarrow as pa
import torch
from PIL import Image
from torch.nn.functional import normalize
from torchvision import transforms

from tests.decorrelation.tiny_corpus import write_coco
from trivium.core.image_shards import write_images
from trivium.core.tables import write_json, write_table
from trivium.decorrelation.models.interface import Preparation
from trivium.decorrelation.models.kind import ModelSettings
from trivium.decorrelation.removals import write_removals
from trivium.formats.picture_corpora import read_corpus
from trivium.formats.pictures import Removal, removal_id

SIDE, DIMENSION, BUCKETS = 4, 6, 32


class TinyModel:
    """Linear towers over 4 x 4 pixels and over counts of letters; dropout in the text tower."""

    kind = "clip"
    match = None
    dimension = DIMENSION

    def __init__(self, dropout=0.2):
        steps = [transforms.Resize((SIDE, SIDE)), transforms.ToTensor(), transforms.Normalize(0, 1)]
        drawn = transforms.Lambda(lambda pixels: pixels + 0.1 * torch.rand(1))
        self.prepare = Preparation(transforms.Compose(steps), transforms.Compose([*steps, drawn]), augments=False)
        self.module = torch.nn.ModuleDict(
            {
                "images": torch.nn.Linear(3 * SIDE * SIDE, DIMENSION),
                "texts": torch.nn.Sequential(torch.nn.Linear(BUCKETS, DIMENSION), torch.nn.Dropout(dropout)),
                "scale": torch.nn.Linear(1, 1, bias=False),
            }
        )

    @classmethod
    def start(cls, base, settings, captions):
        model = cls()
        model.module.load_state_dict(torch.load(base / "weights.pt", weights_only=True))
        return model

    @classmethod
    def load(cls, folder):
        return cls.start(folder, None, [])

    def save(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        torch.save(self.module.state_dict(), folder / "weights.pt")
        write_json(folder / "config.json", {"kind": self.kind})

    def tokenize(self, texts):
        counts = torch.zeros(len(texts), BUCKETS)
        for row, text in enumerate(texts):
            for letter in text.lower():
                counts[row, ord(letter) % BUCKETS] += 1
        return {"counts": counts}

    def encode_images(self, pixels):
        return normalize(self.module["images"](pixels.flatten(1)), dim=1)

    def encode_texts(self, tokens):
        return normalize(self.module["texts"](tokens["counts"]), dim=1)

    def contrast(self, images, texts, *, pictures, progress):
        scores = images @ texts.T * self.module["scale"].weight.exp()
        right = torch.arange(len(scores))
        return (
            torch.nn.functional.cross_entropy(scores, right) + torch.nn.functional.cross_entropy(scores.T, right)
        ) / 2

    def begin_step(self, step, steps, epoch):
        pass

    def loss(self, pixels, tokens, *, pictures, progress):
        return self.contrast(
            self.encode_images(pixels), self.encode_texts(tokens), pictures=pictures, progress=progress
        )


def settings(**changes):
    values = {
        "base": "tiny", "batch_size": 4, "mini_batch_size": 4, "steps": 8, "optimiser": "adam",
        "learning_rate": 0.01, "weight_decay": 0, "halve_every": 0.25, "max_gradient_norm": 1.0, "gradient_checkpointing": False,
        "synthetic_share": None, "smallest_crop": 1.0,
    }  # fmt: skip
    return ModelSettings.model_validate(values | changes)


def png(image):
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def painted(number):
    return png(Image.new("RGB", (64, 48), (10 * number % 256, 200 - 9 * number % 200, 7 * number % 256)))


def removals_of(corpus, split):
    """One removal an image and class, in the order of the pictures."""
    return [
        Removal(removal_id(picture.id, name), picture.id, picture.name, picture.split, name, (name,),
                tuple(sorted(set(picture.classes) - {name})), "0", picture.height, picture.width, 0.1, True)
        for picture in corpus.pictures if picture.split == split for name in picture.classes
    ]  # fmt: skip


def write_world(folder: Path) -> Path:
    """`raw`, `pairs.parquet` (a pair a training picture), `painted`, `removals` and `base/tiny`."""
    write_coco(folder / "raw")
    corpus = read_corpus(folder / "raw")
    first = {removal.picture: removal for removal in reversed(removals_of(corpus, "train"))}
    rows = [
        {"removal": removal.id, "picture": picture, "caption": 5 * picture, "text": f"only {removal.remaining[0]}"}
        for picture, removal in sorted(first.items())
    ]
    write_table(folder / "pairs.parquet", pa.Table.from_pylist(rows))
    write_images(folder / "painted" / "train", [(row["removal"], painted(k)) for k, row in enumerate(rows)])
    tested = removals_of(corpus, "test")
    write_images(folder / "painted" / "test", [(each.id, painted(k + 9)) for k, each in enumerate(tested)])
    write_images(folder / "raw" / "rendered", [(each.id, painted(k + 30)) for k, each in enumerate(tested[:4])])
    write_removals(folder / "removals" / "removals.parquet", tested)
    empty = [
        Removal(f"{picture.id}_empty", picture.id, picture.name, "test", "", (), picture.classes, "0", 48, 64, 0.1, True)
        for picture in corpus.pictures if picture.split == "test"
    ]  # fmt: skip
    write_removals(folder / "removals" / "empty.parquet", empty)
    write_images(folder / "painted" / "empty", [(each.id, painted(k + 50)) for k, each in enumerate(empty)])
    torch.manual_seed(1)
    TinyModel().save(folder / "base" / "tiny")
    write_json(folder / "base" / "tiny" / "provenance.json", {"from": "a tiny one", "licence": "mit"})
    return folder
