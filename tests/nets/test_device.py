import numpy as np
import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from transformers import RobertaConfig, RobertaModel

from trivium.core.arithmetic import PORTABLE
from trivium.core.engine import warn_without_gpu
from trivium.nets import device
from trivium.nets.device import (
    autocast,
    cpu_has_bf16,
    halve_until_it_fits,
    halving_batches,
    inference_dtype,
    length_sorted_batches,
)


def test_batches_halve_when_memory_runs_out_and_nothing_is_lost():
    def forward(batch):
        if len(batch) > 3:
            raise torch.OutOfMemoryError("simulated")
        return list(batch)

    parts = list(halving_batches(list(range(10)), 8, forward))
    assert [item for part in parts for item in part] == list(range(10))
    assert max(map(len, parts)) == 2


def test_one_item_that_does_not_fit_is_an_error():
    def forward(batch):
        raise torch.OutOfMemoryError("simulated")

    with pytest.raises(torch.OutOfMemoryError):
        list(halving_batches([1, 2], 2, forward))


def test_length_sorted_batches_hold_every_index_once():
    lengths = [3, 9, 1, 9, 4]
    batches = length_sorted_batches(lengths, 2)
    assert np.concatenate(batches).tolist() == [1, 3, 4, 0, 2]
    assert [len(batch) for batch in batches] == [2, 2, 1]


def test_cpu_is_in_full_precision_unless_asked(monkeypatch):
    matrix = torch.ones(2, 2)
    monkeypatch.delenv(PORTABLE, raising=False)
    with autocast(torch.device("cpu")):
        assert (matrix @ matrix).dtype == torch.float32
    monkeypatch.setenv(PORTABLE, "false")
    with autocast(torch.device("cpu")):
        assert (matrix @ matrix).dtype == (torch.bfloat16 if cpu_has_bf16() else torch.float32)


@pytest.mark.parametrize(("portable", "fast"), [("intel", False), ("x86", False), ("false", True), (None, True)])
def test_a_gpu_computes_in_bf16_unless_the_bits_are_to_be_portable(monkeypatch, portable, fast):
    if portable is None:  # a library's user has chosen nothing
        monkeypatch.delenv(PORTABLE, raising=False)
    else:
        monkeypatch.setenv(PORTABLE, portable)
    chosen = autocast(torch.device("cuda"))
    assert isinstance(chosen, torch.autocast) == fast
    monkeypatch.setattr(device, "pick_device", lambda: torch.device("cuda"))
    assert inference_dtype() == (torch.bfloat16 if fast else torch.float32)
    monkeypatch.setattr(device, "pick_device", lambda: torch.device("cpu"))
    assert inference_dtype() == torch.float32


def test_halving_starts_the_whole_again_with_half():
    tried = []

    def attempt(size):
        tried.append(size)
        if size > 2:
            raise torch.OutOfMemoryError("simulated")
        return "done"

    assert halve_until_it_fits(7, attempt, unit="things") == ("done", 2)
    assert tried == [7, 4, 2]


@pytest.mark.skipif(not cpu_has_bf16(), reason="this processor has no bf16 instructions")
def test_cpu_bf16_trains_without_the_fused_kernel(monkeypatch):
    monkeypatch.setenv(PORTABLE, "false")
    query = torch.randn(1, 2, 3, 4).bfloat16().requires_grad_()
    with autocast(torch.device("cpu")):
        attended = torch.nn.functional.scaled_dot_product_attention(query, query, query)
    assert "Flash" not in attended.grad_fn.name()
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        fused = torch.nn.functional.scaled_dot_product_attention(query, query, query)
    assert "Flash" in fused.grad_fn.name()
    assert torch.allclose(attended.float(), fused.float(), atol=0.02)


@pytest.mark.parametrize(("portable", "warns"), [("false", True), ("intel", False)])
def test_a_stage_without_a_gpu_says_so_once_at_a_scale_that_wants_one(portable, warns, monkeypatch, capsys):
    warn_without_gpu.cache_clear()
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setenv(PORTABLE, portable)
    assert device.pick_device() == device.pick_device() == torch.device("cpu")
    assert capsys.readouterr().err.count("WARNING: no GPU that torch can use") == warns
    warn_without_gpu.cache_clear()


def test_roberta_is_given_no_more_tokens_than_it_has_positions(monkeypatch):
    """Its first two positions are nobody's: 74 suffice for 72 tokens."""
    monkeypatch.setenv(PORTABLE, "intel")
    shape = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    network = RobertaModel(RobertaConfig(max_position_embeddings=74, vocab_size=50, **shape)).eval()
    ids = torch.full((1, 70), 7)
    with torch.inference_mode():
        ids, mask = device.pad_inputs(network, ids, torch.ones_like(ids))
        assert ids.shape == (1, 72)
        assert network(input_ids=ids, attention_mask=mask).last_hidden_state.shape == (1, 72, 8)
