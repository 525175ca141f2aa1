"""Models of open_clip: a configuration with pretrained weights, `ViT-B-32/openai`, or a folder in its format."""

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import open_clip
import torch
from PIL import Image
from torch import Tensor

from trivium.core.errors import BadInput
from trivium.decorrelation.benchmark.family import Family
from trivium.nets.device import pick_device
from trivium.nets.open_clip_folder import CONFIG, load_open_clip, require_offline

_WEIGHTS = ("*.safetensors", "*.bin", "*.pth")


class OpenClip(Family):
    """open_clip's own preparation and tokenizer, whatever the architecture."""

    name = "open_clip"
    file = CONFIG

    @staticmethod
    def check(where: str) -> None:
        """Names are looked up in open_clip's lists; close ones are told."""
        folder = Path(where)
        if folder.is_dir():
            require_offline(folder)
            if not any(path for pattern in _WEIGHTS for path in folder.glob(pattern)):
                raise BadInput("no weights", file=folder, expected="open_clip_model.safetensors")
            return
        configuration, _, tag = where.partition("/")
        names = open_clip.list_models()
        if configuration not in names:
            raise BadInput("no such configuration of open_clip", field="--model", got=configuration,
                           choices=_close(configuration, names))  # fmt: skip
        tags = open_clip.list_pretrained_tags_by_model(configuration)
        if tag not in tags:
            expected = f"open_clip:{configuration}/TAG" if tags else "a configuration with released weights"
            raise BadInput("no such weights of this configuration", field="--model", got=tag, expected=expected,
                           choices=tags)  # fmt: skip

    @staticmethod
    def load(where: str) -> "OpenClipModel":
        """With the weights; downloaded where open_clip has not kept them."""
        if Path(where).is_dir():
            return _loaded(f"local-dir:{where}", require_offline(Path(where)), where, {})
        configuration, _, tag = where.partition("/")
        # open_clip only warns where weights were trained with another activation than the configuration says.
        quick = bool(open_clip.get_pretrained_cfg(configuration, tag).get("quick_gelu"))
        text = open_clip.get_model_config(configuration)["text_cfg"]
        return _loaded(configuration, text, where, {"pretrained": tag, "force_quick_gelu": quick})


class OpenClipModel:
    """See `Embedder`.

    Args:
        network: in evaluation mode, with both towers.
        prepare: a picture to a tensor.
        tokenize: texts to (n, context length).
    """

    def __init__(
        self, network: Any, prepare: Callable[[Image.Image], Tensor], tokenize: Callable[[Sequence[str]], Tensor]
    ) -> None:
        self._device = pick_device()
        self._network = network.eval().to(self._device)
        self._prepare, self._tokenize = prepare, tokenize

    def encode_images(self, images: Sequence[Image.Image]) -> Tensor:
        """(n, d)."""
        pixels = torch.stack([self._prepare(image) for image in images]).to(self._device)
        found: Tensor = self._network.encode_image(pixels)
        return found

    def encode_texts(self, texts: Sequence[str]) -> Tensor:
        """(n, d)."""
        found: Tensor = self._network.encode_text(self._tokenize(list(texts)).to(self._device))
        return found


def _loaded(name: str, text: dict[str, Any], where: str, options: dict[str, Any]) -> OpenClipModel:
    network, _, prepare, tokenize = load_open_clip(
        name, where, text, require_pretrained=True, pretrained_text=False, **options
    )
    return OpenClipModel(network, prepare, tokenize)


def _close(name: str, names: Sequence[str]) -> list[str]:
    """The nearest names, in any case of letters; without one, all."""
    by_lower = {each.lower(): each for each in names}
    near = get_close_matches(name.lower(), by_lower, n=5, cutoff=0.5)
    return [by_lower[each] for each in near] or sorted(names)
