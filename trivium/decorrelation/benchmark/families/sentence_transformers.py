"""CLIPs of sentence-transformers, from a folder or the hub."""

from collections.abc import Sequence
from pathlib import Path

import torch
from PIL import Image
from safetensors import SafetensorError
from sentence_transformers import SentenceTransformer

from trivium.core.errors import BadInput
from trivium.decorrelation.benchmark.family import Family, check_name, model_folder
from trivium.nets.device import pick_device

_MODULES = "modules.json"
_OWNER = "sentence-transformers"  # of names without one, as the library has it


class SentenceTransformers(Family):
    """Whatever its modules are, if they take pictures and texts."""

    name = "sentence_transformers"
    file = _MODULES

    @staticmethod
    def check(where: str) -> None:
        """A folder has its list of modules."""
        check_name(where, _MODULES)

    @staticmethod
    def load(where: str) -> "SentenceTransformersModel":
        """Downloaded where it is no folder."""
        return SentenceTransformersModel(model_folder(where, _OWNER))


class SentenceTransformersModel:
    """See `Embedder`.

    Args:
        folder: of sentence-transformers.

    Raises:
        BadInput: not such a folder, or a model of texts alone.
    """

    def __init__(self, folder: Path) -> None:
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
        for modality, tower in (("image", "a picture tower"), ("text", "a text tower")):
            if not self._model.supports(modality):  # type: ignore[arg-type]
                raise BadInput(f"a model without {tower}", file=folder, got=self._model.modalities)

    def encode_images(self, images: Sequence[Image.Image]) -> torch.Tensor:
        """(n, d)."""
        return self._encode(list(images))

    def encode_texts(self, texts: Sequence[str]) -> torch.Tensor:
        """(n, d)."""
        return self._encode(list(texts))

    def _encode(self, things: list) -> torch.Tensor:
        found: torch.Tensor = self._model.encode(
            things, batch_size=len(things), convert_to_tensor=True, show_progress_bar=False
        )
        return found
