import pytest
import torch

from trivium.vision.local_descriptors.delg import Delg, strongest


@pytest.fixture(scope="module")
def network() -> Delg:
    torch.manual_seed(0)
    return Delg(architecture="resnet50", attention=6, local_dimension=5, global_dimension=12, power=3).eval()


def test_shapes_and_lengths(network: Delg) -> None:
    with torch.no_grad():
        overall, local, attention = network(torch.rand(2, 3, 64, 96))
    # conv4 sees every 16th pixel: 4 × 6 positions.
    assert overall.shape == (2, 12)
    assert local.shape == (2, 24, 5)
    assert attention.shape == (2, 24)
    torch.testing.assert_close(overall.norm(dim=1), torch.ones(2))
    torch.testing.assert_close(local.norm(dim=2), torch.ones(2, 24))
    assert (attention > 0).all()


def test_generalised_mean_by_hand(network: Delg) -> None:
    pixels = torch.rand(1, 3, 64, 64)
    with torch.no_grad():
        late = network.late(network.early(network.stem(pixels)))[0]
        pooled = torch.stack([(channel.clamp(min=1e-6) ** 3).mean() ** (1 / 3) for channel in late])
        expected = network.whitening(pooled)
        torch.testing.assert_close(network(pixels)[0][0], expected / expected.norm(), rtol=1e-4, atol=1e-5)


def test_strongest_positions() -> None:
    attention = torch.tensor([0.5, 2.0, 1.0, 2.0, 0.1])
    assert strongest(attention, 3, 0.0).tolist() == [1, 3, 2]
    assert strongest(attention, 9, 0.4).tolist() == [1, 3, 2, 0]
    assert strongest(attention, 3, 5.0).tolist() == []
