"""The VGG with torchvision's names."""

import pytest
import torch
from torchvision import models

from trivium.nets.vse import GRID, HIDDEN, TORCHVISION, Vgg, channels_of


@pytest.mark.parametrize("name", TORCHVISION)
def test_torchvisions_weights_fit(name):
    with torch.device("meta"):  # no memory: half a gigabyte of weights
        theirs = models.get_model(name, weights=None).state_dict()
        ours = Vgg(channels_of(name), grid=GRID, hidden=HIDDEN, classes=1000).state_dict()
    assert {k: v.shape for k, v in ours.items()} == {k: v.shape for k, v in theirs.items()}


def test_the_layers_are_torchvisions():
    torch.manual_seed(0)
    with torch.device("meta"):
        theirs = models.vgg11(num_classes=3)
    ours = Vgg([4, "M", 8], grid=7, hidden=6, classes=3).eval()
    theirs.features = models.vgg.make_layers([4, "M", 8])
    theirs.classifier[0] = torch.nn.Linear(8 * 49, 6)
    theirs.classifier[3], theirs.classifier[6] = torch.nn.Linear(6, 6), torch.nn.Linear(6, 3)
    theirs.load_state_dict(ours.state_dict())
    pixels = torch.rand(2, 3, 16, 16)
    with torch.no_grad():
        assert torch.equal(ours(pixels), theirs.eval()(pixels))


def test_without_the_classifier_comes_what_it_sees():
    torch.manual_seed(0)
    whole = Vgg([4, "M"], grid=2, hidden=6, classes=3).eval()
    headless = Vgg([4, "M"], grid=2, hidden=6, classes=None).eval()
    state = whole.state_dict()
    headless.load_state_dict({name: value for name, value in state.items() if not name.startswith("classifier.6.")})
    pixels = torch.rand(2, 3, 8, 8)
    with torch.no_grad():
        assert torch.allclose(whole.classifier[6](headless(pixels)), whole(pixels))
    assert headless.width == headless(pixels).shape[1] == 6
