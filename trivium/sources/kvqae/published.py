"""The authors' own zero-shot DPR and reader, to start from instead of pretraining (kvqae.md §8).

DPR's folder holds `question` and `passage`, the reader's `reader`, each as the stages that would train it write it; or
nothing but `provenance.json` where pretraining is ours.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from transformers import AutoTokenizer, BertConfig, BertForQuestionAnswering, BertModel, PreTrainedTokenizerBase

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.tables import read_json, write_json
from trivium.kvqae.retrieval.text_encoder import save_text_encoder
from trivium.nets.weights import WEIGHTS, load_weights, read_plain_tensors, read_weights
from trivium.sources.disk import require_space
from trivium.sources.download import PATIENT, Patience
from trivium.sources.pins import Pins
from trivium.sources.repositories import Hub


def fetch_checkpoints(
    system: str, base: Path, out: Path, downloads: Path, pins: Pins | None = None, patience: Patience = PATIENT
) -> dict[str, float]:
    """Download, convert and check the checkpoints of a system.

    Args:
        system: dpr, or reader.
        base: folder of the text encoder, whose tokenizer they use.
        out: the folder; complete or absent.
        downloads: where they lie until everything is written, whatever interrupts the run.
        pins: by default the project's.
        patience: how long a download insists.

    Returns:
        Weights of each.
    """
    pins = pins or Pins()
    checkpoints = CHECKPOINTS[system]
    size = sum(pins.source(name).bytes for name in checkpoints)
    tokenizer = AutoTokenizer.from_pretrained(base, local_files_only=True, trust_remote_code=False)
    with Hub(downloads, pins, patience) as hub:
        require_space(downloads, 2 * size - sum(map(hub.bytes_there, checkpoints)), f"the published {system}")
        with write_atomically(out) as beside:
            counts = {
                f"{name}_weights": convert(each, hub.fetch(name), tokenizer, beside / each.folder)
                for name, each in checkpoints.items()
            }
            write_json(beside / "provenance.json", pins.summary(checkpoints))
        hub.drop(*checkpoints)
    return counts


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
