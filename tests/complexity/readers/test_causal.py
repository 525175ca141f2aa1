"""The language model with LoRA: loss on the answer alone, padding that leaves no trace, the adapter and its base."""

import shutil

import pytest
import torch
from safetensors.torch import load_file

from tests.complexity.tiny_generators import causal_settings, write_llama
from tests.complexity.tiny_readers import questions
from trivium.complexity.readers.interface import Reading, load_reader
from trivium.complexity.readers.kinds.causal import ADAPTER, BASE, CausalReader
from trivium.core.errors import BadInput
from trivium.core.tables import write_json
from trivium.formats.squad import SquadQuestion


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return write_llama(tmp_path_factory.mktemp("models") / "base" / "llama")


@pytest.fixture
def reader(base):
    torch.manual_seed(1)
    made = CausalReader.start(base, causal_settings())
    made.module.eval()
    # B is zero at first: let the adapter matter.
    for name, weights in made.module.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(weights, std=0.3)
    return made


def readings(asked):
    return [Reading(each.id, each.question, each.context) for each in asked]


def test_the_prompt_asked_is_the_prompt_learnt(reader):
    asked = questions(5)
    features = reader.features(asked)
    for each, pair in zip(asked, features.items, strict=True):
        prompt = f"Contexte : {each.context}\nQuestion : {each.question}\nRéponse :"
        assert pair.prompt.tolist() == reader.tokenizer(prompt)["input_ids"]
        # Written in one go, the text has the same tokens.
        whole = reader.tokenizer(f"{prompt} {each.answers[0][0]}</s>")["input_ids"]
        assert [*pair.prompt.tolist(), *pair.target.tolist()] == whole
    assert not any(features.counts.values())


def test_loss_is_the_cross_entropy_of_the_answers_tokens(reader):
    features = reader.features(questions(5)).items
    expected = []
    for pair in features:
        ids = [*pair.prompt.tolist(), *pair.target.tolist()]
        logits = reader.module(input_ids=torch.tensor([ids])).logits[0]
        places = range(len(pair.prompt), len(ids))
        expected.append(sum(logits[t - 1].logsumexp(0) - logits[t - 1, ids[t]] for t in places) / len(pair.target))
    assert len({len(pair.prompt) for pair in features}) > 1
    assert float(reader.loss(features)) == pytest.approx(float(torch.stack(expected).mean()), rel=1e-4)
    parts = (2 * reader.loss(features[:2]) + 3 * reader.loss(features[2:])) / 5
    assert float(parts) == pytest.approx(float(reader.loss(features)), rel=1e-5)


def test_lora_adds_a_scaled_product_and_trains_nothing_else(reader, base):
    trained = {name for name, weights in reader.module.named_parameters() if weights.requires_grad}
    assert len(trained) == 2 * 2 * 2  # A and B of two layers' queries and values
    assert all("lora_A" in name or "lora_B" in name for name in trained)
    layer = reader.module.get_base_model().model.layers[0].self_attn.q_proj
    a, b = layer.lora_A["default"].weight, layer.lora_B["default"].weight
    assert a.shape == (4, 32)
    x = torch.randn(3, 32)
    weight = load_file(base / "model.safetensors")["model.layers.0.self_attn.q_proj.weight"]
    torch.testing.assert_close(layer(x), x @ (weight + 8 / 4 * b @ a).T)


def test_answers_are_written_greedily_whatever_the_padding(reader):
    asked = readings(questions(5))
    expected = []
    for each in asked:
        prompt = f"Contexte : {each.context}\nQuestion : {each.question}\nRéponse :"
        ids = reader.tokenizer(prompt)["input_ids"]
        length = len(ids)
        while len(ids) < length + reader.settings.answer_tokens and ids[-1] != reader.tokenizer.eos_token_id:
            with torch.no_grad():
                ids.append(int(reader.module(input_ids=torch.tensor([ids])).logits[0, -1].argmax()))
        expected.append(reader.tokenizer.decode(ids[length:], skip_special_tokens=True).strip())
    assert len(set(expected)) > 3
    for size in (5, 2, 1):
        assert [answer.text for answer in reader.answer(asked, size)] == expected
    assert [answer.text for answer in reader.answer(asked[::-1], 2)] == expected[::-1]


def test_answers_tell_how_much_was_read_and_whether_they_end(base):
    reader = CausalReader.start(base, causal_settings(max_tokens=64))
    short, long = "La reine fuit.", " ".join(each.context for each in questions(9))
    reader.tokenizer.pad_token = None  # filled up with the end of text: only what has ended is
    end = reader.tokenizer.eos_token_id

    def generate(input_ids, attention_mask):
        return torch.cat([input_ids, torch.tensor([[9, end, end], [9, 9, 9]])], 1)

    reader.module.generate = generate
    cut, whole = reader.answer([Reading("l", "Qui ?", long), Reading("s", "Qui ?", short)], 2)
    assert (whole.read, whole.ended, cut.ended) == (len(short), False, True)
    features = reader.features([SquadQuestion("q", "t", long, "Qui ?", ((long[0], 0),))])
    asked = reader.tokenizer.decode(features.items[0].prompt, skip_special_tokens=True)
    assert f"Contexte : {long[: cut.read]}\nQuestion" in asked
    assert cut.read < len(long)


def test_the_adapter_alone_is_saved_and_finds_its_base(reader, base, tmp_path):
    asked = readings(questions(8))
    models = tmp_path / "models"
    shutil.copytree(base, models / "base" / "llama")
    reader.base = models / "base" / "llama"
    saved = models / "readers" / "llama" / "seed-0"
    reader.save(saved)
    names = load_file(saved / ADAPTER)
    assert all("lora_" in name for name in names)
    assert not [path for path in saved.rglob("*") if path.suffix in (".bin", ".pt", ".pkl")]
    assert str(tmp_path) not in "".join(path.read_text() for path in saved.glob("*.json"))
    shutil.move(models, tmp_path / "elsewhere")
    moved = tmp_path / "elsewhere" / "readers" / "llama" / "seed-0"
    again = load_reader(moved)
    assert again.answer(asked, 8) == reader.answer(asked, 8)
    assert again.settings == reader.settings
    assert not again.module.training

    (moved / ADAPTER).rename(moved / "kept")
    with pytest.raises(BadInput, match="no LoRA adapter"):
        load_reader(moved)
    (moved / "kept").replace(moved / ADAPTER)
    write_json(moved / BASE, {"folder": "../../../base/gone"})
    with pytest.raises(BadInput, match=r"base/gone: the adapter's base model is not there"):
        load_reader(moved)
