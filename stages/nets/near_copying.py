"""A start near copying for small encoder-decoders that learn to read from nothing (sample-worlds.md).

What pretraining gives T5 above all is that its decoder can write what it attends to. Random value and output matrices
must find that by chance, and a small network stays at guessing for minutes. Here they start near the identity,

    W = I + noise · N(0, 1/inputs),

so that an attended token's vector arrives as it is, and output embeddings, which T5 shares with the input's, name it.
"""

import torch
from torch import nn

NOISE = 0.1


@torch.no_grad()
def near_copying(model: nn.Module, generator: torch.Generator) -> None:
    """Overwrite the value and output matrices of every cross-attention, in place.

    Args:
        model: a T5 or MT5ForConditionalGeneration.
        generator: of the noise.

    Raises:
        ValueError: the model has no cross-attention of T5's.
    """
    found = [part for name, part in model.named_modules() if name.endswith("EncDecAttention")]
    if not found:
        raise ValueError(f"no cross-attention of T5's in {type(model).__name__}")
    for attention in found:
        for layer in (attention.get_submodule("v"), attention.get_submodule("o")):
            weight = layer.get_parameter("weight")
            outputs, inputs = weight.shape
            noise = torch.randn(outputs, inputs, generator=generator) * (NOISE * inputs**-0.5)
            weight.copy_(torch.eye(outputs, inputs) + noise)
