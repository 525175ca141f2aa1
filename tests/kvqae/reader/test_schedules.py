import torch

from stages.kvqae.reader.model import load_reader
from stages.kvqae.reader.schedules import set_dropout
from tests.kvqae.tiny_reader import write_bert


def states(model, ids):
    model.train()
    return model(input_ids=ids).start_logits


def test_dropout_is_set_in_hidden_and_attention_layers(tmp_path):
    write_bert(tmp_path / "bert")
    model, _ = load_reader(tmp_path / "bert", max_tokens=16, new_heads=True)
    ids = torch.arange(12).view(1, -1)
    set_dropout(model, 0.5)
    assert not torch.equal(states(model, ids), states(model, ids))
    assert all(layer.attention.self.dropout.p == layer.output.dropout.p == 0.5 for layer in model.bert.encoder.layer)
    set_dropout(model, 0.0)
    assert torch.equal(states(model, ids), states(model, ids))
