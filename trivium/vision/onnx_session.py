"""ONNX Runtime with torch's behaviour: no silent fallback to the CPU, and one error for lack of memory."""

import ctypes
import io
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

import onnxruntime
import torch

from trivium.core.errors import BadInput

CUDA = "CUDAExecutionProvider"
# Its arena's words, CUDA's, and those of cuBLAS and cuDNN; the class of the error differs from one to the other.
_OUT_OF_MEMORY = ("Failed to allocate memory", "out of memory", "ALLOC_FAILED")


def open_session(model: Path | bytes, device: torch.device) -> onnxruntime.InferenceSession:
    """Load a model to run on this device.

    Args:
        model: an ONNX file, or its bytes.
        device: ONNX Runtime's CUDA provider is used on a GPU.

    Raises:
        BadInput: ONNX Runtime cannot use the GPU; by itself it would go on without, many times slower.
        Exception: the model cannot be read; ONNX Runtime and protobuf each have their own.
    """
    providers = ["CPUExecutionProvider"]
    if device.type == "cuda":
        with redirect_stdout(io.StringIO()):  # what is missing, `_why_not` says
            onnxruntime.preload_dlls()  # CUDA's libraries come in packages, most of them with torch
        providers.insert(0, CUDA)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    source = model if isinstance(model, bytes) else str(model)
    session = onnxruntime.InferenceSession(source, options, providers=providers)
    session.disable_fallback()
    if device.type == "cuda" and CUDA not in session.get_providers():
        raise BadInput(
            f"ONNX Runtime cannot use the GPU: {_why_not()}",
            expected="the libraries that `make setup` installs, and a driver for their CUDA; "
            "with CUDA_VISIBLE_DEVICES= (empty) everything runs on the processor",
        )
    return session


def _why_not() -> str:
    """Name the library that cannot be loaded; only after a session was opened, which loads the provider."""
    if CUDA not in onnxruntime.get_available_providers():
        return "it was built without CUDA"
    folder = Path(onnxruntime.__file__).parent / "capi"
    try:
        ctypes.CDLL(str(folder / "libonnxruntime_providers_shared.so"), mode=ctypes.RTLD_GLOBAL)
        ctypes.CDLL(str(folder / "libonnxruntime_providers_cuda.so"))
    except OSError as error:
        return str(error)
    return "its own message above says why"


@contextmanager
def torch_memory_errors() -> Iterator[None]:
    """Turn ONNX Runtime's ways to run out of memory into torch's, which halves batches.

    Raises:
        torch.OutOfMemoryError: ONNX Runtime ran out of memory.
    """
    try:
        yield
    except Exception as error:
        if any(words in str(error) for words in _OUT_OF_MEMORY):
            raise torch.OutOfMemoryError(str(error)) from error
        raise
