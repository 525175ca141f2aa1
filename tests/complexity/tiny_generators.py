"""Generative base models small enough for a test."""

import torch

from sample.encoders.french import Decoder, EncoderDecoder, save_llama, save_t5
from tests.complexity.tiny_readers import OWN, tokenizer
from tests.complexity.tiny_readers import settings as extractive_settings
from trivium.complexity.readers.kinds.causal import CausalSettings
from trivium.complexity.readers.kinds.seq2seq import Seq2SeqSettings

COMMON = {
    key: value
    for key, value in extractive_settings().model_dump().items()
    if key not in ("stride", "layers", "frozen_layers", "frozen_embeddings")
} | {"max_tokens": 96, "answer_tokens": 16}


def write_t5(folder, version="mt5", width=32, layers=1):
    torch.manual_seed(0)
    sizes = EncoderDecoder(layers=layers, decoder_layers=1, width=width, heads=2, feed_forward=2 * width, dropout=0.1)
    save_t5(tokenizer(), sizes, folder, version=version)
    return folder


def write_llama(folder, width=32):
    torch.manual_seed(0)
    save_llama(tokenizer(), Decoder(layers=2, width=width, heads=2, feed_forward=2 * width), folder)
    return folder


def seq2seq_settings(**changes) -> Seq2SeqSettings:
    return Seq2SeqSettings.model_validate(COMMON | {"kind": "seq2seq"} | OWN["seq2seq"] | changes)


def causal_settings(**changes) -> CausalSettings:
    return CausalSettings.model_validate(COMMON | {"kind": "causal"} | OWN["causal"] | changes)
