"""Device and precision of computations, and batches that fit into memory."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import Any, TypeVar

import numpy as np
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from trivium.core.arithmetic import is_fast, is_portable
from trivium.core.engine import warn_without_gpu

T = TypeVar("T")
R = TypeVar("R")
LENGTHS = range(64, 2**15, 16)  # measured with MKL's kernels for AVX2 and AVX-512, widths of 128 to 768


def pick_device() -> torch.device:
    """Return the first GPU, or else the CPU, with a warning at a scale that needs a GPU."""
    if torch.cuda.is_available():
        return torch.device("cuda")
    warn_without_gpu()
    return torch.device("cpu")


def autocast(device: torch.device) -> AbstractContextManager[None]:
    """Set the precision: full under `run.portable`; else bf16 on a GPU, and on a CPU where `is_fast` is set.

    A CPU without bf16 instructions emulates them, slower than float32, so it stays in full precision.
    """
    if device.type == "cuda" and not is_portable():
        return torch.autocast("cuda", dtype=torch.bfloat16)
    if device.type == "cpu" and is_fast() and cpu_has_bf16():
        return _cpu_bf16()
    return nullcontext()


@contextmanager
def _cpu_bf16() -> Iterator[None]:
    # In bf16 on a CPU, the gradient of torch's fused attention takes ten times as long as that of plain products.
    attend = sdpa_kernel(SDPBackend.MATH) if torch.is_grad_enabled() else nullcontext()
    with torch.autocast("cpu", dtype=torch.bfloat16), attend:
        yield


def inference_dtype() -> torch.dtype:
    """Return the type of frozen weights too large for full precision: bf16 where `autocast` uses it on a GPU."""
    return torch.bfloat16 if pick_device().type == "cuda" and not is_portable() else torch.float32


def attention() -> str:
    """Name transformers' implementation of attention: fused on a GPU, plain products on a CPU (see `_cpu_bf16`)."""
    return "sdpa" if pick_device().type == "cuda" else "eager"


def cpu_has_bf16() -> bool:
    """Whether this processor has instructions for products of bf16 matrices."""
    capabilities = torch.cpu.get_capabilities()
    return bool(capabilities.get("avx512_bf16") or capabilities.get("amx_bf16"))


def halving_batches(items: Sequence[T], batch_size: int, function: Callable[[Sequence[T]], R]) -> Iterator[R]:
    """Apply `function` to successive batches; when GPU memory runs out, halve the batch and go on from there.

    `torch.OutOfMemoryError`: a single item does not fit.
    """

    def apply(start: int, size: int) -> R:
        return function(items[start : start + size])

    start = 0
    while start < len(items):
        result, batch_size = halve_until_it_fits(batch_size, partial(apply, start), unit="items")
        yield result
        start += batch_size


def halve_until_it_fits(size: int, attempt: Callable[[int], R], *, unit: str) -> tuple[R, int]:
    """Call `attempt` with a number of items at once; when GPU memory runs out, call it again with half of it.

    `attempt` processes all items; first it clears what an earlier attempt left, such as gradients. `unit` names the
    items in the message. Returns its result, and the size that fits; `torch.OutOfMemoryError`: not even one does.
    """
    while True:
        try:
            return attempt(size), size
        except torch.OutOfMemoryError:
            if size == 1:
                raise
        # Outside the handler, where the error would keep the tensors of the failed attempt alive.
        torch.cuda.empty_cache()
        size = (size + 1) // 2
        print(f"out of GPU memory: mini-batches of {size} {unit} from here on")


def pad_inputs(network: Any, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Pad the inputs of a frozen text network on a CPU to one of few lengths, under `run.portable`.

    Matrices of other shapes are multiplied by other kernels, and sums differ in their last bits; at these lengths they
    do not. So a text has the same vector alone and in a batch (tests/nets/test_one_vector.py).

    Args:
        network: a network of transformers; its configuration has the number of positions.
        inputs: ids, mask and types, (texts, tokens) each; padded with 0 on the right.
    """
    tokens = inputs[0].shape[1]
    # RoBERTa and its kind count positions from the id of padding plus 1.
    first = getattr(getattr(network.base_model, "embeddings", None), "padding_idx", -1) + 1
    most = (getattr(network.config, "max_position_embeddings", None) or LENGTHS.stop) - first
    padded_length = min(next((length for length in LENGTHS if length >= tokens), tokens), most)
    if inputs[0].device.type != "cpu" or torch.is_grad_enabled() or not is_portable() or padded_length <= tokens:
        return inputs
    return tuple(torch.nn.functional.pad(tensor, (0, padded_length - tokens)) for tensor in inputs)


def linear(layer: torch.nn.Linear, rows: torch.Tensor) -> torch.Tensor:
    """Apply a head's layer to rows (n, width) float32; in float64 on a CPU under `run.portable`.

    In float32 the rounding of a row would depend on the others.
    """
    if rows.device.type != "cpu" or torch.is_grad_enabled() or not is_portable():
        return layer(rows)
    bias = None if layer.bias is None else layer.bias.double()
    return torch.nn.functional.linear(rows.double(), layer.weight.double(), bias).float()


def length_sorted_batches(lengths: Sequence[int], batch_size: int) -> list[np.ndarray]:
    """Group indices in batches of similar length, longest first: little padding, and memory runs out early or never."""
    order = np.argsort(-np.asarray(lengths), kind="stable")
    return [order[start : start + batch_size] for start in range(0, len(order), batch_size)]
