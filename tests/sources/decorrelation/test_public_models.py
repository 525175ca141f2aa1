from pathlib import Path

import torch
from PIL import Image
from safetensors.torch import load_file

from tests.sources.public_decorrelation import serve_decorrelation
from trivium.core.tables import read_json
from trivium.decorrelation.captions.captioner import Captioner
from trivium.decorrelation.models.blip import MATCH, read_blip
from trivium.sources.decorrelation.models import fetch_models

PICKLED = ["captioner", "blip_itm_coco", "blip_itm_flickr"]


def test_pickled_repositories_load_as_the_stages_load_them(hub, tmp_path: Path, monkeypatch):
    (tmp_path / "pins.yaml").write_text(serve_decorrelation(hub))
    monkeypatch.setattr("trivium.sources.pins.PINS", tmp_path / "pins.yaml")
    counts = fetch_models(PICKLED, tmp_path / "out", tmp_path / "work")
    assert counts.keys() == {f"{model}_bytes" for model in PICKLED}
    for model in PICKLED:
        folder = tmp_path / "out" / model
        assert not (folder / "pytorch_model.bin").exists()
        assert not [name for name in load_file(folder / "model.safetensors") if "position_ids" in name]
        [source] = read_json(folder / "provenance.json")["sources"].values()
        assert len(source["sha256"]["pytorch_model.bin"]) == 64, "the digest of what was downloaded"
    encoders, tokenizer = read_blip(tmp_path / "out" / "blip_itm_coco", image_size=None)
    assert tokenizer.convert_tokens_to_ids(MATCH) == len(tokenizer) - 1
    assert all(torch.isfinite(value).all() for value in encoders.parameters())
    captioner = Captioner(tmp_path / "out" / "captioner", beams=1, max_tokens=4)
    [caption] = captioner.caption([Image.new("RGB", (20, 30))], batch=1)
    assert isinstance(caption, str)
