"""Stage complexity-base_models: architectures by name, a tokenizer that keeps French, downloads and own folders checked."""

import shutil

import pytest
from safetensors.torch import load_file
from transformers import (
    AutoConfig,
    AutoTokenizer,
    BertConfig,
    BertModel,
)

from sample.encoders.french import ComplexityBaseModelsParameters
from stages.complexity.base_models import main
from tests.complexity.tiny_readers import questions, write_camembert
from tests.sources.small_hub import pins
from trivium.core.errors import BadInput
from trivium.core.tables import read_json
from trivium.formats.squad import write_squad
from trivium.sources.complexity.models import ARCHITECTURES, check_models, fetch_models

SENTENCE = "À l’été\u00a01917, l'armée d'Égypte a détruit « la forêt » — déjà…"


def parameters(*models, source="sample"):
    sizes = {"layers": 1, "width": 32, "heads": 2, "feed_forward": 48}
    return ComplexityBaseModelsParameters.model_validate(
        {
            "models": models,
            "source": source,
            "local": "",
            "seed": 0,
            "vocabulary": 380,
            "multilingual_vocabulary": 400,
            "encoder": sizes | {"dropout": 0.2},
            "deep_layers": 2,
            "encoder_decoder": sizes | {"decoder_layers": 1, "dropout": 0.1},
            "decoder": sizes,
        }
    )


@pytest.fixture(scope="module")
def fquad(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fquad")
    write_squad(folder / "train.json", questions(40))
    return folder


@pytest.fixture(scope="module")
def base(fquad, tmp_path_factory):
    out = tmp_path_factory.mktemp("base") / "base"
    counts = main(parameters(*ARCHITECTURES), None, fquad=fquad, out=out)
    return out, counts


def test_every_architecture_is_the_real_one(base):
    folder, counts = base
    assert {path.name for path in folder.iterdir()} == set(ARCHITECTURES)
    for name, architecture in ARCHITECTURES.items():
        config = AutoConfig.from_pretrained(folder / name)
        assert config.model_type == architecture
        weights = load_file(folder / name / "model.safetensors")
        assert counts[f"{name}_parameters"] >= sum(value.numel() for value in weights.values()) > 0
        assert len(AutoTokenizer.from_pretrained(folder / name)) <= config.vocab_size
        assert read_json(folder / name / "provenance.json")["licence"] == "apache-2.0"
    assert AutoConfig.from_pretrained(folder / "flan_t5").is_gated_act
    assert AutoConfig.from_pretrained(folder / "mt5").is_gated_act
    assert not AutoConfig.from_pretrained(folder / "t5").is_gated_act


@pytest.mark.parametrize("name", ["camembert", "t5", "flan_t5", "mt5", "llama"])
def test_text_survives_the_tokenizer_and_offsets_are_its_own(base, name):
    tokenizer = AutoTokenizer.from_pretrained(base[0] / name)
    encoded = tokenizer(SENTENCE, return_offsets_mapping=True)
    assert tokenizer.decode(encoded["input_ids"], skip_special_tokens=True) == SENTENCE
    covered = "".join(SENTENCE[start:end] for start, end in dict.fromkeys(encoded["offset_mapping"]))
    assert covered == SENTENCE.replace(" ", "")
    assert tokenizer.pad_token_id != tokenizer.eos_token_id


def test_the_same_seed_makes_the_same_files(base, fquad, tmp_path):
    main(parameters("mt5"), None, fquad=fquad, out=tmp_path / "again")
    for file in ("model.safetensors", "tokenizer.json", "config.json"):
        assert (tmp_path / "again" / "mt5" / file).read_bytes() == (base[0] / "mt5" / file).read_bytes()


@pytest.fixture
def camembert(tmp_path):
    return write_camembert(tmp_path / "mine" / "camembert")


def test_own_folders_are_checked_and_brought(camembert, tmp_path):
    counts = check_models(["camembert"], tmp_path / "mine", tmp_path / "out")
    weights = load_file(camembert / "model.safetensors")
    assert counts == {"camembert_parameters": sum(value.numel() for value in weights.values())}
    assert load_file(tmp_path / "out" / "camembert" / "model.safetensors").keys() == weights.keys()
    assert len(read_json(tmp_path / "out" / "camembert" / "provenance.json")["sha256"]["tokenizer.json"]) == 64
    with pytest.raises(BadInput, match="'llama'.*no folder of this model"):
        check_models(["camembert", "llama"], tmp_path / "mine", tmp_path / "more")
    assert not (tmp_path / "more").exists()


def test_another_architecture_or_broken_weights_are_refused(camembert, tmp_path):
    shutil.copytree(camembert, tmp_path / "mine" / "mt5")
    with pytest.raises(BadInput, match="another architecture; got 'camembert'; expected mt5"):
        check_models(["mt5"], tmp_path / "mine", tmp_path / "out")
    (camembert / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(BadInput, match=r"model\.safetensors: weights cannot be read"):
        check_models(["camembert"], tmp_path / "mine", tmp_path / "out")
    (camembert / "config.json").write_text("{}")
    with pytest.raises(BadInput, match="not a model"):
        check_models(["camembert"], tmp_path / "mine", tmp_path / "out")


def test_a_slow_tokenizer_is_made_fast_beside_the_users(tmp_path):
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "la", "reine"]
    mine = tmp_path / "mine" / "minilm"
    config = BertConfig(vocab_size=7, hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8)
    BertModel(config).save_pretrained(mine)
    (mine / "vocab.txt").write_text("\n".join(words) + "\n")
    (mine / "tokenizer_config.json").write_text('{"tokenizer_class": "BertTokenizer"}')
    before = {path.name: path.read_bytes() for path in mine.iterdir()}
    check_models(["minilm"], tmp_path / "mine", tmp_path / "out")
    assert (tmp_path / "out" / "minilm" / "tokenizer.json").is_file()
    assert {path.name: path.read_bytes() for path in mine.iterdir()} == before


def serve(hub, folder, tmp_path, source="camembert", extra=()):
    files = {path.name: path.read_bytes() for path in folder.iterdir()} | dict(extra)
    hub.repository("who/model", files)
    written = pins(
        {source: {"hub": "who/model", "kind": "model", "revision": None, "list": "*.json model*.safetensors"}}
    )
    (tmp_path / "pins.yaml").write_text(written)


def test_models_are_downloaded_as_pinned(hub, camembert, tmp_path, monkeypatch):
    monkeypatch.setattr("trivium.sources.pins.PINS", tmp_path / "pins.yaml")
    serve(hub, camembert, tmp_path, extra={"tf_model.h5": b"not asked for"})
    counts = fetch_models(["camembert", "minilm"], tmp_path / "out", tmp_path / "work")
    weights = load_file(tmp_path / "out" / "camembert" / "model.safetensors")
    assert counts["camembert_parameters"] == sum(value.numel() for value in weights.values())
    assert counts["minilm_parameters"] > 20_000_000
    assert not hub.asked(f"/who/model/resolve/{'a' * 40}/tf_model.h5")
    origin = read_json(tmp_path / "out" / "camembert" / "provenance.json")
    assert (origin["from"], origin["revision"]) == ("who/model", "a" * 40)
    assert len(origin["sha256"]["model.safetensors"]) == 64
    assert AutoConfig.from_pretrained(tmp_path / "out" / "minilm").num_hidden_layers == 6
