import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

from sample.encoders.arcface_stand_in import FaceNetwork, save_arcface
from trivium.core.arithmetic import PORTABLE
from trivium.core.errors import BadInput
from trivium.vision.encoders.arcface import write_mean_colour
from trivium.vision.onnx_in_torch import TorchSession
from trivium.vision.onnx_session import open_session

CROPS = np.random.default_rng(0).normal(size=(5, 3, 112, 112)).astype(np.float32)


def both(path, inputs):
    reference = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    ours = TorchSession(path)
    for ask in ("get_inputs", "get_outputs"):
        assert [v.name for v in getattr(ours, ask)()] == [v.name for v in getattr(reference, ask)()]
        assert [list(v.shape) for v in getattr(ours, ask)()] == [list(v.shape) for v in getattr(reference, ask)()]
    return ours.run(None, inputs)[0], reference.run(None, inputs)[0]


def settled(network):
    """Batch norms with statistics of their own, as after a training."""
    for module in network.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            nn.init.normal_(module.running_mean, std=0.1)
            nn.init.uniform_(module.running_var, 0.5, 2)
            nn.init.normal_(module.weight, 1, 0.1)
    return network.eval()


def test_the_stand_in_gives_what_onnx_runtime_gives(tmp_path):
    torch.manual_seed(0)
    save_arcface(settled(FaceNetwork(32, 8)), tmp_path / "model.onnx")
    ours, reference = both(tmp_path / "model.onnx", {"input": CROPS})
    np.testing.assert_allclose(ours, reference, atol=1e-5 * np.abs(reference).max())


def test_the_mean_colour_gives_what_onnx_runtime_gives(tmp_path):
    write_mean_colour(tmp_path / "model.onnx", np.random.default_rng(1).normal(size=(3, 8)))
    ours, reference = both(tmp_path / "model.onnx", {"input": CROPS})
    np.testing.assert_allclose(ours, reference, atol=1e-6)


class Block(nn.Module):
    """A residual unit as InsightFace's networks have it: (x − 127.5) · scale, conv, PReLU, shortcut, a layer at the end."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.conv = nn.BatchNorm2d(3), nn.Conv2d(3, 6, 3, 2, 1, dilation=1)
        self.slope, self.short = nn.PReLU(6), nn.Conv2d(3, 6, 1, 2)
        self.pool, self.last = nn.AvgPool2d(3, 2, 1), nn.Linear(6 * 28 * 28, 4)

    def forward(self, pixels):
        pixels = (pixels - 0.5) * 2
        inner = self.slope(self.conv(self.norm(pixels))) + self.short(pixels)
        return self.last(torch.relu(self.pool(inner)).flatten(1))


def test_a_residual_unit_gives_what_onnx_runtime_gives(tmp_path):
    torch.manual_seed(0)
    save_arcface(settled(Block()), tmp_path / "model.onnx")
    ours, reference = both(tmp_path / "model.onnx", {"input": CROPS})
    np.testing.assert_allclose(ours, reference, atol=1e-5)


def graph_of(*nodes, weights=()):
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 3, 4, 4]) for name in ("input", "output")]
    graph = helper.make_graph(list(nodes), "g", ends[:1], ends[1:], [numpy_helper.from_array(w, n) for n, w in weights])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9).SerializeToString()


def test_an_unknown_operator_is_named():
    model = graph_of(helper.make_node("LSTM", ["input"], ["output"]))
    with pytest.raises(BadInput, match=r"\['LSTM'\].*run.portable: false"):
        TorchSession(model)


def test_padding_on_one_side_is_refused():
    weights = np.ones((3, 3, 2, 2), np.float32)
    node = helper.make_node("Conv", ["input", "w"], ["output"], pads=[0, 0, 1, 1])
    session = TorchSession(graph_of(node, weights=[("w", weights)]))
    with pytest.raises(BadInput, match="padding that differs"):
        session.run(None, {"input": np.zeros((1, 3, 4, 4), np.float32)})


@pytest.mark.parametrize(("portable", "kind"), [("intel", TorchSession), ("false", onnxruntime.InferenceSession)])
def test_the_setting_chooses(tmp_path, monkeypatch, portable, kind):
    monkeypatch.setenv(PORTABLE, portable)
    write_mean_colour(tmp_path / "model.onnx", np.ones((3, 2)))
    assert isinstance(open_session(tmp_path / "model.onnx", torch.device("cpu")), kind)
    assert onnx.load(tmp_path / "model.onnx").graph.name == "mean_colour"
