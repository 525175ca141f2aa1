"""The authors' own zero-shot DPR and reader, to start from instead of pretraining (kvqae.md §8).

DPR's folder holds `question` and `passage`, the reader's `reader`, each as the stages that would train it write it; or
nothing but `provenance.json` where pretraining is ours.
"""

from collections.abc import Mapping
from pathlib import Path

from transformers import AutoTokenizer, BertConfig, BertForQuestionAnswering, BertModel, PreTrainedTokenizerBase

from trivium.core.errors import BadInput
from trivium.core.tables import read_json, write_json
from trivium.kvqae.retrieval.text_encoder import save_text_encoder
from trivium.nets.weights import WEIGHTS, load_weights, read_weights
from trivium.sources.brought import PROVENANCE
from trivium.sources.plain_weights import PICKLED, read_pickled
from trivium.sources.repositories import fetch_into


def fetch_checkpoints(system: str, base: Path, out: Path, downloads: Path) -> dict[str, float]:
    """Download, convert and check the checkpoints of a system (dpr, or reader), which use the tokenizer of `base`.

    Returns the number of weights of each.
    """
    checkpoints = CHECKPOINTS[system]
    tokenizer = AutoTokenizer.from_pretrained(base, local_files_only=True, trust_remote_code=False)
    with fetch_into(list(checkpoints), out, downloads) as (temporary, files, pins):
        counts = {
            f"{name}_weights": convert(files[name], prefix, tokenizer, temporary / folder)
            for name, (folder, prefix) in checkpoints.items()
        }
        write_json(temporary / PROVENANCE, pins.summary(checkpoints))
    return counts


CONFIG = "config.json"
# What configurations of DPR's encoders and of BERT have in common.
SHAPE = (
    "vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "hidden_act",
    "max_position_embeddings", "type_vocab_size", "layer_norm_eps", "hidden_dropout_prob",
    "attention_probs_dropout_prob", "pad_token_id",
)  # fmt: skip


CHECKPOINTS = {  # of each system, by source in pins.yaml: its folder, and the prefix of its encoder's tensors
    "dpr": {
        "dpr_question": ("question", "question_encoder.bert_model."),
        "dpr_passage": ("passage", "ctx_encoder.bert_model."),
    },
    "reader": {"multi_passage_bert": ("reader", "")},
}


def convert(files: Mapping[str, Path], prefix: str, tokenizer: PreTrainedTokenizerBase, folder: Path) -> float:
    """Write a published checkpoint as our own stages write theirs; returns how many weights it has.

    The prefix is that of an encoder's tensors; a reader has none. The tokenizer is BERT's: published folders lack it.

    Raises:
        BadInput: another vocabulary, projected vectors, or broken or misfitting weights.
    """
    config = read_json(files[CONFIG])
    if config.get("vocab_size") != len(tokenizer):
        problem, got = "another vocabulary than the text encoder's", config.get("vocab_size")
        raise BadInput(problem, file=files[CONFIG], field="vocab_size", got=got, expected=str(len(tokenizer)))
    if got := config.get("projection_dim", 0):
        expected = "0: [CLS] itself"
        raise BadInput("vectors are projected", file=files[CONFIG], field="projection_dim", got=got, expected=expected)
    shape = BertConfig(**{name: config[name] for name in SHAPE if name in config})
    model = BertModel(shape, add_pooling_layer=False) if prefix else BertForQuestionAnswering(shape)
    path = files.get(WEIGHTS) or files.get(PICKLED)
    if path is None:
        raise BadInput("no weights", file=files[CONFIG].parent, expected=f"{WEIGHTS} or {PICKLED}", choices=files)
    state = read_weights(path) if WEIGHTS in files else read_pickled(path)
    unread = (".pooler.", "position_ids")  # a head that neither system uses, and a constant of older versions
    read = {name: value for name, value in state.items() if not any(part in name for part in unread)}
    weights = {name.removeprefix(prefix): value for name, value in read.items()}
    load_weights(model, weights, path)
    save_text_encoder(folder, model, tokenizer)
    return float(sum(value.numel() for value in model.parameters()))
