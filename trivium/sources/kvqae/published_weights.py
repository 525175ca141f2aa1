"""The authors' zero-shot DPR and reader as our own stages write theirs (kvqae.md §8)."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from transformers import BertConfig, BertForQuestionAnswering, BertModel, PreTrainedTokenizerBase

from trivium.core.errors import BadInput
from trivium.core.tables import read_json
from trivium.kvqae.retrieval.text_encoder import save_text_encoder
from trivium.nets.weights import WEIGHTS, load_weights, read_plain_tensors, read_weights

PICKLED, CONFIG = "pytorch_model.bin", "config.json"
# What a DPR encoder and a BERT are both told.
SHAPE = (
    "vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "hidden_act",
    "max_position_embeddings", "type_vocab_size", "layer_norm_eps", "hidden_dropout_prob",
    "attention_probs_dropout_prob", "pad_token_id",
)  # fmt: skip


@dataclass(frozen=True)
class Checkpoint:
    """A published one: its folder, and what its encoder's tensors begin with (a reader's have heads beside)."""

    folder: str
    prefix: str
    reader: bool = False


CHECKPOINTS = {  # of each system, by source in pins.yaml
    "dpr": {
        "dpr_question": Checkpoint("question", "question_encoder.bert_model."),
        "dpr_passage": Checkpoint("passage", "ctx_encoder.bert_model."),
    },
    "reader": {"multi_passage_bert": Checkpoint("reader", "", reader=True)},
}


def read_state(files: Mapping[str, Path]) -> tuple[dict[str, torch.Tensor], Path]:
    """The tensors of a checkpoint and their file: safetensors if there, else a pickle of which only tensors are read.

    Raises:
        BadInput: no weights, broken, or something else than tensors.
    """
    if WEIGHTS in files:
        return read_weights(files[WEIGHTS]), files[WEIGHTS]
    if PICKLED not in files:
        raise BadInput("no weights", file=files[CONFIG].parent, expected=f"{WEIGHTS} or {PICKLED}", choices=files)
    state = read_plain_tensors(files[PICKLED])
    if not isinstance(state, dict) or not all(isinstance(value, torch.Tensor) for value in state.values()):
        raise BadInput("not a checkpoint", file=files[PICKLED], expected="a mapping of tensors")
    return state, files[PICKLED]


def convert(
    checkpoint: Checkpoint, files: Mapping[str, Path], tokenizer: PreTrainedTokenizerBase, folder: Path
) -> float:
    """Write a checkpoint as our own stages write theirs; returns its number of weights.

    Args:
        checkpoint: which one.
        files: what the hub has of it.
        tokenizer: BERT's, which the published folders lack.
        folder: to be written.

    Raises:
        BadInput: see `read_state`; another vocabulary, vectors that are projected, or a tensor that is missing, left
            over or of another shape.
    """
    config = read_json(files[CONFIG])
    if config.get("vocab_size") != len(tokenizer):
        raise BadInput(
            "another vocabulary than the text encoder's", file=files[CONFIG], field="vocab_size",
            got=config.get("vocab_size"), expected=str(len(tokenizer)),
        )  # fmt: skip
    if config.get("projection_dim", 0):
        raise BadInput(
            "vectors are projected", file=files[CONFIG], field="projection_dim", got=config["projection_dim"],
            expected="0: [CLS] itself",
        )  # fmt: skip
    shape = BertConfig(**{name: config[name] for name in SHAPE if name in config})
    model = BertForQuestionAnswering(shape) if checkpoint.reader else BertModel(shape, add_pooling_layer=False)
    state, path = read_state(files)
    unread = (".pooler.", "position_ids")  # a head that neither system uses, and a constant of older versions
    weights = {
        name.removeprefix(checkpoint.prefix): value
        for name, value in state.items()
        if not any(part in name for part in unread)
    }
    load_weights(model, weights, path)
    save_text_encoder(folder, model, tokenizer)
    return float(sum(value.numel() for value in model.parameters()))
