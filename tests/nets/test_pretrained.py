import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import BertForQuestionAnswering, BertTokenizer

from tests.kvqae.tiny_reader import write_bert
from trivium.core.errors import BadInput
from trivium.nets.pretrained import load_pretrained


@pytest.fixture
def folder(tmp_path):
    return write_bert(tmp_path / "bert")


def changed(folder, change):
    weights = load_file(folder / "model.safetensors")
    change(weights)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def load(folder, **options):
    return load_pretrained(BertForQuestionAnswering, folder, "a reader", tokenizer=BertTokenizer, **options)


def test_the_weights_of_the_folder_are_loaded_and_only_new_ones_are_drawn(folder):
    torch.manual_seed(1)
    first, tokenizer = load(folder, new=("qa_outputs.",))
    torch.manual_seed(2)
    second, _ = load(folder, new=("qa_outputs.",))
    stored = load_file(folder / "model.safetensors")
    name = "encoder.layer.0.attention.self.query.weight"
    loaded = first.bert.state_dict()[name]
    assert torch.equal(loaded, stored[next(key for key in stored if key.endswith(name))])
    assert not torch.equal(first.qa_outputs.weight, second.qa_outputs.weight)
    assert not first.training
    assert tokenizer.pad_token == "[PAD]"


def test_a_weight_that_is_missing_is_named(folder):
    with pytest.raises(BadInput, match="bert: .*: 2 missing, such as qa_outputs.bias, qa_outputs.weight"):
        load(folder)


def test_a_weight_is_new_only_where_it_is_said_to_be(folder):
    changed(
        folder, lambda weights: weights.pop(next(key for key in weights if key.endswith("layer.1.output.dense.bias")))
    )
    with pytest.raises(BadInput, match="1 missing, such as bert.encoder.layer.1.output.dense.bias"):
        load(folder, new=("qa_outputs.",))


def test_pickled_weights_are_refused(folder):
    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    torch.save(weights, folder / "pytorch_model.bin")
    with pytest.raises(BadInput, match="not a reader"):
        load(folder, new=("qa_outputs.",))
