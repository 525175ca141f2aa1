"""Attention's gradient as our trainings compute it, beside torch's and plain products: `python -m bench.attention`.

On short texts, forward and backward, attention alone and a BERT layer of MiniLM's shape; in bf16 where `autocast`
computes with it, else in float32. The popular way is what torch and transformers choose, the fused kernel. An expert
writes the softmax between two products, and the layer around it, in torch's functions.
"""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.functional import scaled_dot_product_attention
from transformers import BertConfig, BertModel

from bench import harness
from trivium.core.arithmetic import PORTABLE
from trivium.nets.device import attention, autocast, cpu_has_bf16, pick_device

TEXTS, HEADS, TOKENS, WIDTH = 24, 12, 72, 32
CLOSE = {torch.bfloat16: 0.03, torch.float32: 1e-4}  # of the largest gradient
KERNEL_WHY = (
    "torch's kernels take masks, too: the fused one computes the softmax again for the gradient, the other one scales "
    "queries and keys apart"
)
LAYER_WHY = "transformers' layer projects queries, keys and values one by one"

Attend = Callable[[Tensor, Tensor, Tensor], Tensor]


def precision(device: torch.device) -> torch.dtype:
    """What `autocast` computes with on this device."""
    return torch.bfloat16 if device.type == "cuda" or cpu_has_bf16() else torch.float32


def mixed(device: torch.device) -> AbstractContextManager[object]:
    """The same precision as most would set it, whichever kernel follows from it."""
    lower = precision(device) != torch.float32
    return torch.autocast(device.type, dtype=precision(device)) if lower else nullcontext()


def queries_keys_values(device: torch.device) -> list[Tensor]:
    """Three tensors (texts, heads, tokens, width), as a layer makes them."""
    torch.manual_seed(0)
    return [torch.randn(TEXTS, HEADS, TOKENS, WIDTH, device=device).requires_grad_() for _ in range(3)]


def products(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attention as an expert would write it."""
    return (query * WIDTH**-0.5 @ key.mT).softmax(-1) @ value


def ours(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attention as `autocast` has torch compute it."""
    with autocast(query.device):
        return scaled_dot_product_attention(query, key, value)


def gradients(parts: list[Tensor], attend: Attend) -> list[Tensor]:
    """Of the sum of what is attended to, by the three parts."""
    out = attend(*(part.to(precision(part.device)) for part in parts))
    return list(torch.autograd.grad(out.float().sum(), parts))


def network(implementation: str, device: torch.device) -> BertModel:
    """A layer of MiniLM's size with transformers' attention of this name; its weights are always the same."""
    config = BertConfig(
        hidden_size=HEADS * WIDTH, num_hidden_layers=1, num_attention_heads=HEADS, intermediate_size=4 * HEADS * WIDTH,
        vocab_size=100, attention_probs_dropout_prob=0, hidden_dropout_prob=0,  # so that gradients can be compared
    )  # fmt: skip
    torch.manual_seed(0)
    model = BertModel(config, add_pooling_layer=False)
    model.set_attn_implementation(implementation)
    torch.nn.Module.to(model, device)
    return model


def states_of(model: BertModel, ids: Tensor) -> Tensor:
    """What transformers gives."""
    states: Tensor = model(input_ids=ids).last_hidden_state
    return states


def states_by_hand(model: BertModel, ids: Tensor) -> Tensor:
    """The same as an expert would write it."""
    states = model.embeddings(ids)
    (layer,) = model.encoder.layer
    inside = layer.attention.self
    projections = (inside.query, inside.key, inside.value)
    weight, bias = (torch.cat([getattr(each, name) for each in projections]) for name in ("weight", "bias"))
    parts = functional.linear(states, weight, bias).unflatten(-1, (3, HEADS, WIDTH)).permute(2, 0, 3, 1, 4)
    states = layer.attention.output(products(*parts).transpose(1, 2).flatten(2), states)
    final: Tensor = layer.output(layer.intermediate(states), states)
    return final


def weight_gradients(
    model: BertModel,
    ids: Tensor,
    forward: Callable[[BertModel, Tensor], Tensor],
    context: Callable[[torch.device], AbstractContextManager[object]],
) -> list[Tensor]:
    """Of the mean square of a layer's states, by its weights."""
    model.zero_grad(set_to_none=True)
    with context(model.device):
        loss = forward(model, ids).float().square().mean()
    loss.backward()
    return [weights.grad for weights in model.parameters() if weights.grad is not None]


def largest_difference(found: list[Tensor], others: list[Tensor]) -> float:
    """Of the gradients, as a share of the largest.

    Raises:
        AssertionError: they are others.
    """
    scale = max(float(gradient.abs().max()) for gradient in found)
    differences = [float((a - b).abs().max()) / scale for a, b in zip(found, others, strict=True)]
    if max(differences) > CLOSE[precision(found[0].device)]:
        raise AssertionError(f"gradients differ by {max(differences):.2g} of the largest")
    return max(differences)


def gflops(device: torch.device) -> float:
    """Of torch's products in this bench's precision and threads, where `harness.limits` measures float32 on all."""
    side = torch.randn(2048, 2048, device=device, dtype=precision(device))
    return harness.gflop(lambda: side @ side) / harness.measure(
        lambda: (side @ side)[0, 0].item(), repeats=harness.TRIALS
    )


def main() -> None:
    """Race the kernel and the layer, after all three have given the same gradients."""
    os.environ[PORTABLE] = "false"
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # as `make repro` gives to each stage
    device = pick_device()
    parts = queries_keys_values(device)
    ids = torch.randint(100, (TEXTS, TOKENS), device=device)
    kernel = [partial(gradients, parts, each) for each in (ours, scaled_dot_product_attention, products)]
    layer = [
        partial(weight_gradients, network(attention(), device), ids, states_of, autocast),
        partial(weight_gradients, network("sdpa", device), ids, states_of, mixed),
        partial(weight_gradients, network("eager", device), ids, states_by_hand, mixed),
    ]
    of_float32 = harness.limits().gflops / gflops(device)  # products that float32's take the time of
    races, differences = {}, {}
    for name, peer, (own, popular, expert), why in (
        ("kernel", "torch", kernel, KERNEL_WHY),
        ("layer", "transformers", layer, LAYER_WHY),
    ):
        found = own()
        differences[name] = max(largest_difference(found, other()) for other in (popular, expert))
        races[f"{name}, {TEXTS} texts of {TOKENS} tokens"] = harness.race(
            own,
            harness.Peer(peer, popular),
            harness.Peer("plain products", expert),
            gflop=harness.gflop(expert) * of_float32,
            gigabytes=2e-9 * sum(gradient.nbytes for gradient in found),
            why=why,
        )
    torch.set_num_threads(threads)
    harness.write(
        "attention",
        {
            "texts": TEXTS,
            "tokens": TOKENS,
            "device": device.type,
            "precision": str(precision(device)).removeprefix("torch."),
            "races": races,
            **{f"largest_{name}_gradient_difference": value for name, value in differences.items()},
            "versions": harness.versions("torch", "transformers"),
        },
    )


if __name__ == "__main__":
    main()
