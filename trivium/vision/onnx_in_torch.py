"""An ONNX graph computed by torch, for the operators of ArcFace's networks.

ONNX Runtime chooses its kernels by the processor, and has no setting against it; torch has (see
`trivium/core/arithmetic.py`). The arithmetic is that of ONNX's operators, opset 13 to 20
(https://onnx.ai/onnx/operators/), up to the order of sums.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from torch.nn import functional

from trivium.core.errors import BadInput

Attributes = Mapping[str, Any]


def _window(attributes: Attributes) -> dict[str, Any]:
    """Stride and padding of a convolution or a pooling."""
    pads = attributes.get("pads", [0, 0, 0, 0])
    if pads[:2] != pads[2:] or attributes.get("auto_pad", b"NOTSET") != b"NOTSET" or attributes.get("ceil_mode"):
        raise BadInput("padding that differs between the sides of a picture", got=list(pads))
    return {"stride": attributes.get("strides", 1), "padding": pads[:2]}


def _conv(
    attributes: Attributes, pixels: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None
) -> torch.Tensor:
    dilation, groups = attributes.get("dilations", 1), attributes.get("group", 1)
    return functional.conv2d(pixels, weight, bias, dilation=dilation, groups=groups, **_window(attributes))


def _average_pool(attributes: Attributes, pixels: torch.Tensor) -> torch.Tensor:
    whole = bool(attributes.get("count_include_pad", 0))
    return functional.avg_pool2d(pixels, attributes["kernel_shape"], count_include_pad=whole, **_window(attributes))


def _batch_norm(attributes: Attributes, values: torch.Tensor, *four: torch.Tensor) -> torch.Tensor:
    scale, bias, mean, variance = four
    return functional.batch_norm(values, mean, variance, scale, bias, eps=attributes.get("epsilon", 1e-5))


def _prelu(_: Attributes, values: torch.Tensor, slope: torch.Tensor) -> torch.Tensor:
    return torch.where(values < 0, values * slope, values)  # the slope is broadcast, as (channels, 1, 1)


def _gemm(attributes: Attributes, a: torch.Tensor, b: torch.Tensor, c: torch.Tensor | None = None) -> torch.Tensor:
    a, b = a.T if attributes.get("transA") else a, b.T if attributes.get("transB") else b
    product = attributes.get("alpha", 1.0) * (a @ b)
    return product if c is None else product + attributes.get("beta", 1.0) * c


OPERATORS: Mapping[str, Callable[..., torch.Tensor]] = {
    "Add": lambda _, a, b: a + b,
    "AveragePool": _average_pool,
    "BatchNormalization": _batch_norm,
    "Constant": lambda attributes: torch.from_numpy(np.array(numpy_helper.to_array(attributes["value"]))),
    "Conv": _conv,
    "Dropout": lambda _, values, *rest: values,
    "Flatten": lambda attributes, values: values.flatten(attributes.get("axis", 1)),
    "Gemm": _gemm,
    "GlobalAveragePool": lambda _, pixels: pixels.mean((2, 3), keepdim=True),
    "Identity": lambda _, values: values,
    "MatMul": lambda _, a, b: a @ b,
    "Mul": lambda _, a, b: a * b,
    "PRelu": _prelu,
    "Relu": lambda _, values: values.relu(),
    "Sub": lambda _, a, b: a - b,
}


@dataclass(frozen=True)
class Value:
    """An input or output of the graph, with the names that ONNX Runtime gives to its parts."""

    name: str
    shape: list[int | str]


class TorchSession:
    """What InsightFace asks of an ONNX Runtime session, on the processor, by torch.

    Args:
        model: an ONNX file, or its bytes.

    Raises:
        BadInput: an operator that is not in `OPERATORS`.
        Exception: the model cannot be read; protobuf has its own errors.
    """

    def __init__(self, model: Path | bytes) -> None:
        graph = (onnx.load_model_from_string(model) if isinstance(model, bytes) else onnx.load(str(model))).graph
        unknown = sorted({node.op_type for node in graph.node} - OPERATORS.keys())
        if unknown:
            raise BadInput(
                "an ONNX graph with operators that are not computed portably",
                got=unknown,
                expected="run.portable: false, with which ONNX Runtime computes it",
                choices=OPERATORS,
            )
        constants = {tensor.name: np.array(numpy_helper.to_array(tensor)) for tensor in graph.initializer}
        self._constants = {name: torch.from_numpy(array) for name, array in constants.items()}
        self._nodes = [
            (node, {entry.name: onnx.helper.get_attribute_value(entry) for entry in node.attribute})
            for node in graph.node
        ]
        self._inputs = [_value(value) for value in graph.input if value.name not in constants]
        self._outputs = [_value(value) for value in graph.output]

    def get_inputs(self) -> list[Value]:
        """The graph's inputs, without its weights."""
        return self._inputs

    def get_outputs(self) -> list[Value]:
        """The graph's outputs."""
        return self._outputs

    @torch.inference_mode()
    def run(self, outputs: Sequence[str] | None, inputs: Mapping[str, NDArray]) -> list[NDArray]:
        """Compute outputs, all of them when none is named, from inputs by name."""
        values = self._constants | {name: torch.from_numpy(np.asarray(array)) for name, array in inputs.items()}
        for node, attributes in self._nodes:
            arguments = [values[name] for name in node.input if name]
            values[node.output[0]] = OPERATORS[node.op_type](attributes, *arguments)
        return [values[name].numpy() for name in outputs or [value.name for value in self._outputs]]


def _value(value: onnx.ValueInfoProto) -> Value:
    shape = value.type.tensor_type.shape.dim
    return Value(value.name, [size.dim_param or size.dim_value for size in shape])
