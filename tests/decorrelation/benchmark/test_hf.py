"""Each kind gives what the network itself gives for the pair, and a folder that cannot be used is refused by name."""

import json

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from torch.nn.functional import normalize

from tests.decorrelation.benchmark.benchmark_project import texts_of, write_hugging_face, write_project
from tests.decorrelation.tiny_models import pictures
from trivium.core.errors import BadInput
from trivium.decorrelation.benchmark.answers import TrainedModel, answer
from trivium.decorrelation.benchmark.benchmark_set import open_set
from trivium.decorrelation.benchmark.embeddings import embed
from trivium.decorrelation.benchmark.family import FAMILIES, find_model
from trivium.decorrelation.benchmark.libraries import KINDS
from trivium.decorrelation.models.interface import load

TEXTS = ["A dog and a frisbee.", "Two dogs share a frisbee in a park.", "A cat."]


def cosines(model):
    with torch.inference_mode():
        images, texts = model.encode_images(pictures(3, 20)), model.encode_texts(TEXTS)
    products = normalize(images, dim=-1) @ normalize(texts, dim=1).T
    return (products.max(dim=1).values if products.ndim == 3 else products).numpy()  # the best of several vectors


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
        elif kind == "blip-2":
            right = network(**inputs, use_image_text_matching_head=False).logits_per_image
        else:
            out = network(**inputs)
            right = out.image_embeds @ out.text_embeds.T
    np.testing.assert_allclose(cosines(asked), right.numpy(), atol=1e-5)


def test_blips_matching_head_is_the_graphs(tmp_path):
    """The same folder as a model of the graph: [ENC] in place of [CLS], whatever the texts' lengths."""
    folder = write_hugging_face("blip", tmp_path / "b", TEXTS)
    config = json.loads((folder / "config.json").read_text())
    own = FAMILIES["hf"].load(str(folder))
    (folder / "config.json").write_text(json.dumps(config | {"kind": "blip", "text_tokens": 24}))
    graph = load(folder)
    asked = [TEXTS, TEXTS[:1], []]
    pixels = own._pixels(pictures(3, 20))["pixel_values"]
    for found, right in zip(own.match(pictures(3, 20), asked), graph.match(list(pixels), asked), strict=True):
        np.testing.assert_allclose(found, right, atol=1e-5)


def test_the_matching_head_has_its_say(tmp_path):
    """A two-stage answer differs from that of embeddings alone, and is the graph's for the same weights."""
    project = write_project(tmp_path / "project")
    folder = write_hugging_face("blip", tmp_path / "b", texts_of(project))
    asked, model = open_set(project), FAMILIES["hf"].load(str(folder))
    vectors = embed(model, asked, "blip")
    both, alone = answer(asked, vectors, model), answer(asked, vectors)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"kind": "blip", "text_tokens": 24}))
    trained = TrainedModel(folder)
    graph = trained.answer(asked)
    assert trained.encode_images(pictures(3, 20)).shape == (3, vectors.captions.shape[1])  # as `trivium kb` asks it
    assert (both.captions != alone.captions).any()
    np.testing.assert_allclose(both.pairs, graph.pairs, atol=1e-2)  # pictures are scaled by another library
    assert not np.allclose(both.pairs, alone.pairs)


def test_the_best_of_several_vectors_is_found_as_by_all_products(tmp_path):
    """BLIP-2's answers against a matrix of all scores."""
    project = write_project(tmp_path / "project")
    folder = write_hugging_face("blip-2", tmp_path / "b", texts_of(project))
    asked, model = open_set(project), FAMILIES["hf"].load(str(folder))
    vectors = embed(model, asked, "blip-2")
    assert vectors.painted.shape == (9, 3, 6)
    answers = answer(asked, vectors)
    scores = (vectors.painted @ vectors.captions.T).max(axis=1)
    for row, chosen in zip(scores, answers.captions, strict=True):
        order = np.lexsort((asked.captions.ids, -row))[:10]
        np.testing.assert_allclose(row[order], row[asked.gallery.rows(chosen)], atol=1e-6)
    test = asked.captions.test
    products = (vectors.pictures @ vectors.captions[test].T).max(axis=1)
    own = np.array(asked.pictures.owners)[:, None] == asked.captions.pictures[test]
    for found, values, mine in ((answers.to_text, products, own), (answers.to_image, products.T, own.T)):
        best = np.where(mine, values, -np.inf).max(axis=1, keepdims=True)
        np.testing.assert_array_equal(found, 1 + ((values >= best) & ~mine).sum(axis=1))
    y = vectors.captions[asked.pairs.captions]
    expected = np.einsum("nsd,nd->ns", vectors.painted[asked.pairs.queries], y).max(axis=1)
    np.testing.assert_allclose(answers.pairs[:, 1, 0], expected, atol=1e-6)


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


def test_a_tokenizer_with_more_words_than_the_network_is_refused(tmp_path):
    folder = write_hugging_face("clip", tmp_path / "m", TEXTS)
    network = transformers.CLIPModel.from_pretrained(folder)
    network.text_model.embeddings.token_embedding = torch.nn.Embedding(5, 16)
    network.config.text_config.vocab_size = 5
    network.save_pretrained(folder)
    model = find_model(str(folder)).load()
    with pytest.raises(BadInput, match=r"/m: the tokenizer is of another network.*; got \d+; expected at most 4, by"):
        model.encode_texts(TEXTS)


def test_a_vision_tower_alone_has_no_text_tower(tmp_path):
    folder = write_hugging_face("clip", tmp_path / "m", TEXTS)
    transformers.CLIPModel.from_pretrained(folder).vision_model.save_pretrained(folder)
    config = json.loads((folder / "config.json").read_text())
    assert config["model_type"] == "clip_vision_model"
    with pytest.raises(BadInput, match=r"field 'model_type': a model without a text tower; got 'clip_vision_model'"):
        find_model(str(folder))


def test_a_folder_with_weights_of_pictures_alone_has_no_text_tower(tmp_path):
    folder = write_hugging_face("clip", tmp_path / "m", TEXTS)
    weights = load_file(folder / "model.safetensors")
    seen = {name: value for name, value in weights.items() if name.startswith("vis")}
    save_file(seen, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(
        BadInput, match="m: the folder has no text tower; got 'no text_model.+token_embedding.weight'; expected"
    ):
        find_model(str(folder)).load()


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
    with pytest.raises(BadInput, match=r"got 'bert' \(choices: clip, metaclip_2, altclip, chinese_clip,"):
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
