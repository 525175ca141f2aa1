"""CLIP: its loss by hand, its folder is open_clip's."""

import json

import numpy as np
import open_clip
import pytest
import torch

from tests.decorrelation.tiny_models import CAPTIONS, SETTINGS, pictures, write_base
from trivium.decorrelation.models.clip import Clip
from trivium.decorrelation.models.interface import start
from trivium.vision.encoders.clip import OpenClipTower


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return write_base("clip", tmp_path_factory.mktemp("base") / "clip")


def test_symmetric_contrastive_loss_by_hand(base):
    model = start("clip", base, SETTINGS["clip"], [])
    images, texts = (np.array(rows, np.float32) for rows in ([[1, 0], [0.6, 0.8]], [[0.8, 0.6], [0, 1]]))
    scale = float(model.module.logit_scale.exp())
    logits = scale * images @ texts.T
    rows = [logits[i, i] - np.log(np.exp(logits[i]).sum()) for i in range(2)]
    columns = [logits[i, i] - np.log(np.exp(logits[:, i]).sum()) for i in range(2)]
    loss = model.contrast(torch.tensor(images), torch.tensor(texts), pictures=torch.zeros(2), progress=0.0)
    assert float(loss) == pytest.approx(-(np.mean(rows) + np.mean(columns)) / 2, rel=1e-5)


def test_the_scale_is_learned_up_to_a_hundred(base):
    model = start("clip", base, SETTINGS["clip"], [])
    embeddings = torch.eye(2, 6)

    def loss(log_scale):
        with torch.no_grad():
            model.module.logit_scale.fill_(log_scale)
        return model.contrast(embeddings, embeddings.flip(0), pictures=torch.arange(2), progress=0.0)

    assert torch.equal(loss(np.log(100)), loss(20.0))
    loss(1.0).backward()
    assert model.module.logit_scale.grad != 0


def test_the_saved_folder_is_an_open_clip_model(base, tmp_path):
    model = start("clip", base, SETTINGS["clip"], [])
    model.save(tmp_path / "saved")
    theirs, _, prepare = open_clip.create_model_and_transforms(f"local-dir:{tmp_path / 'saved'}")
    tokenizer = open_clip.get_tokenizer(f"local-dir:{tmp_path / 'saved'}")
    image = pictures(1, 40)[0]
    theirs.eval()
    with torch.no_grad():
        expected = theirs.encode_image(prepare(image)[None], normalize=True)
        assert torch.allclose(model.encode_images(model.prepare(image, training=False)[None]), expected, atol=1e-6)
        expected = theirs.encode_text(tokenizer(CAPTIONS), normalize=True)
        assert torch.allclose(model.encode_texts(model.tokenize(CAPTIONS)), expected, atol=1e-6)


def test_the_saved_folder_is_an_image_encoder_of_kvqae(base, tmp_path):
    model = start("clip", base, SETTINGS["clip"], [])
    model.save(tmp_path / "saved")
    images = [pictures(1, 40)[0], pictures(1, 64)[0]]
    expected = model.encode_images(torch.stack([model.prepare(image, training=False) for image in images]))
    found = OpenClipTower.load(tmp_path / "saved", torch.device("cpu"))(images)
    assert np.allclose(found, expected.detach().numpy(), atol=1e-5)


def test_a_released_model_has_open_clips_own_tokenizer(base, tmp_path):
    config = json.loads((base / "open_clip_config.json").read_text())
    text = config["model_cfg"]["text_cfg"]
    del text["hf_tokenizer_name"]
    text["vocab_size"] = 49408
    from safetensors.torch import save_file

    (tmp_path / "open_clip_config.json").write_text(json.dumps(config))
    weights = open_clip.model.CLIP(**config["model_cfg"]).state_dict()
    save_file({k: v.contiguous() for k, v in weights.items()}, tmp_path / "open_clip_model.safetensors")
    ids = Clip(tmp_path, smallest_crop=1.0).tokenize(["a dog"])["ids"]
    assert ids[0, :4].tolist() == [49406, 320, 1929, 49407]
