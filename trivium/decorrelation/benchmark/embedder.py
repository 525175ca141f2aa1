"""What a model must have to be asked, and the vectors that it gives to a set.

    class Mine:
        def encode_images(self, images): ...   # n RGB pictures of Pillow → (n, d), array or tensor
        def encode_texts(self, texts): ...     # n strings → (n, d)

An object of any class that has these two methods will do. Where a picture has several vectors, `encode_images` gives
(n, sides, d), and the best side counts (BLIP-2). With `match(images, texts)` (n lists of texts → n arrays), the best
candidates are scored again (BLIP).
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch.nn.functional import normalize
from tqdm import tqdm

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.core.matrices import read_matrix
from trivium.decorrelation.benchmark.benchmark_set import BenchmarkSet
from trivium.decorrelation.retrieval.encoding import Vectors, in_groups
from trivium.decorrelation.retrieval.ranking import PictureSet
from trivium.nets.device import halving_batches, length_sorted_batches, pick_device
from trivium.vision.decoding import read_rgb

T = TypeVar("T")
TOWERS = {"encode_images": "a picture tower", "encode_texts": "a text tower"}
Precision = Literal["float32", "bfloat16", "float16"]


class Embedder(Protocol):
    """Pictures and texts in one space; lengths of the vectors do not matter."""

    def encode_images(self, images: Sequence[Image.Image]) -> Any:
        """N RGB pictures → (n, d), or (n, sides, d)."""
        ...

    def encode_texts(self, texts: Sequence[str]) -> Any:
        """N texts → (n, d)."""
        ...


@dataclass(frozen=True)
class SetVectors:
    """A model's unit vectors of a set.

    Attributes:
        pictures: (test pictures, d), in the order of the set, or (test pictures, sides, d).
        painted: (queries, d), or with sides.
        captions: (captions, d).
        without: (pairs, d) of y′.
    """

    pictures: Vectors
    painted: Vectors
    captions: Vectors
    without: Vectors


def embed(
    model: Embedder,
    benchmark: BenchmarkSet,
    name: str,
    batch_size: int = 64,
    precision: Precision = "float32",
    kept: Path | None = None,
) -> SetVectors:
    """Encode a set in `precision`, `batch_size` pictures and eight times as many texts at a time.

    A batch is halved when GPU memory runs out. A text that comes twice is encoded once, so that equal sentences
    tie; `name` is for messages. `kept` is a folder for the vectors of this model in this precision: what lies there,
    of this set or of another one with the same texts or pictures, is not encoded again.

    Raises:
        BadInput: a model without a tower, a picture that cannot be decoded, or vectors that cannot be used.
    """
    for method, tower in TOWERS.items():
        if not callable(getattr(model, method, None)):
            raise BadInput(f"a model without {tower}", file=name, field=method, expected="both towers of one space")
    with torch.autocast(pick_device().type, getattr(torch, precision), enabled=precision != "float32"):
        sentences = [*benchmark.captions.texts, *benchmark.pairs.texts]
        encode_texts = partial(_of_texts, model, sentences, name, 8 * batch_size)
        texts = _keep(kept, (text.encode() for text in sentences), encode_texts)
        pictures, painted = (
            _keep(kept, _contents(part), partial(_of_pictures, model, part, f"{name}, {label}", batch_size))
            for part, label in ((benchmark.pictures, "pictures"), (benchmark.painted, "painted pictures"))
        )
    count = len(benchmark.captions.texts)
    return in_one_space(name, SetVectors(pictures, painted, texts[:count], texts[count:]))


def _keep(folder: Path | None, inputs: Iterable[bytes], encode: Callable[[], Vectors]) -> Vectors:
    """The vectors of these inputs that lie in the folder, or those that are encoded now, which are put there."""
    if folder is None:
        return encode()
    digest = hashlib.sha256()
    for data in inputs:
        digest.update(hashlib.sha256(data).digest())
    file = folder / f"{digest.hexdigest()[:16]}.npy"
    if not file.is_file():
        vectors = encode()
        with write_atomically(file) as path:
            np.save(path, vectors)
    return read_matrix(file)


def _contents(pictures: PictureSet) -> Iterator[bytes]:
    """All that the vectors of pictures are made of: the order of the names, and each picture by its name."""
    yield from map(str.encode, pictures.names)
    for name, data in Images(pictures.folder).stream():
        yield name.encode()
        yield data


def in_one_space(name: str, vectors: SetVectors) -> SetVectors:
    """Return the vectors; `BadInput` where pictures and captions have different widths."""
    widths = {part.shape[-1] for part in (vectors.pictures, vectors.painted, vectors.captions)}
    if len(widths) > 1:
        got = f"{vectors.pictures.shape[-1]} and {vectors.captions.shape[-1]}"
        raise BadInput("pictures and texts in different spaces", file=name, got=got, expected="one width")
    return vectors


def unit(vectors: Any, count: int, name: str, first: int = 0, *, sides: bool = False) -> NDArray[np.float32]:
    """Scale a model's vectors (count, d), an array or a tensor, to length 1; (count, sides, d) where `sides` allows it.

    `name` and `first`, the row of the first vector, are for messages. `BadInput`: another shape or count, NaN or
    infinity, or a vector of length 0.
    """
    values = vectors if isinstance(vectors, torch.Tensor) else torch.from_numpy(np.array(vectors, dtype=np.float32))
    values = values.detach().float()
    if values.ndim not in (2, 2 + sides) or len(values) != count or not values.numel():
        raise BadInput("embeddings of another shape", file=name, got=tuple(values.shape),
                       expected=f"({count}, d), a row an input")  # fmt: skip
    for wrong, problem in (
        (~torch.isfinite(values).flatten(1).all(dim=1), "NaN or infinite value in an embedding"),
        ((values == 0).all(dim=-1).reshape(count, -1).any(dim=1), "an embedding of length 0 has no direction"),
    ):
        if wrong.any():
            raise BadInput(problem, file=name, row=first + 1 + int(wrong.int().argmax()))
    return normalize(values, dim=-1).cpu().numpy()


def _of_texts(model: Embedder, texts: Sequence[str], name: str, batch_size: int) -> Vectors:
    places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    different = list(places)
    batches = length_sorted_batches([len(text) for text in different], batch_size)
    groups = ([different[row] for row in batch] for batch in tqdm(batches, desc=f"{name}, captions", mininterval=5))
    encoded = _encoded(model.encode_texts, groups, batch_size, f"{name}, captions")
    vectors = np.empty_like(encoded)
    vectors[np.concatenate(batches)] = encoded
    return vectors[[places[text] for text in texts]]


def stream_pictures(pictures: PictureSet, description: str) -> Iterator[tuple[int, Image.Image]]:
    """Stream (row, picture) in the order of the shards, with a progress bar."""
    rows = {name: row for row, name in enumerate(pictures.names)}
    images = Images(pictures.folder)
    for name, data in tqdm(images.stream(), total=len(images.names), desc=description, unit="image", mininterval=5):
        yield rows[name], read_rgb(data, name, pictures.folder)


def _of_pictures(model: Embedder, pictures: PictureSet, name: str, batch_size: int) -> Vectors:
    order: list[int] = []

    def images() -> Iterator[Image.Image]:
        for row, image in stream_pictures(pictures, name):
            order.append(row)
            yield image

    encoded = _encoded(model.encode_images, in_groups(images(), batch_size), batch_size, name, sides=True)
    vectors = np.empty_like(encoded)
    vectors[order] = encoded
    return vectors


def _encoded(
    encode: Callable[[Sequence[T]], Any], groups: Iterator[list[T]], batch_size: int, name: str, *, sides: bool = False
) -> Vectors:
    """Unit vectors of all groups, in their order."""
    parts: list[NDArray[np.float32]] = []

    def checked(items: Sequence[T]) -> NDArray[np.float32]:
        return unit(encode(items), len(items), name, sum(map(len, parts)), sides=sides)

    with torch.inference_mode():
        for group in groups:
            for vectors in halving_batches(group, batch_size, checked):
                parts.append(vectors)
                if vectors.shape[1:] != parts[0].shape[1:]:
                    got, expected = vectors.shape[1:], str(parts[0].shape[1:])
                    raise BadInput("embeddings of different widths", file=name, got=got, expected=expected)
    return np.concatenate(parts)
