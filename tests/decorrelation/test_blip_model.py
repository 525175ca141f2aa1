"""BLIP: two-stage scores, the targets' ramp, position embeddings of another size, its own checkpoints."""

import re

import numpy as np
import pytest
import torch
from transformers import BlipConfig, BlipForImageTextRetrieval

from tests.decorrelation.tiny_models import CAPTIONS, SETTINGS, pictures, write_base
from trivium.core.errors import BadInput
from trivium.decorrelation.models.blip import MATCH, interpolated, read_blip
from trivium.decorrelation.models.interface import start
from trivium.sources.decorrelation.models import add_marks, convert_blip


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return write_base("blip", tmp_path_factory.mktemp("base") / "blip")


@pytest.fixture
def model(base):
    torch.manual_seed(0)
    return start("blip", base, SETTINGS["blip"], [])


def test_match_is_transformers_matching_head_with_the_mark_of_matching(model, base):
    images = [model.prepare(image, training=False) for image in pictures(3)]
    texts = [[CAPTIONS[0], CAPTIONS[3]], [], [CAPTIONS[2]]]
    scores = model.match(images, texts)
    assert [len(each) for each in scores] == [2, 0, 1]
    network = BlipForImageTextRetrieval.from_pretrained(base).eval()
    _, tokenizer = read_blip(base, image_size=None)
    for image, own, found in zip(images, texts, scores, strict=True):
        for text, score in zip(own, found, strict=True):
            read = tokenizer([text], return_tensors="pt")
            read["input_ids"][:, 0] = tokenizer.convert_tokens_to_ids(MATCH)
            with torch.no_grad():
                expected = network(
                    input_ids=read["input_ids"], attention_mask=read["attention_mask"], pixel_values=image[None]
                ).itm_score[0, 1]
            assert score == pytest.approx(float(expected), abs=1e-5)
    assert model.match([], []) == []
    assert [each.size for each in model.match(images[:2], [[], []])] == [0, 0]


def test_tokens_are_the_tokenizers_in_any_order_and_again(model, base):
    _, tokenizer = read_blip(base, image_size=None)
    for texts in (CAPTIONS, CAPTIONS[::-1], [CAPTIONS[0], "a", CAPTIONS[0], ""]):
        expected = tokenizer(texts, padding="longest", truncation=True, max_length=model._tokens, return_tensors="pt")
        found = model.tokenize(texts)
        assert torch.equal(found["ids"], expected["input_ids"])
        assert torch.equal(found["mask"], expected["attention_mask"])


def test_the_weight_of_soft_targets_rises(model, monkeypatch):
    seen = []
    monkeypatch.setattr(type(model.module), "loss", lambda self, *arguments: seen.append(arguments[-1]))
    tokens = model.tokenize(CAPTIONS[:1])
    for progress in (0.0, 0.25, 0.5, 1.0):
        model.loss(torch.zeros(1, 3, 16, 16), tokens, pictures=torch.zeros(1), progress=progress)
    assert seen == pytest.approx([0.0, 0.2, 0.4, 0.4])


def test_the_temperature_comes_back(model, tmp_path):
    with torch.no_grad():
        model.module.temperature.fill_(0.123)
    model.save(tmp_path / "saved")
    again = start("blip", tmp_path / "saved", SETTINGS["blip"], [])
    assert again.module.temperature.item() == pytest.approx(0.123)


def test_interpolation_keeps_the_class_token_and_what_is_constant():
    positions = torch.cat([torch.full((1, 1, 2), 7.0), torch.full((1, 4, 2), 3.0)], dim=1)
    wider = interpolated(positions, 4)
    assert wider.shape == (1, 17, 2)
    assert torch.equal(wider[:, 0], positions[:, 0])
    assert torch.allclose(wider[:, 1:], torch.tensor(3.0))


def original_names(weights):
    """transformers' names → those of BLIP's own code, written out from that code."""
    layer = r"vision_model\.encoder\.layers\.(\d+)\."
    names = {
        r"vision_model\.embeddings\.class_embedding": "visual_encoder.cls_token",
        r"vision_model\.embeddings\.position_embedding": "visual_encoder.pos_embed",
        r"vision_model\.embeddings\.patch_embedding\.(\w+)": r"visual_encoder.patch_embed.proj.\1",
        r"vision_model\.post_layernorm\.(\w+)": r"visual_encoder.norm.\1",
        layer + r"layer_norm(\d)\.(\w+)": r"visual_encoder.blocks.\1.norm\2.\3",
        layer + r"self_attn\.qkv\.(\w+)": r"visual_encoder.blocks.\1.attn.qkv.\2",
        layer + r"self_attn\.projection\.(\w+)": r"visual_encoder.blocks.\1.attn.proj.\2",
        layer + r"mlp\.(fc\d)\.(\w+)": r"visual_encoder.blocks.\1.mlp.\2.\3",
        r"((?:text_encoder|text_proj|vision_proj|itm_head)\..+)": r"\1",
    }
    renamed = {}
    for name, value in weights.items():
        [new] = [re.sub(old, new, name) for old, new in names.items() if re.fullmatch(old, name)]
        renamed[new] = value
    return renamed


def test_blips_own_checkpoint_gives_the_same_model(base, tmp_path):
    network = BlipForImageTextRetrieval.from_pretrained(base)
    weights = original_names(network.state_dict())
    left = {"visual_encoder_m.cls_token": torch.zeros(1), "text_proj_m.bias": torch.zeros(1), "ptr_queue": torch.zeros(1),
            "image_queue": torch.zeros(2), "text_queue": torch.zeros(2), "text_decoder.cls.predictions.bias": torch.zeros(1),
            "text_encoder.embeddings.position_ids": torch.arange(16)[None]}  # fmt: skip
    torch.save({"model": weights | left | {"temp": torch.tensor(0.05)}, "epoch": 3}, tmp_path / "model_base.pth")
    (tmp_path / "out").mkdir()
    convert_blip(tmp_path / "model_base.pth", tmp_path / "out", BlipConfig.from_pretrained(base))
    back = BlipForImageTextRetrieval.from_pretrained(tmp_path / "out")
    assert back.config.contrast_temperature == pytest.approx(0.05)
    for name, value in network.state_dict().items():
        assert torch.equal(back.state_dict()[name], value), name


def test_nothing_but_tensors_is_unpickled(base, tmp_path):
    torch.save({"model": {"temp": np.random.default_rng(0)}}, tmp_path / "model_base.pth")
    with pytest.raises(BadInput, match="not plain tensors"):
        convert_blip(tmp_path / "model_base.pth", tmp_path / "out", BlipConfig.from_pretrained(base))
    (tmp_path / "model_base.pth").write_bytes(b"broken")
    with pytest.raises(BadInput, match="not plain tensors, or broken"):
        convert_blip(tmp_path / "model_base.pth", tmp_path / "out", BlipConfig.from_pretrained(base))


def test_marks_are_added_after_berts_words(tmp_path):
    from transformers import BertTokenizer

    (tmp_path / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "dog"]) + "\n")
    BertTokenizer(str(tmp_path / "vocab.txt")).save_pretrained(tmp_path / "bert")
    add_marks(tmp_path / "bert")
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "bert")
    assert tokenizer.convert_tokens_to_ids(["[DEC]", MATCH]) == [7, 8]
    assert tokenizer("a dog")["input_ids"] == [2, 5, 6, 3]
