import io

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import BlipConfig, BlipForConditionalGeneration

from tests.decorrelation.tiny_models import BLIP_CONFIG
from trivium.core.errors import BadInput
from trivium.sources.plain_weights import keep_plain

TENSOR = torch.arange(3.0)


def test_a_pickle_becomes_safetensors(tmp_path):
    """Tied weights twice, and without the constant that newer networks do not hold."""
    network = BlipForConditionalGeneration(BlipConfig(**BLIP_CONFIG))
    constant = {"text_decoder.bert.embeddings.position_ids": torch.arange(16)[None]}
    torch.save(network.state_dict() | constant, tmp_path / "pytorch_model.bin")
    keep_plain(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["model.safetensors"]
    kept = load_file(tmp_path / "model.safetensors")
    assert kept.keys() == network.state_dict().keys()
    assert all(torch.equal(kept[name], value) for name, value in network.state_dict().items())


@pytest.mark.parametrize("winner", ["model.safetensors", "model.safetensors.index.json"])
def test_safetensors_win(tmp_path, winner):
    torch.save({"weight": TENSOR + 1}, tmp_path / "pytorch_model.bin")
    save_file({"weight": TENSOR}, tmp_path / winner)
    before = (tmp_path / winner).read_bytes()
    keep_plain(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {winner: before}


@pytest.mark.parametrize("content", [[TENSOR], {"weight": TENSOR, "epoch": 3}, {"state": {"weight": TENSOR}}])
def test_something_else_than_tensors_is_refused(tmp_path, content):
    torch.save(content, tmp_path / "pytorch_model.bin")
    with pytest.raises(BadInput, match=r"not a checkpoint.*pytorch_model\.bin|pytorch_model\.bin.*not a checkpoint"):
        keep_plain(tmp_path)
    assert not (tmp_path / "model.safetensors").exists()


def test_a_broken_pickle_is_refused(tmp_path):
    out = io.BytesIO()
    torch.save({"weight": TENSOR}, out)
    (tmp_path / "pytorch_model.bin").write_bytes(out.getvalue()[:100])
    with pytest.raises(BadInput, match="broken"):
        keep_plain(tmp_path)
