"""Stage kvqae-published_checkpoints: the authors' formats on a loopback hub, converted to ours, or refused by name."""

import io
import json

import pytest
import torch
from safetensors.torch import load_file, save
from transformers import (
    BertConfig,
    BertForQuestionAnswering,
    BertModel,
    DPRConfig,
    DPRContextEncoder,
    DPRQuestionEncoder,
)

from tests.kvqae.tiny_bert import SPECIAL, WORDS, write_tiny_bert
from tests.sources.small_hub import pins
from trivium.core.errors import BadInput
from trivium.core.tables import read_json
from trivium.kvqae.reader.reading import load_reader
from trivium.kvqae.retrieval.text_encoder import load_text_encoder
from trivium.sources.kvqae.models import fetch_checkpoints

SHAPE = {
    "vocab_size": len(SPECIAL + WORDS),
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": 64,
}


def pickled(state):
    out = io.BytesIO()
    torch.save(state, out)
    return {"pytorch_model.bin": out.getvalue()}


def authors():
    """The three models as transformers' classes hold them; the passage encoder is published as a pickle."""
    torch.manual_seed(0)
    dpr = DPRConfig(**SHAPE)
    # Versions of transformers of the authors' time saved these, too.
    pooler = {"ctx_encoder.bert_model.pooler.dense.weight": torch.zeros(32, 32)}
    constant = {"ctx_encoder.bert_model.embeddings.position_ids": torch.arange(64)[None]}
    return {
        "dpr_question": (dpr, {"model.safetensors": save(DPRQuestionEncoder(dpr).state_dict())}),
        "dpr_passage": (dpr, pickled(DPRContextEncoder(dpr).state_dict() | pooler | constant)),
        "multi_passage_bert": (
            BertConfig(**SHAPE),
            pickled(BertForQuestionAnswering(BertConfig(**SHAPE)).state_dict()),
        ),
    }


@pytest.fixture
def fetch(hub, tmp_path, monkeypatch):
    write_tiny_bert(tmp_path / "text")

    def fetched(**changed):
        """Serve and fetch; a change is (fields of the configuration, files)."""
        sources = {}
        for name, (config, files) in authors().items():
            fields, other = changed.get(name, ({}, files))
            hub.repository(f"who/{name}", {"config.json": json.dumps(config.to_dict() | fields).encode(), **other})
            sources[name] = {
                "hub": f"who/{name}",
                "kind": "model",
                "revision": "a" * 40,
                "list": "*.json *.bin *.safetensors",
            }
        (tmp_path / "pins.yaml").write_text(pins(sources))
        monkeypatch.setattr("trivium.sources.pins.PINS", tmp_path / "pins.yaml")
        return {
            name: count
            for system in ("dpr", "reader")
            for name, count in fetch_checkpoints(
                system, tmp_path / "text", tmp_path / "out" / system, tmp_path / "work"
            ).items()
        }

    return fetched


def test_every_checkpoint_is_what_our_stages_load(fetch, tmp_path):
    counts = fetch()
    assert counts["dpr_question_weights"] == counts["dpr_passage_weights"]
    assert counts["multi_passage_bert_weights"] == counts["dpr_question_weights"] + 2 * 32 + 2  # two heads
    served = authors()
    theirs = torch.load(io.BytesIO(served["dpr_passage"][1]["pytorch_model.bin"]), weights_only=True)
    ours = load_file(tmp_path / "out" / "dpr" / "passage" / "model.safetensors")
    assert {f"ctx_encoder.bert_model.{name}" for name in ours} == {
        name for name in theirs if "pooler" not in name and "position_ids" not in name
    }
    assert all(torch.equal(value, theirs[f"ctx_encoder.bert_model.{name}"]) for name, value in ours.items())
    load_reader(tmp_path / "out" / "reader" / "reader", 64)
    named = [read_json(tmp_path / "out" / system / "provenance.json").keys() for system in ("dpr", "reader")]
    assert named == [{"dpr_question", "dpr_passage"}, {"multi_passage_bert"}]


def test_our_vector_is_the_one_that_dpr_gives(fetch, tmp_path):
    fetch()
    torch.manual_seed(0)
    theirs = DPRQuestionEncoder(DPRConfig(**SHAPE)).eval()
    encoder, tokenizer = load_text_encoder(tmp_path / "out" / "dpr" / "question", torch.device("cpu"))
    batch = tokenizer(["who is w3 ?"], return_tensors="pt")
    with torch.inference_mode():
        ours = encoder(**batch).last_hidden_state[:, 0]
        assert torch.allclose(ours, theirs(**batch).pooler_output, atol=1e-6)


class Trap:
    def __reduce__(self):
        return print, ("unpickled",)


BERT = BertModel(BertConfig(**SHAPE), add_pooling_layer=False).state_dict()


@pytest.mark.parametrize(
    ("fields", "files", "message"),
    [
        ({"vocab_size": 7}, {}, r"config.json: field 'vocab_size': another vocabulary"),
        ({"projection_dim": 128}, {}, r"'projection_dim': vectors are projected; got 128"),
        ({}, {"README.json": b"{}"}, r"no weights"),
        ({}, pickled({"weight": Trap()}), "not plain tensors"),
        ({}, {"model.safetensors": save({"other": torch.zeros(1)})}, "do not fit the architecture"),
        ({"hidden_size": 16}, pickled(BERT), r"do not fit the architecture: size mismatch"),
    ],
)
def test_another_checkpoint_is_refused(fields, files, message, fetch, tmp_path, capsys):
    with pytest.raises(BadInput, match=message):
        fetch(dpr_passage=(fields, files))
    assert not list((tmp_path / "out").iterdir())
    assert "unpickled" not in capsys.readouterr().out
