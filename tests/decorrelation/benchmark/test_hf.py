"""Each kind gives what the network itself gives for the pair, and a folder that cannot be used is refused by name."""

import json

import numpy as np
import pytest
import torch
import transformers
from torch.nn.functional import normalize

from tests.decorrelation.benchmark.benchmark_project import write_hugging_face
from tests.decorrelation.tiny_models import pictures
from trivium.core.errors import BadInput
from trivium.decorrelation.benchmark.family import FAMILIES, find_model
from trivium.decorrelation.benchmark.libraries import KINDS

TEXTS = ["A dog and a frisbee.", "Two dogs share a frisbee in a park.", "A cat."]


def cosines(model):
    with torch.inference_mode():
        images, texts = model.encode_images(pictures(3, 20)), model.encode_texts(TEXTS)
    return (normalize(images, dim=1) @ normalize(texts, dim=1).T).numpy()


@pytest.mark.parametrize("kind", KINDS)
def test_towers_give_the_scores_of_the_whole_network(kind, tmp_path):
    folder = write_hugging_face(kind, tmp_path / kind, TEXTS)
    asked = FAMILIES["hf"].load(str(folder))
    network = getattr(transformers, KINDS[kind].network).from_pretrained(folder).eval()
    prepare = transformers.AutoImageProcessor.from_pretrained(folder)
    full = {"padding": "max_length", "max_length": 24} if KINDS[kind].full else {"padding": True}
    tokens = transformers.AutoTokenizer.from_pretrained(folder)(TEXTS, return_tensors="pt", **full)
    wanted = {name: tokens[name] for name in ("input_ids", "attention_mask")}
    with torch.inference_mode():
        inputs = {**prepare(images=pictures(3, 20), return_tensors="pt"), **wanted}
        if kind == "blip":
            right = network(**inputs, use_itm_head=False).itm_score
        else:
            out = network(**inputs)
            right = out.image_embeds @ out.text_embeds.T
    np.testing.assert_allclose(cosines(asked), right.numpy(), atol=1e-5)


def test_only_blip_has_something_to_say_of_its_figures(tmp_path):
    assert "matching head" in FAMILIES["hf"].load(str(write_hugging_face("blip", tmp_path / "b", TEXTS))).note
    assert FAMILIES["hf"].load(str(write_hugging_face("clip", tmp_path / "c", TEXTS))).note == ""


def test_gemmas_vocabulary_makes_texts_lower_case(tmp_path):
    model = FAMILIES["hf"].load(str(write_hugging_face("siglip", tmp_path / "m", TEXTS)))
    seen = []
    model._tokenizer = lambda texts, **_: (
        seen.extend(texts) or transformers.BatchEncoding({"input_ids": torch.zeros(1, 24, dtype=torch.long)})
    )
    for lower in (False, True):
        model._lower = lower
        model.encode_texts(["A Dog."])
    assert seen == ["A Dog.", "a dog."]


def test_a_vision_tower_alone_has_no_text_tower(tmp_path):
    folder = write_hugging_face("clip", tmp_path / "m", TEXTS)
    transformers.CLIPModel.from_pretrained(folder).vision_model.save_pretrained(folder)
    config = json.loads((folder / "config.json").read_text())
    assert config["model_type"] == "clip_vision_model"
    with pytest.raises(BadInput, match=r"field 'model_type': a model without a text tower; got 'clip_vision_model'"):
        find_model(str(folder))


def test_pickled_weights_are_not_read(tmp_path):
    folder = write_hugging_face("clip", tmp_path / "m", TEXTS)
    torch.save({}, folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    with pytest.raises(BadInput, match=r"not a CLIPModel.*safetensors"):
        FAMILIES["hf"].load(str(folder))


@pytest.mark.parametrize("name", ["preprocessor_config.json", "tokenizer.json"])
def test_what_a_folder_lacks_is_said(name, tmp_path):
    folder = write_hugging_face("clip", tmp_path / "m", TEXTS)
    (folder / name).unlink()
    with pytest.raises(BadInput, match=str(folder)):
        FAMILIES["hf"].load(str(folder))


def test_another_architecture_is_refused_with_the_choices(tmp_path):
    folder = tmp_path / "bert"
    folder.mkdir()
    (folder / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(BadInput, match=r"got 'bert' \(choices: clip, siglip, siglip2, align, blip\)"):
        find_model(f"hf:{folder}")


@pytest.mark.parametrize("name", ["no such/name/at all", "../x", ""])
def test_what_no_hub_has_is_refused_at_once(name):
    with pytest.raises(BadInput):
        find_model(f"hf:{name}")


def test_a_hub_that_is_not_there_is_one_clear_line(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(BadInput, match=r"cannot be had from the hub: .*; got 'nobody/has-this'$"):
        FAMILIES["hf"].load("nobody/has-this")
