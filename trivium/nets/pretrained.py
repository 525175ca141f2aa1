"""Networks of transformers from a Hugging Face folder: safetensors only, no weight missing, none of another shape."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from transformers import AutoTokenizer
from transformers.utils import logging

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.reading import refuse_other
from trivium.nets.cards import write_card
from trivium.nets.device import attention

logging.disable_progress_bar()
logging.set_verbosity_error()  # new heads are no news; what else is missing or does not fit is refused below
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
    """A network in evaluation mode and its tokenizer.

    Args:
        network, tokenizer: transformers' classes.
        folder: configuration, safetensors and tokenizer.
        what: it is expected to be, for the message.
        new: beginnings of the names of weights that may be missing: they are drawn from torch's generator.
        dtype: of the weights.
        expected: of the folder, for the message.
        needs_offsets: whether the tokenizer must tell where in a text its tokens stand.
        options: more that `network.from_pretrained` takes.

    Raises:
        BadInput: not such a folder, or weights that are missing or do not fit its configuration (the layer is named).
    """
    try:
        model, report = network.from_pretrained(
            folder,
            local_files_only=True,
            trust_remote_code=False,  # None would ask whoever sits there, and run it after a `y`
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
        raise BadInput("weights are missing", file=folder, got=missing[:3])
    for layer, got, fitting in sorted(report["mismatched_keys"]):
        raise BadInput("weights do not fit", file=folder, field=layer, got=tuple(got), expected=str(tuple(fitting)))
    if needs_offsets and not tokens.is_fast:
        raise BadInput("the tokenizer gives no offsets", file=folder, expected="a fast one (tokenizer.json)")
    return model, tokens


def most_tokens(model: Any) -> int:
    """How many tokens an encoder's positions allow; those of CamemBERT and RoBERTa start after the padding's."""
    positions = model.base_model.embeddings.position_embeddings
    return int(positions.num_embeddings - (0 if positions.padding_idx is None else positions.padding_idx + 1))


def export_trained(
    folder: Path,
    model: Any,
    tokenizer: Any,
    *,
    title: str,
    description: str,
    base: Path,
    data: str,
    metrics: Mapping[str, float],
) -> None:
    """Write what `load_pretrained` reads, with a card (see `write_card`); the folder is complete or absent."""
    with write_atomically(folder) as target:
        model.save_pretrained(target)
        tokenizer.save_pretrained(target)
        write_card(
            target,
            title=title,
            description=description,
            base=str(base),
            data=data,
            metrics=metrics,
            licence="apache-2.0",
        )
