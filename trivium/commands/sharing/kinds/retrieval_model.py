"""Cells of decorrelation: CLIP in open_clip's format, BLIP in transformers', VSE++ in this project's."""

import json
from collections.abc import Mapping
from json import dumps
from pathlib import Path
from typing import Any

from trivium.commands.sharing.licence import start_in
from trivium.commands.sharing.package import Artifact, Described, Kind
from trivium.core.errors import BadInput
from trivium.core.tables import read_json
from trivium.kvqae.asking.artifacts import Artifacts
from trivium.nets.open_clip_folder import CONFIG as OPEN_CLIP

_CLIP = """
import open_clip
import torch
from PIL import Image

model, _, prepare = open_clip.create_model_and_transforms({name})
tokenize = open_clip.get_tokenizer({name})
with torch.inference_mode():
    picture = model.eval().encode_image(prepare(Image.open("picture.jpg")).unsqueeze(0), normalize=True)
    texts = model.encode_text(tokenize(["A dog and a frisbee.", "A cat sits on a chair."]), normalize=True)
scores = picture @ texts.T  # cosines
print(scores)
"""
_BLIP = """
import torch
from PIL import Image
from transformers import AutoImageProcessor, AutoTokenizer, BlipForImageTextRetrieval

model = BlipForImageTextRetrieval.from_pretrained({name}).eval()
prepare, tokenizer = AutoImageProcessor.from_pretrained({name}), AutoTokenizer.from_pretrained({name})
texts = tokenizer(["A dog and a frisbee.", "A cat sits on a chair."], padding=True, truncation=True,
                  max_length={tokens}, return_token_type_ids=False, return_tensors="pt")
picture = prepare(Image.open("picture.jpg").convert("RGB"), return_tensors="pt")
with torch.inference_mode():
    scores = model(**texts, **picture, use_itm_head=False)[0]  # cosines
print(scores)
"""
_OURS = """
from pathlib import Path

import torch
from PIL import Image
from trivium.decorrelation.models.interface import load

model = load(Path({where}))
pixels = model.prepare(Image.open("picture.jpg"), training=False).unsqueeze(0)
with torch.inference_mode():
    texts = model.encode_texts(model.tokenize(["A dog and a frisbee.", "A cat sits on a chair."]))
    scores = model.encode_images(pixels) @ texts.T  # cosines
print(scores)
"""
_EVALUATED = "metrics/decorrelation/evaluate.json"
_MEASURES = ("synthetic_odmap@1", "synthetic_odmap@5", "synthetic_odmap@10", "synthetic_removed_named",
             "image_to_text_r@1", "text_to_image_r@1")  # fmt: skip


class RetrievalModel(Kind):
    """By the kind that its configuration names (decorrelation.md §4)."""

    name, kind, pattern = "retrieval_model", "model", "models/decorrelation/cells/*"

    @staticmethod
    def describe(artifact: Artifact) -> Described:
        """With ODmAP where the graph has asked it."""
        cell = artifact.source.name
        said = artifact.lineage.parameters[f"decorrelation.cells.{cell}"]
        kind = read_json(artifact.source / "config.json")["kind"]
        base = artifact.lineage.parameters[f"decorrelation.train.models.{said['model']}"]["base"]
        files: Mapping[str, Path | bytes] = artifact.files()
        notes = [_trained_on(said, cell)]
        name = dumps(artifact.target.name)
        if kind == "clip":
            name = dumps(f"{'hf-hub' if artifact.target.hub else 'local-dir'}:{artifact.target.name}")
            files, usage, library = _named_tokenizer(artifact), _CLIP, "open_clip"
        elif kind == "blip":
            files, usage, library = {**files, "preprocessor_config.json": _preparation(artifact)}, _BLIP, "transformers"
            notes.append(
                "The graph adds the matching head's logit to the cosines of the best candidates; the code below "
                "compares embeddings alone."
            )
        else:
            usage, library = _OURS, "trivium"
            notes.append("No public library loads it; this project's does: `pip install .` in its repository.")
        return Described(
            title=f"Trivium {kind.upper()}: {cell}",
            about="Pictures and sentences in one space, for retrieval; made to see what retrieval models guess "
            "(ODmAP asks about pictures from which an object was painted out).",
            notes=tuple(notes),
            usage=usage.format(
                name=name,
                where=ours(artifact),
                tokens=read_json(artifact.source / "config.json").get("text_tokens"),
            ),
            files=files,
            start=start_in(artifact.project / "models/decorrelation/base" / base),
            library=library,
            task="zero-shot-image-classification" if kind == "clip" else None,
            language="en",
            tags=("image-text-retrieval",),
            further=_evaluated(artifact, cell),
        )


def ours(artifact: Artifact) -> str:
    """The expression of a folder for code of this project's own."""
    name = dumps(artifact.target.name)
    return f'__import__("huggingface_hub").snapshot_download({name})' if artifact.target.hub else name


def _trained_on(said: Mapping[str, Any], cell: str) -> str:
    if "zero_shot" in cell:
        return "These are the weights that the others start from, untouched."
    dataset = said["dataset"]
    if said["filling"] == "none":
        return f"Fine-tuned on {dataset} as it is: the model that decorrelated ones are compared with."
    return (
        f"Fine-tuned on {dataset} and on D′: pictures of it from which an object was painted out (filling "
        f"`{said['filling']}`), with captions that no longer name it (`{said['captions']}`)."
    )


def _named_tokenizer(artifact: Artifact) -> dict[str, Path | bytes]:
    """On the hub open_clip looks for a tokenizer in the repository that the configuration names."""
    files: dict[str, Path | bytes] = dict(artifact.files())
    config = read_json(artifact.source / OPEN_CLIP)
    text = config["model_cfg"]["text_cfg"]
    if artifact.target.hub and "tokenizer.json" in files:
        text["hf_tokenizer_name"] = artifact.target.name
        files[OPEN_CLIP] = json.dumps(config, indent=2).encode()
    return files


def _preparation(artifact: Artifact) -> bytes:
    """Of BLIP's pictures, as `decorrelation/models/blip.py` has it: both sides scaled, bicubic, CLIP's statistics."""
    from PIL.Image import Resampling
    from transformers import BlipImageProcessor

    from trivium.decorrelation.models.preparation import CLIP

    side = read_json(artifact.source / "config.json")["vision_config"]["image_size"]
    mean, deviation = CLIP
    made = BlipImageProcessor(
        size={"height": side, "width": side},
        resample=Resampling.BICUBIC,
        image_mean=list(mean),
        image_std=list(deviation),
    )
    return made.to_json_string().encode()


def _evaluated(artifact: Artifact, cell: str) -> dict[str, float]:
    """What the graph found when it asked this very model; nothing where it did not, or has asked another one since."""
    file = artifact.project / _EVALUATED
    if not file.is_file():
        return {}
    try:
        Artifacts(artifact.project).use(_EVALUATED)
    except BadInput:
        return {}
    values = read_json(file)
    return {name: float(values[f"{cell}_{name}"]) for name in _MEASURES if f"{cell}_{name}" in values}
