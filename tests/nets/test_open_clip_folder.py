"""A folder in open_clip's format is loaded without the hub, or refused at once."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.kvqae.tiny_encoders import write_clip
from trivium.core.errors import BadInput
from trivium.decorrelation.models.clip import Clip as RetrievalClip
from trivium.nets.open_clip_folder import require_offline
from trivium.vision.encoders.clip import Clip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_clip(tmp_path / "clip")


def change(folder: Path, part: str, **fields: Any) -> Path:
    config = json.loads((folder / "open_clip_config.json").read_text())
    config["model_cfg"].setdefault(part, {}).update(fields)
    (folder / "open_clip_config.json").write_text(json.dumps(config))
    return folder


def test_a_folder_that_has_all_is_taken(folder: Path):
    require_offline(folder)
    require_offline(change(folder, "vision_cfg", timm_model_name="vit_tiny_patch16_224"))


@pytest.mark.parametrize(
    ("part", "field", "name"),
    [
        ("text_cfg", "hf_model_name", "roberta-base"),
        ("multimodal_cfg", "hf_model_name", "roberta-base"),
        ("vision_cfg", "timm_model_name", "hf-hub:timm/vit_tiny_patch16_224"),
    ],
)
def test_a_tower_from_the_hub_is_refused_before_anything_is_asked(folder: Path, part: str, field: str, name: str):
    change(folder, part, **{field: name})
    message = rf"clip/open_clip_config\.json: field 'model_cfg\.{part}\.{field}': a model of the hub; got '{name}'"
    with pytest.raises(BadInput, match=message):
        Clip.load(folder, torch.device("cpu"))
    with pytest.raises(BadInput, match=message):
        RetrievalClip(folder, smallest_crop=1.0)


def test_code_beside_a_tokenizer_is_not_trusted(folder: Path):
    change(folder, "text_cfg", hf_tokenizer_name="x", tokenizer_kwargs={"trust_remote_code": True})
    with pytest.raises(BadInput, match="code beside a tokenizer is not trusted"):
        RetrievalClip(folder, smallest_crop=1.0)
