"""What a model must have to be asked, the vectors that it gives to a set, and models of three libraries.

    class Mine:
        def encode_images(self, images): ...   # n RGB pictures of Pillow → (n, d), array or tensor
        def encode_texts(self, texts): ...     # n strings → (n, d)

An object of any class that has these two methods will do.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch.nn.functional import normalize
from tqdm import tqdm

from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.decorrelation.benchmark.benchmark_set import BenchmarkSet
from trivium.decorrelation.retrieval.encoding import Vectors, in_groups
from trivium.decorrelation.retrieval.ranking import PictureSet
from trivium.nets.device import halving_batches, length_sorted_batches, pick_device
from trivium.vision.decoding import read_rgb

T = TypeVar("T")
_LOWER_CASE = 256_000  # words of Gemma's vocabulary: SigLIP 2 with it was trained on lower-case texts
_UNMATCHED = "By its embeddings (ITC) alone: its matching head, the second stage of BLIP's own figures, is not asked."
TOWERS = {"encode_images": "a picture tower", "encode_texts": "a text tower"}


class Embedder(Protocol):
    """Pictures and texts in one space; lengths of the vectors do not matter."""

    def encode_images(self, images: Sequence[Image.Image]) -> Any:
        """N RGB pictures → (n, d)."""
        ...

    def encode_texts(self, texts: Sequence[str]) -> Any:
        """N texts → (n, d)."""
        ...


@dataclass(frozen=True)
class SetVectors:
    """A model's unit vectors of a set.

    Attributes:
        pictures: (test pictures, d), in the order of the set.
        painted: (queries, d).
        captions: (captions, d).
    """

    pictures: Vectors
    painted: Vectors
    captions: Vectors


def embed(model: Embedder, asked: BenchmarkSet, name: str, batch_size: int = 64) -> SetVectors:
    """Encode a set; a caption that comes twice is encoded once, so that equal sentences tie.

    Args:
        model: on its device.
        asked: the set.
        name: of the model, for messages.
        batch_size: pictures at a time, and eight times as many texts; halves itself when GPU memory runs out.

    Raises:
        BadInput: a model without a tower, a picture that cannot be decoded, or vectors that cannot be used.
    """
    for method, tower in TOWERS.items():
        if not callable(getattr(model, method, None)):
            raise BadInput(f"a model without {tower}", file=name, field=method, expected="both towers of one space")
    captions = _of_texts(model, asked.captions.texts, name, 8 * batch_size)
    pictures = _of_pictures(model, asked.pictures, f"{name}, pictures", batch_size)
    painted = _of_pictures(model, asked.painted, f"{name}, painted pictures", batch_size)
    return in_one_space(name, SetVectors(pictures, painted, captions))


def in_one_space(name: str, vectors: SetVectors) -> SetVectors:
    """The vectors themselves; `BadInput` where pictures and captions have different widths."""
    widths = {part.shape[1] for part in (vectors.pictures, vectors.painted, vectors.captions)}
    if len(widths) > 1:
        got = f"{vectors.pictures.shape[1]} and {vectors.captions.shape[1]}"
        raise BadInput("pictures and texts in different spaces", file=name, got=got, expected="one width")
    return vectors


def unit(made: Any, count: int, name: str, first: int = 0) -> NDArray[np.float32]:
    """Vectors (count, d), an array or a tensor, scaled to length 1; `name` and the row of the first are for messages.

    Raises:
        BadInput: another shape or count, NaN or infinity, or a vector of length 0.
    """
    values = made if isinstance(made, torch.Tensor) else torch.from_numpy(np.array(made, dtype=np.float32))
    values = values.detach().float()
    if values.ndim != 2 or len(values) != count or not values.shape[1]:
        raise BadInput("embeddings of another shape", file=name, got=tuple(values.shape),
                       expected=f"({count}, d), a row a thing")  # fmt: skip
    for wrong, problem in (
        (~torch.isfinite(values).all(dim=1), "NaN or infinite value in an embedding"),
        ((values == 0).all(dim=1), "an embedding of length 0 has no direction"),
    ):
        if wrong.any():
            raise BadInput(problem, file=name, row=first + 1 + int(wrong.int().argmax()))
    return normalize(values, dim=1).cpu().numpy()


def _of_texts(model: Embedder, texts: Sequence[str], name: str, batch_size: int) -> Vectors:
    places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    different = list(places)
    batches = length_sorted_batches([len(text) for text in different], batch_size)
    groups = ([different[row] for row in batch] for batch in tqdm(batches, desc=f"{name}, captions", mininterval=5))
    encoded = _encoded(model.encode_texts, groups, batch_size, f"{name}, captions")
    vectors = np.empty_like(encoded)
    vectors[np.concatenate(batches)] = encoded
    return vectors if len(different) == len(texts) else vectors[[places[text] for text in texts]]


def _of_pictures(model: Embedder, asked: PictureSet, name: str, batch_size: int) -> Vectors:
    rows = {picture: row for row, picture in enumerate(asked.names)}
    images = Images(asked.folder)
    order: list[int] = []

    def pictures() -> Iterator[Image.Image]:
        for picture, data in tqdm(images.stream(), total=len(images.names), desc=name, unit="image", mininterval=5):
            if picture in rows:
                order.append(rows[picture])
                yield read_rgb(data, picture, asked.folder)

    encoded = _encoded(model.encode_images, in_groups(pictures(), batch_size), batch_size, name)
    vectors = np.empty_like(encoded)
    vectors[order] = encoded
    return vectors


def _encoded(encode: Callable[[Sequence[T]], Any], groups: Iterator[list[T]], batch_size: int, name: str) -> Vectors:
    """Unit vectors of all groups, in their order."""
    parts: list[NDArray[np.float32]] = []

    def checked(items: Sequence[T]) -> NDArray[np.float32]:
        return unit(encode(items), len(items), name, sum(map(len, parts)))

    with torch.inference_mode():
        for group in groups:
            for vectors in halving_batches(group, batch_size, checked):
                parts.append(vectors)
                if vectors.shape[1] != parts[0].shape[1]:
                    got, expected = vectors.shape[1], str(parts[0].shape[1])
                    raise BadInput("embeddings of different widths", file=name, got=got, expected=expected)
    return np.concatenate(parts)


@dataclass(frozen=True)
class Kind:
    """A kind of network of transformers.

    Attributes:
        network: its class.
        full: whether texts are padded to the full length, as in its training; SigLIP masks nothing of it.
        longest: tokens of a text; None: as many as there are positions.
    """

    network: str
    full: bool
    longest: int | None = None


KINDS = {
    "clip": Kind("CLIPModel", full=False),
    "siglip": Kind("SiglipModel", full=True),
    "siglip2": Kind("Siglip2Model", full=True),
    "align": Kind("AlignModel", full=True, longest=64),
    "blip": Kind("BlipForImageTextRetrieval", full=False, longest=35),
}


class HuggingFaceModel:
    """A network of transformers with two towers, as an `Embedder`: safetensors only, and no code beside them is run.

    Raises:
        BadInput: configuration, safetensors, tokenizer or preparation is missing in the folder, or does not fit.
    """

    def __init__(self, folder: Path, kind: Kind) -> None:
        import transformers

        from trivium.nets.pretrained import load_pretrained

        network, self._tokenizer = load_pretrained(getattr(transformers, kind.network), folder, f"a {kind.network}")
        self._type = network.config.model_type
        self.note = _UNMATCHED if self._type == "blip" else ""
        try:
            self._prepare = transformers.AutoImageProcessor.from_pretrained(
                folder, local_files_only=True, trust_remote_code=False
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise BadInput(f"no usable preparation of pictures: {error}", file=folder) from None
        self._device = pick_device()
        self._network: Any = network.to(self._device)
        text = network.config.text_config
        self._lower = text.vocab_size == _LOWER_CASE
        longest = min(kind.longest or text.max_position_embeddings, text.max_position_embeddings)
        self._padding = {"padding": "max_length" if kind.full else True, "truncation": True, "max_length": longest}

    def encode_images(self, images: Sequence[Image.Image]) -> torch.Tensor:
        """(n, d)."""
        inputs = self._prepare(images=list(images), return_tensors="pt").to(self._device)
        if self._type == "blip":
            return self._network.vision_proj(self._network.vision_model(**inputs).last_hidden_state[:, 0])
        return self._network.get_image_features(**inputs).pooler_output

    def encode_texts(self, texts: Sequence[str]) -> torch.Tensor:
        """(n, d)."""
        given = [text.lower() for text in texts] if self._lower else list(texts)
        inputs = self._tokenizer(given, return_tensors="pt", **self._padding).to(self._device)
        if self._type != "align":
            inputs.pop("token_type_ids", None)
        if self._type == "blip":
            return self._network.text_proj(self._network.text_encoder(**inputs).last_hidden_state[:, 0])
        return self._network.get_text_features(**inputs).pooler_output


class OpenClipModel:
    """A network of open_clip with both towers, its preparation and its tokenizer, as an `Embedder`."""

    def __init__(
        self, network: Any, prepare: Callable[..., torch.Tensor], tokenize: Callable[..., torch.Tensor]
    ) -> None:
        self._device = pick_device()
        self._network, self._prepare, self._tokenize = network.to(self._device), prepare, tokenize

    def encode_images(self, images: Sequence[Image.Image]) -> torch.Tensor:
        """(n, d)."""
        return self._network.encode_image(torch.stack([self._prepare(image) for image in images]).to(self._device))

    def encode_texts(self, texts: Sequence[str]) -> torch.Tensor:
        """(n, d)."""
        return self._network.encode_text(self._tokenize(list(texts)).to(self._device))


class SentenceTransformersModel:
    """A model of sentence-transformers, whatever its modules are, as an `Embedder`.

    Raises:
        BadInput: not such a folder, or a model of texts alone.
    """

    def __init__(self, folder: Path) -> None:
        from safetensors import SafetensorError
        from sentence_transformers import SentenceTransformer

        try:
            self._model = SentenceTransformer(
                str(folder.resolve()),
                device=str(pick_device()),
                trust_remote_code=False,
                local_files_only=True,
                model_kwargs={"use_safetensors": True, "dtype": torch.float32},
            )
        except (OSError, ValueError, KeyError, TypeError, ImportError, RuntimeError, SafetensorError) as error:
            raise BadInput(f"not a usable model of sentence-transformers: {error}", file=folder) from None
        for modality, tower in zip(("image", "text"), TOWERS.values(), strict=True):
            if not self._model.supports(modality):  # type: ignore[arg-type]
                raise BadInput(f"a model without {tower}", file=folder, got=self._model.modalities)

    def encode_images(self, images: Sequence[Any]) -> torch.Tensor:
        """(n, d)."""
        return self._model.encode(list(images), batch_size=len(images), convert_to_tensor=True, show_progress_bar=False)

    encode_texts = encode_images
