"""Where and how tensors are computed: device, precision, batches that fit, batches over several processes."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
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
    """The first GPU, else the CPU, with a warning at a scale that wants a GPU."""
    if torch.cuda.is_available():
        return torch.device("cuda")
    warn_without_gpu()
    return torch.device("cpu")


def autocast(device: torch.device) -> AbstractContextManager[None]:
    """Full precision where `run.portable` asks for it; else bf16 on a GPU, and on a CPU that is told to be fast.

    Without bf16 instructions bf16 on a CPU is emulated, and slower than float32: there it stays in full precision.
    """
    if device.type == "cuda" and not is_portable():
        return torch.autocast("cuda", dtype=torch.bfloat16)
    if device.type == "cpu" and is_fast() and cpu_has_bf16():
        return _cpu_bf16()
    return nullcontext()


@contextmanager
def _cpu_bf16() -> Iterator[None]:
    # The gradient of torch's fused attention takes ten times as long in bf16 on a CPU as that of plain products.
    attend = sdpa_kernel(SDPBackend.MATH) if torch.is_grad_enabled() else nullcontext()
    with torch.autocast("cpu", dtype=torch.bfloat16), attend:
        yield


def inference_dtype() -> torch.dtype:
    """The type of frozen weights too large for full precision: bf16 where `autocast` computes with it on a GPU."""
    return torch.bfloat16 if pick_device().type == "cuda" and not is_portable() else torch.float32


def attention() -> str:
    """How networks of transformers compute attention: fused on a GPU; on a CPU by plain products, see `_cpu_bf16`."""
    return "sdpa" if pick_device().type == "cuda" else "eager"


def cpu_has_bf16() -> bool:
    """Whether this processor multiplies bf16 matrices itself."""
    capabilities = torch.cpu.get_capabilities()
    return bool(capabilities.get("avx512_bf16") or capabilities.get("amx_bf16"))


def halving_batches(items: Sequence[T], batch_size: int, function: Callable[[Sequence[T]], R]) -> Iterator[R]:
    """Apply `function` to successive batches; when GPU memory runs out, halve the batch and go on from there.

    Raises:
        torch.OutOfMemoryError: a single item does not fit.
    """
    start = 0
    while start < len(items):
        try:
            result = function(items[start : start + batch_size])
        except torch.OutOfMemoryError:
            if batch_size == 1:
                raise
            torch.cuda.empty_cache()
            batch_size = (batch_size + 1) // 2
            print(f"out of GPU memory: batches of {batch_size} from here on")
            continue
        yield result
        start += batch_size


def halving(size: int, attempt: Callable[[int], R], *, unit: str) -> tuple[R, int]:
    """Do something with so many things at a time; when GPU memory runs out, start again with half of them.

    Args:
        size: how many things at a time at first.
        attempt: does the whole with so many at a time; it begins by clearing what an attempt before it left, such as
            gradients.
        unit: what the things are called, for the message.

    Returns:
        What `attempt` gave, and the size to go on with.

    Raises:
        torch.OutOfMemoryError: a single one does not fit.
    """
    while True:
        try:
            return attempt(size), size
        except torch.OutOfMemoryError:
            if size == 1:
                raise
        # Outside the handler: the error holds on to the tensors of the failed attempt.
        torch.cuda.empty_cache()
        size = (size + 1) // 2
        print(f"out of GPU memory: mini-batches of {size} {unit} from here on")


def lengthened(network: Any, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """What a frozen text network is given on a CPU: padding to one of few lengths, whatever stands beside a text.

    Matrices of other shapes are multiplied by other kernels, and sums differ in their last bits. Under `run.portable`
    and at these lengths they do not: a text has one vector, alone and in a batch (tests/nets/test_one_vector.py).

    Args:
        network: of transformers; its configuration says how many positions it has.
        inputs: each (texts, tokens): ids, mask, types; 0 is put behind them.
    """
    tokens = inputs[0].shape[1]
    # Networks in the manner of RoBERTa count positions from the one behind their padding's id.
    first = getattr(getattr(network.base_model, "embeddings", None), "padding_idx", -1) + 1
    most = (getattr(network.config, "max_position_embeddings", None) or LENGTHS.stop) - first
    padded_length = min(next((length for length in LENGTHS if length >= tokens), tokens), most)
    if inputs[0].device.type != "cpu" or torch.is_grad_enabled() or not is_portable() or padded_length <= tokens:
        return inputs
    return tuple(torch.nn.functional.pad(tensor, (0, padded_length - tokens)) for tensor in inputs)


def linear(layer: torch.nn.Linear, rows: torch.Tensor) -> torch.Tensor:
    """A head's layer, in float32; under `run.portable` on a CPU in float64: the kernels for a few rows round otherwise.

    Args:
        layer: of a head.
        rows: (n, width) float32.
    """
    if rows.device.type != "cpu" or torch.is_grad_enabled() or not is_portable():
        return layer(rows)
    bias = None if layer.bias is None else layer.bias.double()
    return torch.nn.functional.linear(rows.double(), layer.weight.double(), bias).float()


def length_sorted_batches(lengths: Sequence[int], batch_size: int) -> list[np.ndarray]:
    """Indices in batches of similar length, longest first, so that memory trouble shows at once and padding is rare."""
    order = np.argsort(-np.asarray(lengths), kind="stable")
    return [order[start : start + batch_size] for start in range(0, len(order), batch_size)]
