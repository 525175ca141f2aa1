"""Folders in sentence-transformers' format: a network of transformers, then a pooling, and perhaps a length of 1."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoModel, PreTrainedModel, PreTrainedTokenizerBase

from trivium.core.errors import BadInput
from trivium.core.tables import read_json
from trivium.nets.device import autocast, lengthened
from trivium.nets.pretrained import load_pretrained

MODULES, PROMPTS, LENGTH = "modules.json", "config_sentence_transformers.json", "sentence_bert_config.json"
_POOLER = "pooler."  # a head that no pooling looks at, and that many folders lack
_ENDLESS = 10**9  # tokens
_AFTER = ("Pooling", "Normalize")


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
    path = folder / MODULES
    kinds = [(_kind(entry, path, row), str(entry.get("path", ""))) for row, entry in enumerate(_list(path), 1)]
    if [kind for kind, _ in kinds[:2]] != ["Transformer", "Pooling"]:
        raise BadInput("not a sentence encoder", file=path, got=[kind for kind, _ in kinds],
                       expected="a Transformer, then a Pooling")  # fmt: skip
    inner = folder / kinds[0][1]
    network, tokenizer = load_pretrained(
        AutoModel, inner, "a sentence encoder", new=(_POOLER,), expected="a folder of sentence-transformers"
    )
    if network.config.is_encoder_decoder:
        raise BadInput("an encoder with a decoder", file=inner / "config.json", expected="an encoder alone")
    width = network.config.hidden_size
    after = nn.Sequential(*(_LOADERS[kind](folder / place, width) for kind, place in kinds[1:]))
    length = _optional(inner / LENGTH)
    prompts = _optional(folder / PROMPTS).get("prompts") or {}
    if not isinstance(prompts, dict) or not all(isinstance(text, str | None) for text in prompts.values()):
        raise BadInput("not prompts", file=folder / PROMPTS, field="prompts", got=prompts, expected="texts by name")
    return SentenceFolder(
        network.to(device),
        tokenizer,
        after.eval(),
        {name: text for name, text in prompts.items() if text},
        min(_longest(length.get("max_seq_length"), inner / LENGTH), tokenizer.model_max_length),
        bool(length.get("do_lower_case")),
    )


def _list(path: Path) -> list[Any]:
    modules = read_json(path)
    if not isinstance(modules, list) or not all(isinstance(entry, dict) for entry in modules):
        raise BadInput("not a list of modules", file=path, expected="what sentence-transformers writes")
    return modules


def _kind(entry: dict[str, Any], path: Path, row: int) -> str:
    kind = str(entry.get("type")).rpartition(".")[2]
    if kind not in ("Transformer", *_AFTER):
        raise BadInput("a module that is not known", file=path, row=row, field="type", got=entry.get("type"),
                       choices=("Transformer", *_AFTER))  # fmt: skip
    return kind


def _optional(path: Path) -> dict[str, Any]:
    record = read_json(path) if path.is_file() else {}
    if not isinstance(record, dict):
        raise BadInput("not an object", file=path)
    return record


def _longest(value: object, path: Path) -> int:
    if value is None:
        return _ENDLESS
    if not isinstance(value, int) or value < 1:
        raise BadInput("bad length", file=path, field="max_seq_length", got=value, expected="tokens, or null")
    return value


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


def _normalize(folder: Path, width: int) -> nn.Module:
    from sentence_transformers.sentence_transformer.modules import Normalize

    return Normalize()


_LOADERS: dict[str, Callable[[Path, int], nn.Module]] = {"Pooling": _pooling, "Normalize": _normalize}
