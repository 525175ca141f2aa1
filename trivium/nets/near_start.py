"""Initial weights for small networks without pretraining (sample-worlds.md): near copying, and near matching.

**Near copying**, of encoder-decoders. From pretraining T5 learns above all that its decoder can write what it attends
to and continue there. A small network with random weights needs minutes of training for that; here it starts with a
copier built by hand, in five parts:

1. Value and output of every cross-attention start near the identity, W = I + noise · N(0, 1/inputs): an attended
   token's vector arrives as it is, and the output embeddings, which T5 shares with the input's, name it.
2. One head of the encoder looks at the token before, by its relative position, and writes the first n parts of that
   token's vector beside those of its own, into parts n … 2n − 1.
3. The decoder subtracts the token just written from its own vector, and writes its first n parts into parts
   n … 2n − 1: input and output share their embeddings, so the token would otherwise be written again.
4. The decoder's cross-attention compares parts n … 2n − 1 of both sides: it finds what follows the token just written
   (an induction head, Olsson et al. 2022).
5. Other layers write little at first, so that vectors stay near their embeddings, and logits stay small.

Training learns where to begin, where to stop, and which of several places to copy from.

**Near matching**, of encoders. From pretraining a reader learns above all that a word of the context attends to the
same word of the question. With random weights a small encoder needs minutes to learn that. Here the first layer starts
with it: embeddings are x = word ± u, with u for the question and −u for the context, and

    query = s·x,   key = s·(x − 2 û ûᵀ x),   û = u / |u|,

so that a token attends to the other side, and there to its own word. The word attended to is added in half of the heads
and subtracted in the others, where it cancels the token's own word if both are the same.
"""

import torch
from torch import Tensor, nn

NOISE = 0.1
SMALL = 0.3  # factor of the usual initial weights: other layers' outputs, and the random part of what is compared
BEFORE = 6.0  # log-odds of the token before, and of the token itself where it is subtracted
MATCH = 0.25  # weight of compared parts in queries: the rest after a subtraction counts double once normalised
CALM = 0.15  # factor of logits that T5 v1.1 and mT5 do not scale


@torch.no_grad()
def near_copying(model: nn.Module, generator: torch.Generator) -> None:
    """Change the weights of an untrained T5 or MT5ForConditionalGeneration in place, as described above.

    `generator` draws the noise. `ValueError`: the model has no cross-attention of T5's.
    """
    parts = dict(model.named_modules())
    crossing = [part for name, part in parts.items() if name.endswith("EncDecAttention")]
    if not crossing:
        raise ValueError(f"no cross-attention of T5's in {type(model).__name__}")
    for name, parameter in model.named_parameters():
        if name.endswith((".wo.weight", "SelfAttention.o.weight")):
            parameter.mul_(SMALL)
    if not getattr(model.config, "scale_decoder_outputs", False):
        _weight(parts["decoder"], "final_layer_norm").mul_(CALM)
    looking = parts["encoder.block.0.layer.0.SelfAttention"]
    heads, size, width = (getattr(model.config, name) for name in ("num_heads", "d_kv", "d_model"))
    compared = min(size, width // 2)
    one = torch.eye(compared)
    _look_before(looking, size, one)
    _take_off(parts["decoder.block.0.layer.0.SelfAttention"], one)
    for attention in crossing:
        for name in ("v", "o"):
            weight = _weight(attention, name)
            outputs, inputs = weight.shape
            noise = torch.randn(outputs, inputs, generator=generator) * (NOISE * inputs**-0.5)
            weight.copy_(torch.eye(outputs, inputs) + noise)
        for name in ("q", "k"):
            weight = _weight(attention, name)
            weight.mul_(SMALL)
            for head in range(heads):
                rows = slice(head * size, head * size + compared)
                weight[rows, compared : 2 * compared] += one * (MATCH if name == "q" else 1.0)


def _look_before(attention: nn.Module, size: int, one: Tensor) -> None:
    """Make the first head attend to the token before, and copy its first parts to the second ones."""
    compared = len(one)
    _weight(attention, "relative_attention_bias")[1, 0] += BEFORE  # bucket 1: one place to the left
    _weight(attention, "q")[:size] *= NOISE
    value, output = _weight(attention, "v"), _weight(attention, "o")
    value[:size], output[:, :size] = 0, 0
    value[:compared, :compared] = one
    output[compared : 2 * compared, :compared] = one


def _take_off(attention: nn.Module, one: Tensor) -> None:
    """Make every head attend to the token itself and subtract its vector; the first head copies the compared parts."""
    compared = len(one)
    _weight(attention, "relative_attention_bias")[0] += BEFORE  # bucket 0: the token itself
    value, output = _weight(attention, "v"), _weight(attention, "o")
    for weight in (_weight(attention, "q"), value, output):
        weight.mul_(NOISE)
    value += torch.eye(*value.shape)
    output -= torch.eye(*output.shape)
    output[compared : 2 * compared, :compared] += one


def _weight(part: nn.Module, name: str) -> Tensor:
    return part.get_submodule(name).get_parameter("weight")


SHARPNESS = 1.3  # s
WORD, SIDE = 0.05, 0.05  # standard deviation of words; size of u in each dimension


@torch.no_grad()
def near_matching(model: nn.Module, generator: torch.Generator) -> None:
    """Overwrite the embeddings of words and segments and the first layer's attention of a BERT or the like, in place.

    Its width is even. `generator` draws words, u and noise. `ValueError`: fewer than two segments.
    """
    words = model.get_submodule("embeddings.word_embeddings").get_parameter("weight")
    segments = model.get_submodule("embeddings.token_type_embeddings").get_parameter("weight")
    width = words.shape[1]
    if len(segments) < 2:
        raise ValueError(f"near_matching needs two segments, got {len(segments)}")
    # As many ones as minus ones: layer normalisation subtracts the mean.
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
