"""Attention's gradient as our trainings compute it, against torch's fused kernel: `python -m bench.attention`.

A layer of MiniLM's shape on short texts, forward and backward, in bf16. On a CPU with bf16 instructions ours is plain
products, see `trivium.nets.device.attention`; elsewhere both are the same kernel.
"""

import os
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention
from transformers import BertConfig, BertModel

from bench import harness
from trivium.harness.arithmetic import PORTABLE
from trivium.nets.device import attention, autocast, pick_device

TEXTS, HEADS, TOKENS, WIDTH = 24, 12, 72, 32


def queries_keys_values(device: torch.device) -> list[Tensor]:
    """Three tensors (texts, heads, tokens, width), as a layer makes them."""
    torch.manual_seed(0)
    return [torch.randn(TEXTS, HEADS, TOKENS, WIDTH, device=device).requires_grad_() for _ in range(3)]


def kernel_gradient(parts: list[Tensor], *, fused: bool) -> Callable[[], tuple[Tensor, ...]]:
    """The gradients of a sum by the three parts, by torch's fused kernel or by what `autocast` chooses."""

    def run() -> tuple[Tensor, ...]:
        query, key, value = (part.bfloat16() for part in parts)
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION) if fused else autocast(parts[0].device):
            out = scaled_dot_product_attention(query, key, value)
        return torch.autograd.grad(out.float().sum(), parts)

    return run


def network_step(implementation: str, device: torch.device) -> Callable[[], object]:
    """Forward and backward of a BERT layer of MiniLM's size with this implementation of attention."""
    config = BertConfig(
        hidden_size=HEADS * WIDTH, num_hidden_layers=1, num_attention_heads=HEADS, intermediate_size=4 * HEADS * WIDTH,
        vocab_size=100, attention_probs_dropout_prob=0,  # with dropout torch's kernel is not the fused one
    )  # fmt: skip
    model = BertModel(config, add_pooling_layer=False)
    model.set_attn_implementation(implementation)
    torch.nn.Module.to(model, device)
    ids = torch.randint(100, (TEXTS, TOKENS), device=device)

    def run() -> object:
        model.zero_grad(set_to_none=True)
        with torch.autocast(device.type, dtype=torch.bfloat16):
            loss = model(input_ids=ids).last_hidden_state.float().square().mean()
        return loss.backward()

    return run


def main() -> None:
    """Time both, and see that their gradients agree."""
    os.environ[PORTABLE] = "false"
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # as `make repro` gives to each stage
    device = pick_device()
    parts = queries_keys_values(device)
    ours, theirs = kernel_gradient(parts, fused=False), kernel_gradient(parts, fused=True)
    differences = [float((a - b).abs().max()) for a, b in zip(ours(), theirs(), strict=True)]
    scale = max(float(gradient.abs().max()) for gradient in theirs())
    layer = harness.measure(network_step("sdpa", device), repeats=9)
    harness.write(
        "attention",
        {
            "texts": TEXTS,
            "tokens": TOKENS,
            "device": device.type,
            "kernel_times_faster": harness.measure(theirs, repeats=9) / harness.measure(ours, repeats=9),
            "layer_times_faster": layer / harness.measure(network_step(attention(), device), repeats=9),
            "largest_gradient_difference": max(differences) / scale,
            "versions": harness.versions("torch", "transformers"),
        },
    )
    torch.set_num_threads(threads)


if __name__ == "__main__":
    main()
