"""VSE++'s loss against sums worked out by hand and against loops in NumPy; the VGG with torchvision's names."""

import numpy as np
import pytest
import torch
from torchvision import models

from trivium.nets.vse import GRID, HIDDEN, TORCHVISION, Vgg, channels_of, triplet_hinge

SCORES = torch.tensor([[0.5, 0.4, 0.1], [0.9, 0.8, 0.2], [0.0, 0.3, 0.6]])
APART = torch.tensor([0, 1, 2])


def test_hardest_negative_by_hand():
    # Rows: 0.2 + 0.4 - 0.5 = 0.1; 0.2 + 0.9 - 0.8 = 0.3; 0.2 + 0.3 - 0.6 < 0.
    # Columns: 0.2 + 0.9 - 0.5 = 0.6; 0.2 + 0.4 - 0.8 < 0; 0.2 + 0.2 - 0.6 < 0.
    loss = triplet_hinge(SCORES, APART, margin=0.2, hardest=True)
    assert float(loss) == pytest.approx((0.1 + 0.3) + 0.6)


def test_mean_by_hand():
    # The same hinges, no other is above 0; each is one of two negatives.
    loss = triplet_hinge(SCORES, APART, margin=0.2, hardest=False)
    assert float(loss) == pytest.approx(((0.1 + 0.3) + 0.6) / 2)


def test_pairs_of_one_picture_are_no_negatives():
    # Pairs 0 and 1 are of one picture: only column 2 and row 2 are left, whose hinges are all 0.
    same = torch.tensor([7, 7, 2])
    assert float(triplet_hinge(SCORES, same, margin=0.2, hardest=True)) == 0
    loss = triplet_hinge(SCORES, same, margin=0.5, hardest=True)
    # Rows: 0.5 + 0.1 - 0.5; 0.5 + 0.2 - 0.8 < 0; 0.5 + 0.3 - 0.6. Columns: 0.5 + 0 - 0.5; 0.5 + 0.3 - 0.8; 0.5 + 0.2 - 0.6.
    assert float(loss) == pytest.approx((0.1 + 0.2) + 0.1)


@pytest.mark.parametrize("hardest", [True, False])
def test_agrees_with_loops(hardest):
    rng = np.random.default_rng(0)
    scores, pictures = rng.normal(size=(9, 9)), rng.integers(0, 5, 9)
    total = 0.0
    for i in range(9):
        others = [j for j in range(9) if pictures[j] != pictures[i]]
        texts = [max(0.0, 0.2 + scores[i, j] - scores[i, i]) for j in others]
        images = [max(0.0, 0.2 + scores[j, i] - scores[i, i]) for j in others]
        total += (max(texts) + max(images)) if hardest else (np.mean(texts) + np.mean(images))
    loss = triplet_hinge(torch.tensor(scores), torch.tensor(pictures), margin=0.2, hardest=hardest)
    assert float(loss) == pytest.approx(total)


@pytest.mark.parametrize("hardest", [True, False])
def test_a_batch_of_one_picture_has_no_loss(hardest):
    scores = torch.rand(3, 3, requires_grad=True)
    loss = triplet_hinge(scores, torch.zeros(3), margin=0.2, hardest=hardest)
    loss.backward()
    assert float(loss) == 0
    assert scores.grad is not None
    assert not scores.grad.any()


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
