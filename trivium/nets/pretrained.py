"""Load networks from Hugging Face folders (transformers, sentence-transformers), and write trained ones.

Only safetensors are read; a missing weight or one of another shape is refused.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from torch import Tensor, nn
from transformers import AutoModel, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase
from transformers.utils import logging

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.reading import refuse_other
from trivium.core.tables import read_json
from trivium.formats.json_fields import Field
from trivium.nets.cards import write_card
from trivium.nets.device import attention, autocast, pad_inputs
from trivium.nets.weights import unfit_names

logging.disable_progress_bar()
logging.set_verbosity_error()  # new heads are expected; other missing or unfitting weights are refused below
os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")


def load_pretrained(
    network: Any,
    folder: Path,
    what: str,
    *,
    tokenizer: Any = AutoTokenizer,
    new: tuple[str, ...] = (),
    dtype: torch.dtype = torch.float32,
    expected: str = "a Hugging Face folder",
    needs_offsets: bool = False,
    **options: Any,
) -> tuple[Any, Any]:
    """Load a network, in evaluation mode, and its tokenizer.

    Args:
        network, tokenizer: transformers' classes.
        folder: has configuration, safetensors and tokenizer.
        what: what the network should be, for messages.
        new: prefixes of names of weights that may be missing; they are drawn from torch's generator.
        dtype: type of the weights.
        expected: what the folder should be, for messages.
        needs_offsets: whether the tokenizer must give the character offsets of tokens.
        options: further arguments of `network.from_pretrained`.

    Raises:
        BadInput: not such a folder, or weights that are missing or do not fit its configuration (the layer is named).
    """
    try:
        model, report = network.from_pretrained(
            folder,
            local_files_only=True,
            trust_remote_code=False,  # None would prompt the user, and run it after a `y`
            use_safetensors=True,
            dtype=dtype,
            attn_implementation=attention(),
            ignore_mismatched_sizes=True,  # they are refused below, by name
            output_loading_info=True,
            **options,
        )
        tokens = tokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except (OSError, ValueError, RuntimeError, KeyError, SafetensorError) as error:
        refuse_other(folder)
        raise BadInput(f"not {what}: {error}", file=folder, expected=expected) from None
    if missing := sorted(name for name in report["missing_keys"] if not name.startswith(new)):
        raise unfit_names(missing, "missing", folder)
    for layer, got, fitting in sorted(report["mismatched_keys"]):
        raise BadInput("weights do not fit", file=folder, field=layer, got=tuple(got), expected=str(tuple(fitting)))
    if needs_offsets and not tokens.is_fast:
        raise BadInput("the tokenizer gives no offsets", file=folder, expected="a fast one (tokenizer.json)")
    return model, tokens


def most_tokens(model: Any) -> int:
    """Return the most tokens that an encoder's positions allow; CamemBERT's and RoBERTa's start after the padding's."""
    positions = model.base_model.embeddings.position_embeddings
    return int(positions.num_embeddings - (0 if positions.padding_idx is None else positions.padding_idx + 1))


def export_trained(folder: Path, model: Any, tokenizer: Any, **card: Any) -> None:
    """Write what `load_pretrained` reads, with a card (see `write_card`); the folder is complete or absent."""
    with write_atomically(folder) as target:
        model.save_pretrained(target)
        tokenizer.save_pretrained(target)
        write_card(target, licence="apache-2.0", **card)


MODULES, PROMPTS, LENGTH = "modules.json", "config_sentence_transformers.json", "sentence_bert_config.json"
_POOLER = "pooler."  # a head that no pooling uses, and that many folders lack


@dataclass(frozen=True)
class SentenceFolder:
    """A loaded folder in sentence-transformers' format: a network, pooling, and perhaps normalisation.

    Attributes:
        network, tokenizer: those of transformers, in evaluation mode.
        after: the modules after the network, in their order.
        prompts: texts that are put before a text, by the kind of text.
        longest: most tokens of a text, by the folder's own file and by its tokenizer.
        lower: whether texts are lower-cased first.
    """

    network: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    after: nn.Sequential
    prompts: dict[str, str]
    longest: int
    lower: bool

    def vectors(self, network: nn.Module, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Compute vectors (texts, width) float32 by `network` and the modules after it; bf16 inside on a GPU."""
        ids, mask = pad_inputs(network, input_ids, attention_mask)
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
