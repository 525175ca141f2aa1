"""A network with Fourier convolutions in bf16, its Fourier transforms in float32. The worker imports it: torch only.

LaMa is a TorchScript module, whose operations cannot be rewritten; autocast reaches them. It has no rule for Fourier
transforms on a GPU, which take no bf16, nor for making complex numbers: both get one here.
"""

from functools import cache, partial
from typing import Any

import torch

_IN_FLOAT32 = ("fft_rfftn", "fft_irfftn", "complex")


def in_bf16(device: str) -> torch.autocast:
    """A context in which this kind of device ("cuda", "cpu") computes in bf16, but Fourier transforms in float32."""
    _rules(device)
    return torch.autocast(device, dtype=torch.bfloat16)


@cache  # the rules hold as long as the library is referred to
def _rules(device: str) -> torch.library.Library:
    library = torch.library.Library("aten", "IMPL")
    for name in _IN_FLOAT32:
        operation = getattr(torch.ops.aten, name).default
        library.impl(name, partial(_in_float32, operation, device), f"Autocast{device.upper()}")
    return library


def _in_float32(operation: Any, device: str, *arguments: Any, **named: Any) -> Any:
    whole = [argument.float() if _is_real(argument) else argument for argument in arguments]
    with torch.autocast(device, enabled=False):
        return operation(*whole, **named)


def _is_real(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point()
