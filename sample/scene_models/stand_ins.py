"""Train the stand-ins that decorrelation's models start from, and write their folders."""

from pathlib import Path
from typing import Any

from sample.scene_models.settings import DecorrelationBaseModelsParameters
from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.stage import Context
from trivium.core.tables import write_json
from trivium.sources.brought import PROVENANCE

_MADE = ("clip", "vse", "blip", "captioner")


def make_stand_ins(parameters: DecorrelationBaseModelsParameters, context: Context, out: Path) -> dict[str, float]:
    """Train and write the sample's models, in the formats of the real ones.

    Returns:
        `<model>_loss` at the end of each training.

    Raises:
        BadInput: a model that has no stand-in, or the captioner without BLIP.
    """
    for model in parameters.models:
        if model not in _MADE:
            raise BadInput("no stand-in of this model; hub and local have it", field="models", got=model, choices=_MADE)
    if "captioner" in parameters.models and "blip" not in parameters.models:
        raise BadInput("the captioner's stand-in begins with BLIP's image tower", field="models",
                       got=parameters.models, expected="blip too")  # fmt: skip
    if parameters.picture_size % parameters.blip.patch:
        raise BadInput("not a divisor of picture_size", field="blip.patch", got=parameters.blip.patch)
    from sample.scene_models.scene_networks import write_blip, write_captioner, write_cnn, write_scene_clip
    from sample.scene_models.scene_pictures import draw_scenes

    scenes, losses = draw_scenes(context.engine, parameters), {}
    training: dict[str, Any] = {"seed": parameters.seed, "log": context.tracker.log}
    with write_atomically(out) as target:
        for model in [model for model in _MADE if model in parameters.models]:
            folder = target / model
            folder.mkdir(parents=True)
            if model == "clip":
                loss = write_scene_clip(scenes, folder, parameters.clip, **training)
            elif model == "vse":
                loss = write_cnn(scenes, folder, parameters.vse, **training)
            elif model == "blip":
                loss = write_blip(scenes, folder, parameters.blip, **training)
            else:
                loss = write_captioner(scenes, folder, parameters.captioner, blip=target / "blip", **training)
            losses[f"{model}_loss"] = loss
            origin = f"a small network of the architecture of {model}, trained on generated scenes"
            write_json(folder / PROVENANCE, {"from": origin, "licence": "apache-2.0"})
    return losses
