"""Stand-ins for the public models that learn to read French: small networks of their architectures with own tokenizers.

Weights are random, except MiniLM's (trivium/sources/plain_weights.py): readers learn in `complexity-finetune`. Two
abilities of pretrained models take a small network more than a minute to learn: matching a word of the context with the
same word of the question, and copying an attended token. The weights start near both (trivium/nets/near_start.py).
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import torch
import transformers
from pydantic import Field
from tokenizers import Regex, Tokenizer, decoders, pre_tokenizers, processors, trainers
from tokenizers.models import BPE

from trivium.core.atomic import write_folder
from trivium.core.parameters import Parameters, shared
from trivium.core.stage import Source
from trivium.core.tables import write_json
from trivium.formats.squad import read_squad
from trivium.nets.near_start import near_copying, near_matching
from trivium.sources.brought import PROVENANCE
from trivium.sources.plain_weights import MINILM, save_minilm

Model = Literal["camembert", "camembert_deep", "minilm", "t5", "flan_t5", "mt5", "llama"]


class Decoder(Parameters):
    """Sizes of a stand-in that continues a text."""

    layers: int = Field(ge=1, description="Layers")
    width: int = Field(ge=8, description="Size of a token's vector")
    heads: int = Field(ge=1, description="Attention heads, a divisor of the width")
    feed_forward: int = Field(ge=8, description="Inner size of the feed-forward layers")


class Encoder(Decoder):
    """Sizes of a stand-in that encodes a text."""

    dropout: float = Field(ge=0, lt=1, description="Share of activations that training sets to 0")


class EncoderDecoder(Encoder):
    """Sizes of a stand-in that encodes a text and writes another."""

    decoder_layers: int = Field(ge=1, description="Layers of the decoder")


class ComplexityBaseModelsParameters(Parameters):
    """Section `complexity.base_models`; `hub` and `local` read `models` only."""

    models: tuple[Model, ...] = Field(min_length=1, description="Which models to make, download or take")
    seed: int = Field(ge=0, description="Seed of the stand-ins' weights")
    vocabulary: int = Field(ge=300, description="Tokens of the stand-ins' tokenizer, learnt from training questions")
    multilingual_vocabulary: int = Field(ge=300, description="Tokens of mT5's stand-in, whose vocabulary is larger")
    encoder: Encoder = Field(description="CamemBERT's stand-in; MiniLM takes its dropout")
    deep_layers: int = Field(ge=1, description="Layers of a second CamemBERT, for readers of two sizes")
    encoder_decoder: EncoderDecoder = Field(description="Stand-ins of T5, FLAN-T5 and mT5")
    decoder: Decoder = Field(description="Llama's stand-in")
    source: Source = shared("world.complexity_models", description="Where the models come from")
    local: str = shared("world.local.complexity_models", description="Folder of the user's models")


START, PADDING, END, UNKNOWN, MASK = SPECIAL = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
POSITIONS = 512
TEMPLATES = {  # as each architecture marks one text and a pair of texts
    "camembert": ("<s> $A </s>", "<s> $A </s> </s> $B:1 </s>:1"),
    "t5": ("$A </s>", "$A </s> $B:1 </s>:1"),
    "llama": ("<s> $A", "<s> $A <s>:1 $B:1"),
}
# A word with the apostrophe of its elision (l' | armée), up to four digits, or a sign, each with the space before it.
_PIECE = Regex(r" ?[\p{L}\p{M}]+['’]?| ?\p{N}{1,4}| ?[^\s\p{L}\p{M}\p{N}]|\s+")
# The three kinds of T5 have nearly the same architecture, so each needs a seed of its own; other models share one.
_SEED_AFTER = {"flan_t5": 1, "mt5": 2}


def make_stand_ins(parameters: ComplexityBaseModelsParameters, fquad: Path, out: Path) -> dict[str, float]:
    """Write the sample's models, with tokenizers learnt from the training questions of FQuAD's role.

    Returns:
        `<model>_parameters`, and the numbers of tokens `vocabulary` and `multilingual_vocabulary`.
    """
    questions = read_squad(fquad / "train.json").questions
    texts = [*dict.fromkeys(one.context for one in questions), *(one.question for one in questions)]
    shared = train_tokenizer(texts, parameters.vocabulary)
    multilingual = train_tokenizer(texts, parameters.multilingual_vocabulary)
    metrics = {
        "vocabulary": float(shared.get_vocab_size()),
        "multilingual_vocabulary": float(multilingual.get_vocab_size()),
    }
    with write_folder(out) as target:
        for model in parameters.models:
            torch.manual_seed(parameters.seed + _SEED_AFTER.get(model, 0))
            tokenizer = multilingual if model == "mt5" else shared
            metrics[f"{model}_parameters"] = float(_make(model, tokenizer, parameters, target / model))
            origin = {"from": f"the architecture of {model}, small, random weights", "licence": "apache-2.0"}
            write_json(target / model / PROVENANCE, MINILM if model == "minilm" else origin)
    return metrics


def _make(model: Model, tokenizer: Tokenizer, parameters: ComplexityBaseModelsParameters, folder: Path) -> int:
    """Write one model; returns its number of parameters."""
    if model == "minilm":
        return save_minilm(folder, dropout=parameters.encoder.dropout)
    if model == "llama":
        return save_llama(tokenizer, parameters.decoder, folder)
    if model in ("camembert", "camembert_deep"):
        layers = parameters.deep_layers if model == "camembert_deep" else parameters.encoder.layers
        return save_camembert(tokenizer, parameters.encoder.model_copy(update={"layers": layers}), folder)
    return save_t5(tokenizer, parameters.encoder_decoder, folder, version=model)


def train_tokenizer(texts: Iterable[str], size: int) -> Tokenizer:
    """Train a byte-level BPE tokenizer: it restores any text unchanged, and every token knows its characters.

    The size of the vocabulary includes special tokens and the 256 bytes.
    """
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(_PIECE, "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=list(SPECIAL), initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def save_camembert(tokenizer: Tokenizer, sizes: Encoder, folder: Path) -> int:
    """Write a CamemBERT of random weights that starts near matching; returns its number of parameters."""
    config = transformers.CamembertConfig(
        hidden_dropout_prob=sizes.dropout,
        attention_probs_dropout_prob=sizes.dropout,
        max_position_embeddings=POSITIONS + 2,
        type_vocab_size=2,  # near_matching tells question and context apart by it
        **_shape(sizes),
        **_ids(tokenizer),
    )
    model = transformers.CamembertModel(config, add_pooling_layer=False)
    near_matching(model, _generator())
    return _save(model, tokenizer, "camembert", folder)


def save_t5(tokenizer: Tokenizer, sizes: EncoderDecoder, folder: Path, *, version: str) -> int:
    """Write an encoder-decoder of random weights that starts near copying; returns its number of parameters.

    Versions are `t5`; `flan_t5`, which is T5 v1.1 (gated feed-forward, output embeddings of its own); and `mt5`.
    """
    shape: dict[str, Any] = {
        "d_model": sizes.width,
        "d_kv": sizes.width // sizes.heads,
        "d_ff": sizes.feed_forward,
        "num_layers": sizes.layers,
        "num_decoder_layers": sizes.decoder_layers,
        "num_heads": sizes.heads,
        "dropout_rate": sizes.dropout,
        "decoder_start_token_id": tokenizer.token_to_id(PADDING),
        **_ids(tokenizer),
    }
    if version != "t5":
        shape |= {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}
    family = "MT5" if version == "mt5" else "T5"
    config = getattr(transformers, f"{family}Config")(**shape)
    model = getattr(transformers, f"{family}ForConditionalGeneration")(config)
    near_copying(model, _generator())
    return _save(model, tokenizer, "t5", folder)


def save_llama(tokenizer: Tokenizer, sizes: Decoder, folder: Path) -> int:
    """Write a Llama language model of random weights; returns its number of parameters."""
    config = transformers.LlamaConfig(
        num_key_value_heads=sizes.heads,
        max_position_embeddings=POSITIONS,
        initializer_range=sizes.width**-0.5,  # LoRA does not train the head: at 0.02 it could not tell tokens apart
        **_shape(sizes),
        **_ids(tokenizer),
    )
    return _save(transformers.LlamaForCausalLM(config), tokenizer, "llama", folder)


def _generator() -> torch.Generator:
    return torch.Generator().manual_seed(torch.initial_seed())


def _shape(sizes: Decoder) -> dict[str, Any]:
    return {
        "hidden_size": sizes.width, "num_hidden_layers": sizes.layers, "num_attention_heads": sizes.heads,
        "intermediate_size": sizes.feed_forward,
    }  # fmt: skip


def _ids(tokenizer: Tokenizer) -> dict[str, Any]:
    names = {"pad_token_id": PADDING, "bos_token_id": START, "eos_token_id": END}
    ids = {key: tokenizer.token_to_id(name) for key, name in names.items()}
    return {"vocab_size": tokenizer.get_vocab_size(), **ids}


def _save(model: transformers.PreTrainedModel, tokenizer: Tokenizer, template: str, folder: Path) -> int:
    """Write a network, and its tokenizer with the special tokens of one of `TEMPLATES`; returns its parameter count."""
    model.save_pretrained(folder)
    single, pair = TEMPLATES[template]
    marks = [(token, tokenizer.token_to_id(token)) for token in (START, END)]
    own = Tokenizer.from_str(tokenizer.to_str())
    own.post_processor = processors.Sequence(
        [
            # The space before a word is no part of its characters.
            processors.ByteLevel(add_prefix_space=False, trim_offsets=True),
            processors.TemplateProcessing(single=single, pair=pair, special_tokens=marks),
        ]
    )
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=own, bos_token=START, eos_token=END, cls_token=START, sep_token=END, unk_token=UNKNOWN,
        pad_token=PADDING, mask_token=MASK, model_max_length=POSITIONS,
    ).save_pretrained(folder)  # fmt: skip
    return sum(weights.numel() for weights in model.parameters())
