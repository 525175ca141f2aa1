"""Text vectors are open_clip's own, from nothing but the folder."""

import json
from pathlib import Path

import numpy as np
import open_clip
import pytest
import torch
from safetensors.torch import save_file

from trivium.core.errors import BadInput
from trivium.nets.open_clip_folder import CONFIG, ClipText

CPU = torch.device("cpu")
TEXTS = ["Ada Lark", "The Old Bridge of Dor", "x"]


def write_both_towers(folder: Path) -> Path:
    """A CLIP with open_clip's own words."""
    torch.manual_seed(0)
    sizes = {
        "embed_dim": 16,
        "vision_cfg": {"image_size": 32, "layers": 1, "width": 64, "patch_size": 8},
        "text_cfg": {"context_length": 16, "vocab_size": 49408, "width": 8, "heads": 1, "layers": 1},
    }
    folder.mkdir(parents=True)
    preparation = {"mean": [0.5, 0.5, 0.5], "std": [0.25, 0.25, 0.25]}
    (folder / CONFIG).write_text(json.dumps({"model_cfg": sizes, "preprocess_cfg": preparation}))
    state = open_clip.CLIP(**sizes).state_dict()
    save_file({name: weights.contiguous() for name, weights in state.items()}, folder / "open_clip_model.safetensors")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_both_towers(tmp_path / "clip")


def test_vectors_are_the_librarys(folder: Path) -> None:
    network, _, _ = open_clip.create_model_and_transforms(f"local-dir:{folder}")
    with torch.inference_mode():
        found = network.eval().encode_text(open_clip.get_tokenizer(f"local-dir:{folder}")(TEXTS))
    expected = torch.nn.functional.normalize(found, dim=1).numpy()
    tower = ClipText(folder, CPU)
    np.testing.assert_allclose(tower.encode(TEXTS, 2), expected, atol=1e-6)
    np.testing.assert_allclose(tower.encode(TEXTS, 100), tower.encode(TEXTS, 1), atol=1e-6)


def test_unusable_folders_are_refused(folder: Path) -> None:
    config = json.loads((folder / CONFIG).read_text())
    config["model_cfg"]["text_cfg"]["width"] = 16
    (folder / CONFIG).write_text(json.dumps(config))
    with pytest.raises(BadInput, match="clip: weights do not fit"):
        ClipText(folder, CPU)
    (folder / "open_clip_model.safetensors").unlink()
    with pytest.raises(BadInput, match=r"clip"):
        ClipText(folder, CPU)
    (folder / CONFIG).unlink()
    with pytest.raises(BadInput, match=r"open_clip_config.json: no such file"):
        ClipText(folder, CPU)
