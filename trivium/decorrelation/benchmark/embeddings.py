"""The two methods that a model needs for the benchmark, and its vectors of a set.

    class Mine:
        def encode_images(self, images): ...   # n RGB pictures of Pillow → (n, d), array or tensor
        def encode_texts(self, texts): ...     # n strings → (n, d)

An object of any class that has these two methods will do; lengths of the vectors do not matter. Where a picture has
several vectors, `encode_images` gives (n, sides, d), and the best side counts (BLIP-2). With `match(images, texts)`
(n lists of texts → n arrays), the best candidates are scored again (BLIP).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch.nn.functional import normalize
from tqdm import tqdm

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.core.matrices import read_matrix, read_named_rows
from trivium.core.tables import in_groups, write_json_lines
from trivium.decorrelation.benchmark.benchmark_set import PICTURE_TYPES, BenchmarkSet
from trivium.decorrelation.retrieval.sharded_model import PictureSet, Vectors
from trivium.nets.device import halving_batches, length_sorted_batches, pick_device
from trivium.vision.decoding import read_rgb

TOWERS = {"encode_images": "a picture tower", "encode_texts": "a text tower"}
Precision = Literal["float32", "bfloat16", "float16"]


@dataclass(frozen=True)
class SetVectors:
    """A model's unit vectors of a set, in its order: (n, d), of pictures perhaps (n, sides, d); `without` are of y′."""

    pictures: Vectors
    painted: Vectors
    captions: Vectors
    without: Vectors


def set_vectors(name: str, benchmark: BenchmarkSet, pictures: Vectors, painted: Vectors, texts: Vectors) -> SetVectors:
    """The vectors of a set; `texts` are the captions and then y′. `BadInput`: pictures and texts differ in width."""
    if len({part.shape[-1] for part in (pictures, painted, texts)}) > 1:
        got = f"{pictures.shape[-1]} and {texts.shape[-1]}"
        raise BadInput("pictures and texts in different spaces", file=name, got=got, expected="one width")
    count = len(benchmark.captions.texts)
    return SetVectors(pictures, painted, texts[:count], texts[count:])


def embed(
    model: Any,
    benchmark: BenchmarkSet,
    name: str,
    batch_size: int = 64,
    precision: Precision = "float32",
    kept: Path | None = None,
) -> SetVectors:
    """Encode a set in `precision`, `batch_size` pictures and eight times as many texts at a time.

    A batch is halved when GPU memory runs out. A text that comes twice is encoded once, so that equal sentences
    tie; `name` is for messages. `kept` is a folder for the vectors of this set by this model in this precision: what
    lies there is not encoded again.

    Raises:
        BadInput: a model without a tower, a picture that cannot be decoded, or vectors that cannot be used.
    """
    for method, tower in TOWERS.items():
        if not callable(getattr(model, method, None)):
            raise BadInput(f"a model without {tower}", file=name, field=method, expected="both towers of one space")

    def encode_pictures(part: PictureSet, label: str) -> Vectors:
        groups = in_groups(stream_pictures(part, label), batch_size)
        return _encode(model.encode_images, groups, batch_size, label, sides=True)

    def encode_texts(label: str) -> Vectors:
        places = {text: place for place, text in enumerate(dict.fromkeys(sentences))}
        different, size = list(places), 8 * batch_size
        batches = tqdm(length_sorted_batches([len(text) for text in different], size), desc=label, mininterval=5)
        groups = ([(row, different[row]) for row in batch] for batch in batches)
        return _encode(model.encode_texts, groups, size, label)[[places[text] for text in sentences]]

    sentences = [*benchmark.captions.texts, *benchmark.pairs.texts]
    with torch.autocast(pick_device().type, getattr(torch, precision), enabled=precision != "float32"):
        texts = _keep(kept, "captions", partial(encode_texts, f"{name}, captions"))
        pictures, painted = (
            _keep(kept, part.name, partial(encode_pictures, part, f"{name}, {label}"))
            for part, label in ((benchmark.pictures, "pictures"), (benchmark.painted, "painted pictures"))
        )
    return set_vectors(name, benchmark, pictures, painted, texts)


def _keep(folder: Path | None, part: str, encode: Callable[[], Vectors]) -> Vectors:
    """The vectors of a part of the set that lie in the folder, or those that are encoded now, which are put there."""
    if folder is None:
        return encode()
    file = folder / f"{part}.npy"
    if not file.is_file():
        with write_atomically(file) as path:
            np.save(path, encode())
    return read_matrix(file)


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


def stream_pictures(pictures: PictureSet, description: str) -> Iterator[tuple[int, Image.Image]]:
    """Stream (row, picture) in the order of the shards, with a progress bar."""
    rows = {name: row for row, name in enumerate(pictures.names)}
    images = Images(pictures.folder)
    for name, data in tqdm(images.stream(), total=len(images.names), desc=description, unit="image", mininterval=5):
        yield rows[name], read_rgb(data, name, pictures.folder)


def _encode(
    encode: Callable[[Sequence[Any]], Any],
    groups: Iterable[Sequence[tuple[int, Any]]],
    batch_size: int,
    name: str,
    *,
    sides: bool = False,
) -> Vectors:
    """Unit vectors of all items, in the order of the rows that stand with them."""
    parts: list[NDArray[np.float32]] = []
    rows: list[int] = []

    def checked(items: Sequence[tuple[int, Any]]) -> NDArray[np.float32]:
        vectors = unit(encode([item for _, item in items]), len(items), name, len(rows), sides=sides)
        rows.extend(row for row, _ in items)
        return vectors

    with torch.inference_mode():
        for group in groups:
            parts.extend(halving_batches(group, batch_size, checked))
    if others := [part for part in parts if part.shape[1:] != parts[0].shape[1:]]:
        expected = str(parts[0].shape[1:])
        raise BadInput("vectors of different widths", file=name, got=others[0].shape[1:], expected=expected)
    encoded = np.concatenate(parts)
    vectors = np.empty_like(encoded)
    vectors[rows] = encoded
    return vectors


class KeptEmbeddings:
    """The vectors of a folder, by their ids.

    Raises:
        BadInput: a file is missing, is no matrix of numbers, holds NaN, or has another count than the ids.
    """

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)
        self._parts = {part: read_named_rows(self._folder, part) for part in ("pictures", "captions")}

    def vectors(self, benchmark: BenchmarkSet) -> SetVectors:
        """The vectors of a set's pictures and captions; `BadInput` where their ids are not the set's, each once."""
        pictures = self._rows("pictures", [*benchmark.pictures.queries, *benchmark.painted.queries])
        whole, painted = np.split(pictures, [len(benchmark.pictures.queries)])
        return set_vectors(str(self._folder), benchmark, whole, painted, self._rows("captions", [*_texts(benchmark)]))

    def _rows(self, part: str, ids: Sequence[str]) -> Vectors:
        names, matrix = self._parts[part]
        file = self._folder / f"{part}.jsonl"
        places = {name: place for place, name in enumerate(names)}
        if missing := [name for name in ids if name not in places]:
            raise BadInput(f"{len(missing)} of {len(ids)} embeddings are missing", file=file, field="id",
                           got=f"no {missing[0]}", expected="those of --inputs")  # fmt: skip
        if len(names) > len(ids):
            raise BadInput("ids twice, or of another set", file=file, field="id", got=len(names),
                           expected=f"the {len(ids)} of --inputs")  # fmt: skip
        return unit(matrix[[places[name] for name in ids]], len(ids), str(file.with_suffix(".npy")))


def _texts(benchmark: BenchmarkSet) -> dict[str, str]:
    """{id: text} of all captions, and of those without what is gone, by the query's id."""
    without = (f"without_{benchmark.queries.ids[row]}" for row in benchmark.pairs.queries)
    captions = dict(zip(map(str, benchmark.captions.ids.tolist()), benchmark.captions.texts, strict=True))
    return captions | dict(zip(without, benchmark.pairs.texts, strict=True))


def write_inputs(benchmark: BenchmarkSet, folder: Path) -> None:
    """Write what another tool is to embed: `pictures.jsonl` (id, file), the files, and `captions.jsonl` (id, text).

    Raises:
        BadInput: the folder exists.
    """
    if folder.exists():
        raise BadInput("there is something already", file=folder, expected="a new folder")
    with write_atomically(folder) as path:
        (path / "pictures").mkdir(parents=True)
        lines: list[dict[str, str]] = []
        for pictures in (benchmark.pictures, benchmark.painted):
            ids = dict(zip(pictures.names, pictures.queries, strict=True))
            for name, data in Images(pictures.folder).stream():
                if name in ids:
                    file = f"pictures/{len(lines):06d}.{PICTURE_TYPES.get(data[:2], 'image')}"
                    (path / file).write_bytes(data)
                    lines.append({"id": ids[name], "file": file})
        write_json_lines(path / "pictures.jsonl", lines)
        texts = _texts(benchmark).items()
        write_json_lines(path / "captions.jsonl", ({"id": name, "text": text} for name, text in texts))
