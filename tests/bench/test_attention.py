import torch

from bench import attention, harness
from trivium.harness.arithmetic import PORTABLE


def test_figures(monkeypatch, clock):
    written = {}
    clock(8, 6, 2, 4)  # torch's layer, torch's kernel, our kernel, our layer
    monkeypatch.setenv(PORTABLE, "intel")  # the bench sets it; the old value comes back
    monkeypatch.setattr(attention, "TEXTS", 2)
    monkeypatch.setattr(attention, "TOKENS", 5)
    monkeypatch.setattr(harness, "write", lambda name, values: written.update({name: values}))
    attention.main()
    figures = written["attention"]
    assert figures["largest_gradient_difference"] < 0.05
    assert figures["kernel_times_faster"] == 6 / 2
    assert figures["layer_times_faster"] == 8 / 4


def test_both_ways_are_attention(monkeypatch):
    monkeypatch.setenv(PORTABLE, "false")
    parts = attention.queries_keys_values(torch.device("cpu"))
    query, key, value = (part.detach() for part in parts)
    weights = torch.softmax(query @ key.transpose(2, 3) / attention.WIDTH**0.5, dim=3)
    expected = weights.sum(dim=2, keepdim=True).transpose(2, 3).expand_as(value)  # ∂ of the sum by the values
    for fused in (True, False):
        by_value = attention.kernel_gradient(parts, fused=fused)()[2]
        assert torch.allclose(by_value, expected, atol=0.05)
