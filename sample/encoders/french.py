"""Stand-ins for the public models that learn to read French: their architectures, small, with tokenizers of ours.

Weights are random, except MiniLM's (see text.py): readers learn in `complexity-finetune` alone. Of what pretraining
gives, they start near the two things that a small network does not find in a minute: to match a word of the context
with that of the question and to copy what is attended to (trivium/nets/near_start.py).
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from tokenizers import Regex, Tokenizer, decoders, pre_tokenizers, processors, trainers
from tokenizers.models import BPE
from transformers import (
    CamembertConfig,
    CamembertModel,
    LlamaConfig,
    LlamaForCausalLM,
    MT5Config,
    MT5ForConditionalGeneration,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
)

from sample.encoders.settings import Decoder, Encoder, EncoderDecoder
from trivium.nets.near_start import near_copying, near_matching

START, PADDING, END, UNKNOWN, MASK = SPECIAL = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
POSITIONS = 512
TEMPLATES = {  # as each architecture marks one text and a pair of texts
    "camembert": ("<s> $A </s>", "<s> $A </s> </s> $B:1 </s>:1"),
    "t5": ("$A </s>", "$A </s> $B:1 </s>:1"),
    "llama": ("<s> $A", "<s> $A <s>:1 $B:1"),
}
# A word with the apostrophe of its elision (l' | armée), up to four digits, or a sign, each with the space before it.
_PIECE = Regex(r" ?[\p{L}\p{M}]+['’]?| ?\p{N}{1,4}| ?[^\s\p{L}\p{M}\p{N}]|\s+")


def train_tokenizer(texts: Iterable[str], size: int) -> Tokenizer:
    """Byte-level BPE: any text survives it unchanged, accents and all, and every token knows its characters.

    Args:
        texts: to learn from.
        size: of the vocabulary, special tokens and the 256 bytes included.
    """
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(_PIECE, "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=list(SPECIAL),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def save_tokenizer(tokenizer: Tokenizer, template: str, folder: Path) -> None:
    """Write the tokenizer with the special tokens of one of `TEMPLATES`."""
    single, pair = TEMPLATES[template]
    own = Tokenizer.from_str(tokenizer.to_str())
    own.post_processor = processors.Sequence(
        [
            processors.ByteLevel(
                add_prefix_space=False, trim_offsets=True
            ),  # the space before a word is no part of its characters
            processors.TemplateProcessing(
                single=single, pair=pair, special_tokens=[(token, own.token_to_id(token)) for token in (START, END)]
            ),
        ]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=own,
        bos_token=START,
        eos_token=END,
        cls_token=START,
        sep_token=END,
        unk_token=UNKNOWN,
        pad_token=PADDING,
        mask_token=MASK,
        model_max_length=POSITIONS,
    ).save_pretrained(folder)


def save_camembert(tokenizer: Tokenizer, sizes: Encoder, folder: Path) -> int:
    """Write a CamemBERT encoder of random weights that starts near matching; returns its parameters."""
    config = CamembertConfig(
        hidden_size=sizes.width,
        num_hidden_layers=sizes.layers,
        num_attention_heads=sizes.heads,
        intermediate_size=sizes.feed_forward,
        hidden_dropout_prob=sizes.dropout,
        attention_probs_dropout_prob=sizes.dropout,
        max_position_embeddings=POSITIONS + 2,
        type_vocab_size=2,  # near_matching tells question and context apart by it
        **_ids(tokenizer),
    )
    model = CamembertModel(config, add_pooling_layer=False)
    near_matching(model, _generator())
    return _save(model, tokenizer, "camembert", folder)


def save_t5(tokenizer: Tokenizer, sizes: EncoderDecoder, folder: Path, *, version: str) -> int:
    """Write an encoder-decoder of random weights that starts near copying; returns its parameters.

    Args:
        tokenizer: mT5's, or the one that all others share.
        sizes: of the network.
        folder: to write to.
        version: `t5`; `flan_t5`, which is T5 v1.1 (gated feed-forward, output embeddings of its own); or `mt5`.
    """
    gated = {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}
    shape: dict[str, Any] = {
        "d_model": sizes.width,
        "d_kv": sizes.width // sizes.heads,
        "d_ff": sizes.feed_forward,
        "num_layers": sizes.layers,
        "num_decoder_layers": sizes.decoder_layers,
        "num_heads": sizes.heads,
        "dropout_rate": sizes.dropout,
        "decoder_start_token_id": tokenizer.token_to_id(PADDING),
        **({} if version == "t5" else gated),
        **_ids(tokenizer),
    }
    model: Any = (
        MT5ForConditionalGeneration(MT5Config(**shape))
        if version == "mt5"
        else T5ForConditionalGeneration(T5Config(**shape))
    )
    near_copying(model, _generator())
    return _save(model, tokenizer, "t5", folder)


def save_llama(tokenizer: Tokenizer, sizes: Decoder, folder: Path) -> int:
    """Write a Llama language model of random weights; returns its parameters."""
    config = LlamaConfig(
        hidden_size=sizes.width,
        num_hidden_layers=sizes.layers,
        num_attention_heads=sizes.heads,
        num_key_value_heads=sizes.heads,
        intermediate_size=sizes.feed_forward,
        max_position_embeddings=POSITIONS,
        initializer_range=sizes.width**-0.5,  # LoRA leaves the head as it is: at 0.02 it could not tell tokens apart
        **_ids(tokenizer),
    )
    return _save(LlamaForCausalLM(config), tokenizer, "llama", folder)


def _generator() -> torch.Generator:
    return torch.Generator().manual_seed(torch.initial_seed())


def _ids(tokenizer: Tokenizer) -> dict[str, Any]:
    names = {"pad_token_id": PADDING, "bos_token_id": START, "eos_token_id": END}
    return {
        "vocab_size": tokenizer.get_vocab_size(),
        **{key: tokenizer.token_to_id(name) for key, name in names.items()},
    }


def _save(model: PreTrainedModel, tokenizer: Tokenizer, template: str, folder: Path) -> int:
    model.save_pretrained(folder)
    save_tokenizer(tokenizer, template, folder)
    return sum(weights.numel() for weights in model.parameters())
