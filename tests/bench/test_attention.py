"""The bench of attention on tiny inputs: all gradients agree, and are those of attention."""

import pytest
import torch

from bench import attention, harness
from trivium.core.arithmetic import PORTABLE


def test_the_peers_give_our_gradients(figures, monkeypatch):
    monkeypatch.setenv(PORTABLE, "intel")  # the bench sets it; the old value comes back
    for name, value in (("TEXTS", 2), ("TOKENS", 5)):
        monkeypatch.setattr(attention, name, value)
    monkeypatch.setattr(harness, "TRIALS", 1)
    monkeypatch.setattr(attention, "gflops", lambda device: harness.limits().gflops)
    threads = torch.get_num_threads()
    attention.main()
    assert torch.get_num_threads() == threads
    found = figures("attention")
    assert found["largest_kernel_gradient_difference"] < 0.03
    assert found["largest_layer_gradient_difference"] < 0.03
    peers = {name: (race["popular"], race["expert"]) for name, race in found["races"].items()}
    assert peers == {
        "kernel, 2 texts of 5 tokens": ("torch", "plain products"),
        "layer, 2 texts of 5 tokens": ("transformers", "plain products"),
    }


@pytest.mark.parametrize("way", ["ours", "products"])
def test_both_ways_are_attention(monkeypatch, way):
    monkeypatch.setenv(PORTABLE, "false")
    parts = attention.queries_keys_values(torch.device("cpu"))
    query, key, value = (part.detach() for part in parts)
    weights = torch.softmax(query @ key.transpose(2, 3) / attention.WIDTH**0.5, dim=3)
    expected = weights.sum(dim=2, keepdim=True).transpose(2, 3).expand_as(value)  # ∂ of the sum by the values
    by_value = attention.gradients(parts, getattr(attention, way))[2]
    assert torch.allclose(by_value, expected, atol=0.05)


def test_other_gradients_end_the_bench():
    found = [torch.tensor([2.0, 1.0]), torch.tensor([0.5])]
    assert attention.largest_difference(found, found) == 0
    with pytest.raises(AssertionError, match=r"gradients differ by 0\.25 of the largest"):
        attention.largest_difference(found, [found[0], torch.tensor([1.0])])
