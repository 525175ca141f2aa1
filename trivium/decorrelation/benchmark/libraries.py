"""Models of three libraries with both towers: transformers, open_clip, sentence-transformers.

Safetensors only, and no code beside them is run.
"""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch.func import functional_call

from trivium.core.errors import BadInput
from trivium.decorrelation.benchmark.embeddings import TOWERS
from trivium.nets.device import halving_batches, pick_device
from trivium.nets.open_clip_folder import load_open_clip, require_offline

_LOWER_CASE = 256_000  # words of Gemma's vocabulary: SigLIP 2 with it was trained on lower-case texts
_PAIRS = 128  # of picture and text that are matched together


@dataclass(frozen=True)
class Kind:
    """A kind of network of transformers.

    Attributes:
        network: its class.
        full: whether texts are padded to the full length, as in its training; SigLIP masks nothing of it.
        longest: tokens of a text; None: as many as there are positions.
    """

    network: str
    full: bool = False
    longest: int | None = None


KINDS = {
    "clip": Kind("CLIPModel"),
    "metaclip_2": Kind("MetaClip2Model"),
    "altclip": Kind("AltCLIPModel", longest=77),
    "chinese_clip": Kind("ChineseCLIPModel", longest=52),
    "siglip": Kind("SiglipModel", full=True),
    "siglip2": Kind("Siglip2Model", full=True),
    "align": Kind("AlignModel", full=True, longest=64),
    "blip": Kind("BlipForImageTextRetrieval", longest=35),
    "blip-2": Kind("Blip2ForImageTextRetrieval", longest=32),
}


def _check_tokens(ids: torch.Tensor, words: int, source: Path | str) -> None:
    """Refuse ids (n, l) of a tokenizer that has more words than the network has embeddings."""
    if ids.numel() and int(ids.max()) >= words:
        raise BadInput("the tokenizer is of another network: it gives a token that has no embedding", file=source,
                       got=int(ids.max()), expected=f"at most {words - 1}, by the network's vocabulary")  # fmt: skip


class HuggingFaceModel:
    """A network of transformers with two towers.

    Raises:
        BadInput: configuration, safetensors, tokenizer or preparation is missing in the folder, or does not fit.
    """

    def __init__(self, folder: Path, kind: Kind) -> None:
        import transformers

        from trivium.nets.pretrained import load_pretrained

        network, self._tokenizer = load_pretrained(getattr(transformers, kind.network), folder, f"a {kind.network}")
        try:
            self._prepare = transformers.AutoImageProcessor.from_pretrained(
                folder, local_files_only=True, trust_remote_code=False
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise BadInput(f"no usable preparation of pictures: {error}", file=folder) from None
        self._device = pick_device()
        self._network: Any = network.to(self._device)
        text = getattr(network.config, "qformer_config", network.config.text_config)
        self._folder, self._words = folder, text.vocab_size
        self._lower = text.vocab_size == _LOWER_CASE
        longest = min(kind.longest or text.max_position_embeddings, text.max_position_embeddings)
        self._padding = {"padding": "max_length" if kind.full else True, "truncation": True, "max_length": longest}
        features = getattr(network, "get_text_features", None)
        self._types = features is not None and "token_type_ids" in inspect.signature(features).parameters

    def encode_images(self, images: Sequence[Image.Image]) -> torch.Tensor:
        """(n, d)."""
        return self._network.get_image_features(**self._pixels(images)).pooler_output

    def encode_texts(self, texts: Sequence[str]) -> torch.Tensor:
        """(n, d)."""
        return self._network.get_text_features(**self._tokens(texts)).pooler_output

    def _pixels(self, images: Sequence[Image.Image]) -> Any:
        return self._prepare(images=list(images), return_tensors="pt").to(self._device)

    def _tokens(self, texts: Sequence[str]) -> Any:
        cased = [text.lower() for text in texts] if self._lower else list(texts)
        inputs = self._tokenizer(cased, return_tensors="pt", **self._padding)
        _check_tokens(inputs["input_ids"], self._words, self._folder)
        if not self._types:
            inputs.pop("token_type_ids", None)
        return inputs.to(self._device)


class BlipModel(HuggingFaceModel):
    """BLIP: embeddings (ITC) choose candidates, the matching head (ITM) scores the best of them again.

    In place of [CLS] a text that is matched begins with [ENC], the last word of the released vocabulary.
    """

    def __init__(self, folder: Path, kind: Kind) -> None:
        super().__init__(folder, kind)
        self._enc = self._tokenizer.get_vocab().get("[ENC]", self._words - 1)

    def encode_images(self, images: Sequence[Image.Image]) -> torch.Tensor:
        """(n, d)."""
        return self._network.vision_proj(self._network.vision_model(**self._pixels(images)).last_hidden_state[:, 0])

    def encode_texts(self, texts: Sequence[str]) -> torch.Tensor:
        """(n, d)."""
        return self._network.text_proj(self._network.text_encoder(**self._tokens(texts)).last_hidden_state[:, 0])

    @torch.inference_mode()
    def match(self, images: Sequence[Image.Image], texts: Sequence[Sequence[str]]) -> list[NDArray[np.float32]]:
        """The matching head's logit of each of n pictures with each of its texts, an array a picture."""
        patches = self._network.vision_model(**self._pixels(images)).last_hidden_state
        pairs = [(picture, text) for picture, own in enumerate(texts) for text in own]

        def score(batch: Sequence[tuple[int, str]]) -> torch.Tensor:
            inputs = self._tokens([text for _, text in batch])
            inputs["input_ids"][:, 0] = self._enc
            images = patches[[picture for picture, _ in batch]]
            states = self._network.text_encoder(**inputs, encoder_hidden_states=images).last_hidden_state
            return self._network.itm_head(states[:, 0])[:, 1].float().cpu()

        scores = torch.cat(list(halving_batches(pairs, _PAIRS, score))).numpy() if pairs else np.zeros(0, np.float32)
        return np.split(scores, np.cumsum([len(own) for own in texts])[:-1])


class Blip2Model(HuggingFaceModel):
    """BLIP-2's retrieval head: a picture has a vector for each query of its Q-Former, a text has one."""

    def encode_images(self, images: Sequence[Image.Image]) -> torch.Tensor:
        """(n, queries, d)."""
        states = self._network.vision_model(**self._pixels(images)).last_hidden_state
        queries = self._network.query_tokens.expand(len(states), -1, -1)
        output = self._network.qformer(query_embeds=queries, encoder_hidden_states=states)
        return self._network.vision_projection(output.last_hidden_state)

    def encode_texts(self, texts: Sequence[str]) -> torch.Tensor:
        """(n, d)."""
        inputs = self._tokens(texts)
        words = self._network.embeddings(input_ids=inputs["input_ids"])
        output = self._network.qformer(query_embeds=words, query_length=0, attention_mask=inputs["attention_mask"])
        return self._network.text_projection(output.last_hidden_state[:, 0])


def load_hugging_face(folder: Path, kind: str) -> HuggingFaceModel:
    """A model of transformers; `kind` is a name in KINDS."""
    return {"blip": BlipModel, "blip-2": Blip2Model}.get(kind, HuggingFaceModel)(folder, KINDS[kind])


class OpenClipModel:
    """A network of open_clip: a folder, or its `CONFIGURATION/TAG`; raises as `load_open_clip`."""

    def __init__(self, source: str) -> None:
        import open_clip

        options: dict[str, Any] = {}
        if Path(source).is_dir():
            name, text = f"local-dir:{source}", require_offline(Path(source))
        else:
            name, _, tag = source.partition("/")
            text = open_clip.get_model_config(name)["text_cfg"]
            # open_clip only warns where weights were trained with another activation than the configuration says.
            quick = bool(open_clip.get_pretrained_cfg(name, tag).get("quick_gelu"))
            options = {"pretrained": tag, "force_quick_gelu": quick}
        network, _, self._prepare, self._tokenize = load_open_clip(
            name, source, text, require_pretrained=True, pretrained_text=False, **options
        )
        self._device, self._source = pick_device(), source
        self._network = network.to(self._device)

    def encode_images(self, images: Sequence[Image.Image]) -> torch.Tensor:
        """(n, d)."""
        return self._network.encode_image(torch.stack([self._prepare(image) for image in images]).to(self._device))

    def encode_texts(self, texts: Sequence[str]) -> torch.Tensor:
        """(n, d)."""
        ids = self._tokenize(list(texts))
        if words := getattr(getattr(self._network, "text", self._network), "vocab_size", None):
            _check_tokens(ids, words, self._source)
        return _encode_ids(self._network, ids.to(self._device))


def _encode_ids(network: Any, ids: torch.Tensor) -> torch.Tensor:
    """Encode token ids, (n, length), by a network of open_clip; for CLIP without the padding, most of a caption.

    A token of CLIP's text tower attends only to those before it, and a text's vector is that of its end, the largest
    id: what follows changes nothing. Positions and mask, which open_clip has for the full length alone, are cut, too.
    """
    import open_clip

    if type(network) is not open_clip.CLIP or network.text_pool_type != "argmax" or network.attn_mask is None:
        return network.encode_text(ids)
    end = int(ids.argmax(dim=1).max()) + 1
    cut = {"positional_embedding": network.positional_embedding[:end], "attn_mask": network.attn_mask[:end, :end]}
    output = functional_call(network, cut, kwargs={"text": ids[:, :end]})
    return output["text_features"] if isinstance(output, dict) else output[1]  # of length 1


class SentenceTransformersModel:
    """A model of sentence-transformers for pictures and texts, whatever its modules are: CLIP, Qwen3-VL-Embedding.

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
