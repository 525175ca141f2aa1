"""One small model of each of open_clip's architectures runs; what its lists hold, and what a folder lacks, is said."""

import json

import numpy as np
import open_clip
import pytest
import torch
from PIL import Image
from safetensors.torch import save_file
from torch.nn.functional import normalize

from sample.scene_models.scene_networks import save_clip_tokenizer
from tests.decorrelation.tiny_models import CAPTIONS, pictures, write_base
from trivium.core.errors import BadInput
from trivium.decorrelation.benchmark import libraries
from trivium.decorrelation.benchmark.family import FAMILIES, find_model

TEXT = {"context_length": 12, "width": 16, "heads": 2, "layers": 1}
SIGLIP = {"no_causal_mask": True, "proj_bias": True, "pool_type": "last", "tokenizer_kwargs": {"clean": "canonicalize"}}
TIMM = {"timm_model_pretrained": False, "timm_proj": "linear", "image_size": 224}
# Architectures as in open_clip's configurations, with the smallest towers that timm has.
SMALL = {
    "siglip": {
        "custom_text": True,
        "init_logit_bias": -10,
        "vision_cfg": TIMM | {"timm_model_name": "test_vit3", "timm_pool": "map", "image_size": 160},
        "text_cfg": TEXT | SIGLIP,
    },
    "eva": {"custom_text": True, "text_cfg": TEXT,
            "vision_cfg": TIMM | {"timm_model_name": "eva02_tiny_patch14_224", "timm_pool": "token"}},
    "pe": {"custom_text": True, "text_cfg": TEXT,
           "vision_cfg": TIMM | {"timm_model_name": "vit_pe_core_tiny_patch16_384", "timm_pool": "map", "image_size": 384}},
    "mobileclip": {"custom_text": True, "text_cfg": TEXT | {"no_causal_mask": True},
                   "vision_cfg": TIMM | {"timm_model_name": "fastvit_t8", "timm_pool": "avg"}},
    "vit": {"text_cfg": TEXT, "vision_cfg": {"image_size": 16, "layers": 1, "width": 16, "head_width": 8, "patch_size": 8}},
    "resnet": {"text_cfg": TEXT, "vision_cfg": {"image_size": 32, "layers": [1, 1, 1, 1], "width": 8, "patch_size": None}},
    "coca": {
        "custom_text": True,
        "multimodal_cfg": TEXT | {"dim_head": 8, "n_queries": 4, "attn_pooler_heads": 2, "mlp_ratio": 2},
        "vision_cfg": {"image_size": 16, "layers": 1, "width": 16, "head_width": 8, "patch_size": 8,
                       "output_tokens": True, "attentional_pool": True, "attn_pooler_heads": 2},
        "text_cfg": TEXT | {"embed_cls": True, "output_tokens": True},
    },
}  # fmt: skip
CLASSES = {"siglip": "CustomTextCLIP", "eva": "CustomTextCLIP", "pe": "CustomTextCLIP", "mobileclip": "CustomTextCLIP",
           "vit": "CLIP", "resnet": "CLIP", "coca": "CoCa"}  # fmt: skip


def write_small(kind, folder):
    torch.manual_seed(0)
    folder.mkdir()
    words = len(save_clip_tokenizer(CAPTIONS, folder))
    config = json.loads(json.dumps(SMALL[kind])) | {"embed_dim": 8}
    config["text_cfg"] |= {"vocab_size": words, "hf_tokenizer_name": "words"}
    if kind == "coca":
        config["multimodal_cfg"]["vocab_size"] = words
    network = getattr(open_clip, CLASSES[kind])(
        **{name: value for name, value in config.items() if name != "custom_text"}
    )
    save_file(
        {name: each.contiguous() for name, each in network.state_dict().items()}, folder / "open_clip_model.safetensors"
    )
    (folder / "open_clip_config.json").write_text(json.dumps({"model_cfg": config, "preprocess_cfg": {}}))
    return folder, network.eval()


@pytest.mark.parametrize("kind", SMALL)
def test_a_small_model_of_each_family_runs_from_its_folder(kind, tmp_path):
    folder, network = write_small(kind, tmp_path / kind)
    found = find_model(str(folder))
    assert (found.name, found.family) == (kind, "open_clip")
    model = found.load()
    with torch.inference_mode():
        images, texts = model.encode_images(pictures(3, 40)), model.encode_texts(CAPTIONS)
        prepare = open_clip.create_model_and_transforms(f"local-dir:{folder}")[2]
        right = network.encode_image(torch.stack([prepare(each) for each in pictures(3, 40)]))
        tokenize = open_clip.get_tokenizer(f"local-dir:{folder}", trust_remote_code=False)
        padded = network.encode_text(tokenize(CAPTIONS))  # CLIP's is encoded without the padding
    assert images.shape == (3, 8)
    assert texts.shape == (4, 8)
    torch.testing.assert_close(images, right, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(normalize(texts), normalize(padded), atol=1e-5, rtol=1e-5)
    assert len(np.unique(texts.numpy().round(5), axis=0)) == len(set(CAPTIONS))


def test_siglip_2_scales_pictures_as_its_folder_says(tmp_path):
    """Squashed to a square whatever their shape, mean and deviation of one half; the text tower's own activation."""
    folder, _ = write_small("siglip", tmp_path / "siglip2")
    config = json.loads((folder / "open_clip_config.json").read_text())
    config["model_cfg"]["text_cfg"]["act_kwargs"] = {"approximate": "tanh"}
    half = [0.5, 0.5, 0.5]
    config["preprocess_cfg"] = {"mean": half, "std": half, "interpolation": "bicubic", "resize_mode": "squash"}
    (folder / "open_clip_config.json").write_text(json.dumps(config))
    model = find_model(str(folder)).load()
    wide = Image.fromarray(np.random.default_rng(0).integers(0, 255, (40, 90, 3), np.uint8))
    right = np.asarray(wide.resize((160, 160), Image.Resampling.BICUBIC)) / 127.5 - 1
    np.testing.assert_allclose(model._prepare(wide).permute(1, 2, 0).numpy(), right, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "ViT-B-16-siglip2/webli",
            r"no such configuration of open_clip; got 'ViT-B-16-siglip2' \(choices: ViT-B-16-Sig",
        ),
        ("vitb32/openai", r"got 'vitb32' \(choices: ViT-B-32, "),
        ("ViT-B-32/laion", r"no such weights of this configuration; got 'laion'.*\(choices: openai, "),
        ("ViT-B-32", r"no such weights of this configuration; got ''.*expected open_clip:ViT-B-32/TAG"),
    ],
)
def test_names_that_open_clip_lacks_come_with_close_ones(name, message):
    with pytest.raises(BadInput, match=message):
        find_model(f"open_clip:{name}")


def test_weights_that_were_trained_with_another_activation_get_it(monkeypatch):
    asked = []
    network = torch.nn.Identity()
    monkeypatch.setattr(
        libraries, "load_open_clip", lambda *_, **given: asked.append(given) or (network, None, None, None)
    )
    for name in ("ViT-B-32/openai", "ViT-B-32/laion2b_s34b_b79k"):
        FAMILIES["open_clip"].load(name)
    assert [given["force_quick_gelu"] for given in asked] == [True, False]


def test_a_tokenizer_with_more_words_than_the_network_is_refused(tmp_path):
    folder, _ = write_small("vit", tmp_path / "vit")
    model = find_model(str(folder)).load()
    model._tokenize = open_clip.get_tokenizer("ViT-B-32")
    with pytest.raises(BadInput, match=r"vit: the tokenizer is of another network.*; got 49407; expected at most \d"):
        model.encode_texts(CAPTIONS)


def test_a_folder_without_weights_is_refused(tmp_path):
    folder = write_base("clip", tmp_path / "clip")
    (folder / "open_clip_model.safetensors").unlink()
    with pytest.raises(BadInput, match="no weights"):
        find_model(str(folder))


def test_weights_of_another_network_name_the_layer(tmp_path):
    folder = write_base("clip", tmp_path / "clip")
    config = json.loads((folder / "open_clip_config.json").read_text())
    config["model_cfg"]["vision_cfg"]["layers"] = 2
    (folder / "open_clip_config.json").write_text(json.dumps(config))
    with pytest.raises(
        BadInput, match=r"weights do not fit the architecture: 12 missing, such as visual[^,]*, [^,]*, [^,]*$"
    ):
        FAMILIES["open_clip"].load(str(folder))


def test_a_folder_with_weights_of_pictures_alone_has_no_text_tower(tmp_path):
    folder, network = write_small("vit", tmp_path / "vit")
    seen = {name: value for name, value in network.state_dict().items() if name.startswith("visual.")}
    save_file(seen, folder / "open_clip_model.safetensors")
    with pytest.raises(BadInput, match=r"vit: the folder has no text tower; got 'no token_embedding.weight'; expected"):
        find_model(str(folder)).load()
