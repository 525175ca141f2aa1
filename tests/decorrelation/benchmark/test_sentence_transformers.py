"""A CLIP that sentence-transformers has written gives what transformers gives; a model of texts alone is refused."""

import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules.transformer import Transformer
from torch.nn.functional import normalize
from transformers import BertConfig, BertModel

from sample.scene_models.scene_networks import save_bert_tokenizer
from tests.decorrelation.benchmark.benchmark_project import write_hugging_face, write_qwen_embedding
from tests.decorrelation.tiny_models import pictures
from trivium.core.errors import BadInput
from trivium.decorrelation.benchmark.family import FAMILIES, find_model

TEXTS = ["A dog and a frisbee.", "Two dogs share a frisbee in a park.", "A cat."]


def test_both_towers_are_those_of_transformers(tmp_path):
    plain = write_hugging_face("clip", tmp_path / "plain", TEXTS)
    SentenceTransformer(modules=[Transformer(str(plain))], device="cpu").save(str(tmp_path / "clip"))
    found = find_model(str(tmp_path / "clip"))
    assert found.family == "sentence_transformers"
    model, other = found.load(), FAMILIES["hf"].load(str(plain))
    with torch.inference_mode():
        for own, right in (
            (model.encode_images(pictures(3, 20)), other.encode_images(pictures(3, 20))),
            (model.encode_texts(TEXTS), other.encode_texts(TEXTS)),
        ):
            torch.testing.assert_close(normalize(own, dim=1), normalize(right, dim=1), atol=1e-5, rtol=0)


def test_a_model_of_texts_alone_is_refused(tmp_path):
    words = len(save_bert_tokenizer(TEXTS, tmp_path / "plain"))
    BertModel(
        BertConfig(vocab_size=words, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16)
    ).save_pretrained(tmp_path / "plain")
    SentenceTransformer(modules=[Transformer(str(tmp_path / "plain"))], device="cpu").save(str(tmp_path / "bert"))
    with pytest.raises(BadInput, match=r"a model without a picture tower; got \['text'\]"):
        find_model(str(tmp_path / "bert")).load()


def test_a_folder_without_modules_is_refused(tmp_path):
    (tmp_path / "m").mkdir()
    with pytest.raises(BadInput, match=r"modules\.json: no configuration"):
        find_model(f"sentence_transformers:{tmp_path / 'm'}")
    (tmp_path / "m" / "modules.json").write_text('[{"idx": 0, "name": "0", "path": "", "type": "theirs.Model"}]')
    with pytest.raises(BadInput, match="not a usable model of sentence-transformers"):
        find_model(str(tmp_path / "m")).load()


def test_qwens_embedding_model_sees_pictures_and_reads_texts(tmp_path):
    """Qwen3-VL as sentence-transformers saves it: a thing has one vector, alone and in a batch."""
    model = find_model(str(write_qwen_embedding(tmp_path, TEXTS))).load()
    with torch.inference_mode():
        for encode, things in ((model.encode_images, pictures(3, 20)), (model.encode_texts, TEXTS)):
            together = encode(things)
            assert together.shape == (3, 16)
            torch.testing.assert_close(together, torch.cat([encode([thing]) for thing in things]), atol=1e-5, rtol=0)
            assert (together[0] - together[1]).abs().max() > 1e-3
