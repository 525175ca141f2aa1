"""Folders in sentence-transformers' format: a network of transformers, then a pooling, and perhaps a length of 1."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoModel, PreTrainedModel, PreTrainedTokenizerBase

from trivium.core.errors import BadInput
from trivium.core.tables import read_json
from trivium.formats.json_fields import Field
from trivium.nets.device import autocast, lengthened
from trivium.nets.pretrained import load_pretrained

MODULES, PROMPTS, LENGTH = "modules.json", "config_sentence_transformers.json", "sentence_bert_config.json"
_POOLER = "pooler."  # a head that no pooling looks at, and that many folders lack


@dataclass(frozen=True)
class SentenceFolder:
    """What the folder's own files say, loaded.

    Attributes:
        network, tokenizer: of transformers, in evaluation mode.
        after: the modules behind the network, in their order.
        prompts: what is to be read before a text, by the kind of text.
        longest: tokens of a text, at most, by the folder's own file and by its tokenizer.
        lower: whether texts are to be written in small letters first.
    """

    network: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    after: nn.Sequential
    prompts: dict[str, str]
    longest: int
    lower: bool

    def vectors(self, network: nn.Module, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """(texts, width) float32 of `network` and the modules behind it; bf16 inside on a GPU."""
        ids, mask = lengthened(network, input_ids, attention_mask)
        with autocast(input_ids.device):
            states = network(input_ids=ids, attention_mask=mask).last_hidden_state
        outputs: dict[str, Tensor] = self.after({"token_embeddings": states.float(), "attention_mask": mask})
        return outputs["sentence_embedding"]


def load_sentence_folder(folder: Path, device: torch.device) -> SentenceFolder:
    """Load a folder as its `modules.json` says; no code of the folder is run.

    Raises:
        BadInput: not such a folder, other modules than a transformer, `Pooling` and `Normalize`, a pooling that joins
            several or leaves prompts out, or see `load_pretrained`.
    """
    from sentence_transformers.sentence_transformer.modules import Normalize

    path = folder / MODULES
    modules = Field(read_json(path), path, name="modules").items()
    parts = [(entry["type"].text().rpartition(".")[2], folder / entry["path"].text()) for entry in modules]
    kinds = [kind for kind, _ in parts]
    if kinds[:2] != ["Transformer", "Pooling"] or set(kinds[2:]) - {"Normalize"}:
        expected = "a Transformer, then a Pooling, then perhaps Normalize"
        raise BadInput("not a sentence encoder", file=path, got=kinds, expected=expected)
    inner = parts[0][1]
    network, tokenizer = load_pretrained(
        AutoModel, inner, "a sentence encoder", new=(_POOLER,), expected="a folder of sentence-transformers"
    )
    if network.config.is_encoder_decoder:
        raise BadInput("an encoder with a decoder", file=inner / "config.json", expected="an encoder alone")
    after = [_pooling(parts[1][1], network.config.hidden_size), *(Normalize() for _ in parts[2:])]
    length, prompts = _optional(inner / LENGTH), _optional(folder / PROMPTS).get("prompts") or {}
    if not isinstance(prompts, dict) or not all(isinstance(text, str | None) for text in prompts.values()):
        raise BadInput("not prompts", file=folder / PROMPTS, field="prompts", got=prompts, expected="texts by name")
    longest = length.get("max_seq_length")
    if longest is not None and (not isinstance(longest, int) or longest < 1):
        raise BadInput("bad length", file=inner / LENGTH, field="max_seq_length", got=longest, expected="tokens")
    return SentenceFolder(
        network.to(device),
        tokenizer,
        nn.Sequential(*after).eval(),
        {name: text for name, text in prompts.items() if text},
        min(longest or tokenizer.model_max_length, tokenizer.model_max_length),
        bool(length.get("do_lower_case")),
    )


def _optional(path: Path) -> dict[str, Any]:
    record = read_json(path) if path.is_file() else {}
    if not isinstance(record, dict):
        raise BadInput("not an object", file=path)
    return record


def _pooling(folder: Path, width: int) -> nn.Module:
    from sentence_transformers.sentence_transformer.modules import Pooling

    try:
        pooling = Pooling.load(str(folder), local_files_only=True)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise BadInput(f"not a pooling: {error}", file=folder) from None
    if pooling.get_embedding_dimension() != width:
        raise BadInput("a pooling of another width", file=folder, got=pooling.get_embedding_dimension(),
                       expected=f"{width}, as the network has")  # fmt: skip
    if not pooling.include_prompt:
        raise BadInput("a pooling without prompts", file=folder, field="include_prompt", got=False, expected="true")
    return pooling
