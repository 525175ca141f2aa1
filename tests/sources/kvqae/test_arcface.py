"""A state dict of arcface_torch as ONNX, against the architecture written out in torch from its public description.

https://github.com/deepinsight/insightface/blob/master/recognition/arcface_torch/backbones/iresnet.py: names of tensors
and order of layers.
"""

import numpy as np
import onnxruntime
import pytest
import torch
from torch import nn

from trivium.core.errors import BadInput
from trivium.sources.kvqae.models import bring_face_model


class Block(nn.Module):
    def __init__(self, given: int, width: int, stride: int) -> None:
        super().__init__()
        self.bn1, self.conv1 = nn.BatchNorm2d(given), nn.Conv2d(given, width, 3, padding=1, bias=False)
        self.bn2, self.prelu = nn.BatchNorm2d(width), nn.PReLU(width)
        self.conv2, self.bn3 = nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width)
        shortcut = nn.Sequential(nn.Conv2d(given, width, 1, stride, bias=False), nn.BatchNorm2d(width))
        self.downsample = shortcut if stride > 1 else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.bn3(self.conv2(self.prelu(self.bn2(self.conv1(self.bn1(x))))))
        return y + (x if self.downsample is None else self.downsample(x))


class IResNet(nn.Module):
    def __init__(self, widths=(4, 5, 6, 7), blocks=(2, 1, 3, 1), dimension=8) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 4, 3, padding=1, bias=False)
        self.bn1, self.prelu = nn.BatchNorm2d(4), nn.PReLU(4)
        given = 4
        for number, (width, depth) in enumerate(zip(widths, blocks, strict=True), 1):
            layer = [Block(given if block == 0 else width, width, 1 if block else 2) for block in range(depth)]
            setattr(self, f"layer{number}", nn.Sequential(*layer))
            given = width
        self.bn2, self.fc = nn.BatchNorm2d(given), nn.Linear(given * 7 * 7, dimension)
        self.features = nn.BatchNorm1d(dimension)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.prelu(self.bn1(self.conv1(x)))
        for number in range(1, 5):
            x = getattr(self, f"layer{number}")(x)
        return self.features(self.fc(torch.flatten(self.bn2(x), 1)))


@pytest.fixture
def network() -> IResNet:
    torch.manual_seed(0)
    made = IResNet()
    for module in made.modules():  # as after training: nothing is 0 or 1
        if isinstance(module, nn.BatchNorm1d | nn.BatchNorm2d):
            for tensor in (module.weight, module.bias, module.running_mean):
                nn.init.normal_(tensor, 0.5, 0.2)
            nn.init.uniform_(module.running_var, 0.5, 1.5)
    return made.eval()


def test_a_state_dict_becomes_the_same_network(network, tmp_path):
    torch.save(network.state_dict(), tmp_path / "backbone.pth")
    bring_face_model(tmp_path, tmp_path / "base" / "model.onnx")
    faces = torch.randn(3, 3, 112, 112)
    session = onnxruntime.InferenceSession(str(tmp_path / "base" / "model.onnx"), providers=["CPUExecutionProvider"])
    (output,) = session.run(None, {session.get_inputs()[0].name: faces.numpy()})
    with torch.inference_mode():
        np.testing.assert_allclose(output, network(faces).numpy(), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda state: state.pop("layer3.1.bn2.running_var"), r"backbone.pth.*'layer3.1.bn2.running_var': no such ten"),
        (lambda state: state.update(head=torch.zeros(2)), r"'head': a tensor that no IResNet of arcface_torch has"),
        (lambda state: state.update(head=print), r"backbone.pth: not plain tensors"),
    ],
)
def test_other_state_dicts_are_refused(network, tmp_path, change, message):
    state = network.state_dict()
    change(state)
    torch.save(state, tmp_path / "backbone.pth")
    with pytest.raises(BadInput, match=message):
        bring_face_model(tmp_path, tmp_path / "model.onnx")
