"""Where the retrieval models start: the sample's are trained and load; brought ones are checked; the hub's are built."""

import json

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file, save_file

from sample.scene_models.settings import DecorrelationBaseModelsParameters
from stages.decorrelation.base_models import main
from tests.decorrelation.tiny_models import SETTINGS, write_base
from trivium.core.curves import Curves
from trivium.core.engine import LocalEngine
from trivium.core.errors import BadInput
from trivium.core.stage import Context
from trivium.core.tracking import Tracker
from trivium.decorrelation.models.interface import start
from trivium.sources.brought import PROVENANCE

STEPS = {"steps": 2, "batch": 4, "learning_rate": 1e-3}
PARAMETERS = {
    "models": ["clip", "vse", "blip", "captioner"],
    "seed": 5,
    "picture_size": 48,
    "scenes": 12,
    "co_occurrence": 0.9,
    "mention": 0.95,
    "usual_colour": 0.9,
    "clip": STEPS | {"width": 2, "dimension": 8, "tokens": 28},
    "vse": STEPS | {"channels": [4, "M"], "grid": 2, "hidden": 8},
    "blip": STEPS | {"patch": 8, "width": 32, "layers": 1, "dimension": 8, "taught_steps": 2},
    "captioner": STEPS,
}


def parameters(**changes):
    return DecorrelationBaseModelsParameters.model_validate(PARAMETERS | changes)


def from_folder(own, folder):
    return own.model_copy(update={"source": "local", "local": str(folder)})


@pytest.fixture(scope="module")
def context(tmp_path_factory):
    work = tmp_path_factory.mktemp("work")
    return Context(tracker=Tracker(curves=Curves(work / "curves.jsonl")), work=work, engine=LocalEngine(1))


@pytest.fixture(scope="module")
def sample(context, tmp_path_factory):
    out = tmp_path_factory.mktemp("models") / "base"
    return out, main(parameters(), context, out=out)


@pytest.mark.parametrize("kind", ["clip", "vse", "blip"])
def test_the_samples_models_start_and_train(sample, kind):
    folder, metrics = sample
    settings = SETTINGS[kind].model_copy(update={"image_size": 48, "text_tokens": 30} if kind == "blip" else {})
    model = start(kind, folder / kind, settings, ["a dog and a frisbee", "a cat"])
    pixels = torch.stack(
        [model.prepare(Image.new("RGB", (48, 48), colour), training=True) for colour in ("red", "blue")]
    )
    tokens = model.tokenize(["a dog and a frisbee", "a cat"])
    loss = model.loss(pixels, tokens, pictures=torch.tensor([0, 1]), progress=0.0)
    assert loss.isfinite()
    assert np.isfinite(metrics[f"{kind}_loss"])
    assert json.loads((folder / kind / PROVENANCE).read_text())["licence"]


def test_the_samples_captioner_writes_words_of_its_captions(sample):
    from trivium.decorrelation.captions.captioner import Captioner

    folder, _ = sample
    [caption] = Captioner(folder / "captioner", beams=1, max_tokens=6).caption([Image.new("RGB", (48, 48))], batch=1)
    words = json.loads((folder / "captioner" / "tokenizer.json").read_text())["model"]["vocab"]
    assert set(caption.split()) <= set(words)


def test_models_of_your_own_are_checked_and_taken(context, tmp_path):
    for kind in ("clip", "vse", "blip"):
        write_base(kind, tmp_path / "mine" / kind)
    own = parameters(models=["clip", "vse", "blip"])
    counts = main(from_folder(own, tmp_path / "mine"), context, out=tmp_path / "base")
    files = list((tmp_path / "base" / "blip").iterdir())
    assert counts["blip_bytes"] == sum(path.stat().st_size for path in files)
    origin = json.loads((tmp_path / "base" / "blip" / PROVENANCE).read_text())
    assert set(origin["sha256"]) >= {"config.json", "model.safetensors"}
    assert start("vse", tmp_path / "base" / "vse", SETTINGS["vse"], ["a"]).dimension == 6


def test_models_of_your_own_that_do_not_fit_are_refused(context, tmp_path):
    mine, own = tmp_path / "mine", parameters(models=["blip"])
    with pytest.raises(BadInput, match="no folder of this model"):
        main(from_folder(own, mine), context, out=tmp_path / "base")
    write_base("blip", mine / "blip")
    weights = load_file(mine / "blip" / "model.safetensors")
    del weights["itm_head.bias"]
    save_file(weights, mine / "blip" / "model.safetensors")
    with pytest.raises(BadInput, match=r"do not fit.*itm_head\.bias"):
        main(from_folder(own, mine), context, out=tmp_path / "base")
    (mine / "lama").mkdir()
    (mine / "lama" / "big-lama.pt").write_bytes(b"nothing")
    with pytest.raises(BadInput, match="TorchScript"):
        main(from_folder(parameters(models=["lama"]), mine), context, out=tmp_path / "base")
    assert not (tmp_path / "base").exists()
