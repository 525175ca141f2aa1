from ctypes.util import find_library

import numpy as np
import pytest
import torch
from onnx import TensorProto, helper
from onnxruntime.capi.onnxruntime_pybind11_state import Fail

from trivium.core.errors import BadInput
from trivium.vision.faces import open_session, torch_memory_errors

no_driver = pytest.mark.skipif(find_library("cuda") is not None, reason="needs a machine without CUDA's driver")


@pytest.fixture(scope="module")
def zeros() -> bytes:
    """A model that makes as many zeros as it is told."""
    graph = helper.make_graph(
        [helper.make_node("ConstantOfShape", ["shape"], ["filled"])],
        "zeros",
        [helper.make_tensor_value_info("shape", TensorProto.INT64, [1])],
        [helper.make_tensor_value_info("filled", TensorProto.FLOAT, ["n"])],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9).SerializeToString()


def test_its_lack_of_memory_is_torchs(zeros: bytes) -> None:
    session = open_session(zeros, torch.device("cpu"))
    assert session.run(None, {"shape": np.array([3])})[0].tolist() == [0, 0, 0]
    with pytest.raises(torch.OutOfMemoryError, match="buffer of size 4503599627370496"), torch_memory_errors():
        session.run(None, {"shape": np.array([1 << 50])})


@pytest.mark.parametrize(
    "words",
    [
        "CUDA failure 2: out of memory ; GPU=0 ; expr=cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);",
        "CUBLAS failure 3: CUBLAS_STATUS_ALLOC_FAILED ; GPU=0 ; expr=cublasCreate(&cublas_handle_);",
    ],
)
def test_cudas_words_for_it(words: str) -> None:
    with pytest.raises(torch.OutOfMemoryError, match="failure"), torch_memory_errors():
        raise Fail(f"[ONNXRuntimeError] : 1 : FAIL : {words}")


def test_other_errors_stay_what_they_are(zeros: bytes) -> None:
    with pytest.raises(ValueError, match="shape"), torch_memory_errors():
        open_session(zeros, torch.device("cpu")).run(None, {})


@no_driver
def test_a_gpu_that_cannot_be_used_is_not_passed_over(zeros: bytes, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BadInput, match=r"cannot use the GPU;.*`make setup`.*CUDA_VISIBLE_DEVICES="):
        open_session(zeros, torch.device("cuda"))
    assert capfd.readouterr().out == ""


@pytest.mark.gpu
def test_gpu(zeros: bytes) -> None:
    open_session(zeros, torch.device("cuda"))
