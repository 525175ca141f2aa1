"""Stage kvqae-rerank_base: more layers of the sample's text encoder, or the text encoder as it is."""

from types import SimpleNamespace

import pytest
from transformers import AutoModel

from stages.kvqae.rerank_pretrain import write_base
from trivium.kvqae.rerankers.cross_encoder import load_cross_encoder

PARAMETERS = SimpleNamespace(layers=(0, 5))


def test_the_sample_has_the_chosen_layers_whatever_the_text_encoder_keeps(tmp_path):
    assert write_base(PARAMETERS, source="sample", base=tmp_path / "none", out=tmp_path / "out") == {"layers": 2}
    assert AutoModel.from_pretrained(tmp_path / "out").config.num_hidden_layers == 2
    model, _ = load_cross_encoder(tmp_path / "out", 32, new_perceptron=True)
    assert len(model.bert.encoder.layer) == 2


@pytest.mark.parametrize("source", ["hub", "local"])
def test_other_sources_start_from_the_text_encoder_itself(tmp_path, source):
    base = tmp_path / "text"
    (base / "1_Pooling").mkdir(parents=True)
    (base / "model.safetensors").write_bytes(b"weights")
    (base / "1_Pooling" / "config.json").write_text("{}")
    assert write_base(PARAMETERS, source=source, base=base, out=tmp_path / "out") == {}
    files = {path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert files == {"model.safetensors", "1_Pooling/config.json"}
    assert (tmp_path / "out" / "model.safetensors").read_bytes() == b"weights"
