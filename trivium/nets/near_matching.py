"""A start near matching for a small encoder that learns to read from nothing (compare near_copying.py).

What pretraining gives a reader above all is that a word of the context attends to the same word of the question. With
random weights a small encoder needs minutes to find that. Here the first layer starts with it: embeddings are
x = word ± u, with u for the question and −u for the context, and

    query = s·x,   key = s·(x − 2 û ûᵀ x),   û = u / |u|,

so that a token attends to the other side, and there to its own word. What it finds is added in half of the heads and
taken off in the others, where it cancels the word if both are the same.
"""

import torch
from torch import nn

SHARPNESS = 1.3  # s
WORD, SIDE = 0.05, 0.05  # standard deviation of words; size of u in each dimension
NOISE = 0.1


@torch.no_grad()
def near_matching(model: nn.Module, generator: torch.Generator) -> None:
    """Overwrite the embeddings of words and segments and the first layer's attention, in place.

    Args:
        model: a BERT, CamemBERT or the like with two segments and an even width.
        generator: of words, u and noise.

    Raises:
        ValueError: fewer than two segments.
    """
    words = model.get_submodule("embeddings.word_embeddings").get_parameter("weight")
    segments = model.get_submodule("embeddings.token_type_embeddings").get_parameter("weight")
    width = words.shape[1]
    if len(segments) < 2:
        raise ValueError(f"near_matching needs two segments, got {len(segments)}")
    # As many ones as minus ones: layer normalisation takes the mean off.
    signs = torch.ones(width)
    signs[torch.randperm(width, generator=generator)[: width // 2]] = -1
    words.copy_(WORD * torch.randn(words.shape, generator=generator))
    segments[:2].copy_(SIDE * torch.stack([signs, -signs]))

    identity = torch.eye(width)
    mirror = identity - 2 * torch.outer(signs, signs) / width
    halves = torch.ones(width)
    halves[: width // 2] = -1
    attention = "encoder.layer.0.attention"
    for name, start in (
        ("self.query", SHARPNESS * identity),
        ("self.key", SHARPNESS * mirror),
        ("self.value", identity),
        ("output.dense", torch.diag(halves)),
    ):
        noise = torch.randn(width, width, generator=generator) * (NOISE * width**-0.5)
        model.get_submodule(f"{attention}.{name}").get_parameter("weight").copy_(start + noise)
