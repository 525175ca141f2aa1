"""The reader on disk: a Hugging Face folder of `BertForQuestionAnswering`, as the authors published theirs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from transformers import BertConfig, BertForQuestionAnswering, BertTokenizer
from transformers.utils import logging

from stages.cards import write_card
from stages.device import attention
from stages.stage import BadInput
from stages.tables import write_atomically

logging.disable_progress_bar()
logging.set_verbosity_error()  # weights that do not fit are refused below

HEADS = {"qa_outputs.weight", "qa_outputs.bias"}


def load_reader(
    folder: Path, max_tokens: int, *, new_heads: bool = False
) -> tuple[BertForQuestionAnswering, BertTokenizer]:
    """A reader and its tokenizer.

    Args:
        folder: Hugging Face folder with safetensors.
        max_tokens: tokens that it will read.
        new_heads: start from a plain encoder: the two heads are drawn from torch's generator.

    Raises:
        BadInput: not such a folder, weights that are missing or do not fit its configuration (the layer is named), or
            too few positions for `max_tokens`.
    """
    try:
        config = BertConfig.from_pretrained(folder, local_files_only=True)
        loaded: Any = BertForQuestionAnswering.from_pretrained(
            folder,
            config=config,
            local_files_only=True,
            use_safetensors=True,
            dtype=torch.float32,
            attn_implementation=attention(),
            ignore_mismatched_sizes=True,  # they are refused below, by name
            output_loading_info=True,
        )
        tokenizer = BertTokenizer.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError, RuntimeError, KeyError, SafetensorError) as error:
        raise BadInput(f"not a reader: {error}", file=folder, expected="a Hugging Face folder of BERT") from None
    model, report = loaded
    if missing := sorted(set(report["missing_keys"]) - (HEADS if new_heads else set())):
        raise BadInput("weights are missing", file=folder, got=missing[:3])
    for layer, got, expected in sorted(report["mismatched_keys"]):
        raise BadInput("weights do not fit", file=folder, field=layer, got=tuple(got), expected=str(tuple(expected)))
    if max_tokens > config.max_position_embeddings:
        raise BadInput(
            "more tokens than positions", file=folder, got=max_tokens, expected=f"≤ {config.max_position_embeddings}"
        )
    return model, tokenizer


def save_reader(
    folder: Path,
    model: BertForQuestionAnswering,
    tokenizer: BertTokenizer,
    *,
    base: Path,
    data: str,
    metrics: Mapping[str, float],
) -> None:
    """Write what `load_reader` reads, with a card; the folder is complete or absent."""
    with write_atomically(folder) as beside:
        model.save_pretrained(beside)
        tokenizer.save_pretrained(beside)
        write_card(
            beside,
            title="Multi-passage BERT reader",
            description=(
                "Extracts a short answer from several passages of one question: start and end heads whose softmax is "
                "shared over the passages (Lerner et al., TAL 2022, section 7)."
            ),
            base=str(base),
            data=data,
            metrics=metrics,
            licence="apache-2.0",
        )
