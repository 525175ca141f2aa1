"""The public models that decorrelation starts from: downloaded as pinned, or brought; checked before anything trains.

Nothing is unpickled: torchvision's and BLIP's checkpoints are read as plain tensors and kept as safetensors. BLIP's own
(`model_base.pth` and the like) hold under "model" the image tower `visual_encoder` (timm's ViT), the text tower
`text_encoder` (BERT with cross-attention, whose names transformers keeps), the projections, the matching head, `temp`
(τ), and what retrieval leaves out: momentum copies, queues and the text decoder.
"""

import re
import shutil
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from transformers import AutoTokenizer, BlipConfig, BlipForImageTextRetrieval

from trivium.core.errors import BadInput
from trivium.core.tables import read_json, write_json
from trivium.decorrelation.captions.captioner import CLIPCAP
from trivium.decorrelation.models.blip import BEGIN_CAPTION, MATCH, read_blip
from trivium.decorrelation.models.clip import Clip
from trivium.decorrelation.models.vse import Vse, read_cnn
from trivium.nets.weights import WEIGHTS, load_weights, read_plain_tensors, read_weights
from trivium.sources.brought import PROVENANCE, bring_models, require_files
from trivium.sources.decorrelation.vsepp import CHECKPOINT, RELEASED, convert_vsepp, extract
from trivium.sources.pins import Pins
from trivium.sources.plain_weights import keep_plain, read_pickled, rename
from trivium.sources.repositories import fetched

PINNED = {  # sources of each model in the pins file
    "clip": ("decorrelation_clip",),
    "vse": ("vgg19",),
    **dict.fromkeys(RELEASED, ("vsepp_runs", "vsepp_vocabularies")),
    "blip": ("blip_pretrained", "bert_tokenizer"),
    "captioner": ("blip_captioner",),
    "lama": ("big_lama",),
    "blip_itm_coco": ("blip_itm_coco",),
    "blip_itm_flickr": ("blip_itm_flickr",),
}
# Of the pretrained base: ViT-B/16 at 224 pixels as timm builds it, BERT base with cross-attention.
BLIP_BASE: dict[str, Any] = {
    "image_text_hidden_size": 256,
    "vision_config": {"image_size": 224, "patch_size": 16, "layer_norm_eps": 1e-6},
    "text_config": {"num_attention_heads": 12},
}


def fetch_models(models: Sequence[str], out: Path, downloads: Path) -> dict[str, float]:
    """Download these models as pinned and write a checked folder each; returns `<model>_bytes`.

    Args:
        models: names of `PINNED`.
        out: the folder; complete or absent. Each model's `provenance.json` keeps revision, digests and licence.
        downloads: see `fetched`.
    """
    pins = Pins()
    names = list(dict.fromkeys(name for model in models for name in PINNED[model]))
    with fetched(names, out, downloads, pins) as (temporary, files):
        for model in models:
            folder = temporary / model
            own = {file: path for name in PINNED[model] for file, path in files[name].items()}
            folder.mkdir()
            if model == "vse":
                save_file(read_plain_tensors(*own.values()), folder / WEIGHTS)
                write_json(folder / "config.json", {"architecture": "vgg19", "size": 224, "resize": 256})
            elif model in RELEASED:
                for archive, member in zip(own.values(), RELEASED[model], strict=True):
                    extract(archive, member, folder / Path(member).name)
            else:
                for file, path in own.items():
                    if not file.endswith(".pth"):
                        shutil.copyfile(path, folder / file)
                keep_plain(folder)
            if model == "blip":
                convert_blip(own["model_base.pth"], folder, BlipConfig(**BLIP_BASE))
            if model.startswith("blip"):
                add_marks(folder)
            check_model(model, folder)
            write_json(folder / PROVENANCE, _provenance(pins.summary(PINNED[model])))
    return _bytes(models, out)


def _provenance(sources: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Where a model is from and under which licence (the first source is its weights), and every source's digests."""
    weights = next(iter(sources.values()))
    return {"from": weights["from"], "licence": weights["licence"], "sources": sources}


def check_models(models: Sequence[str], source: Path, out: Path) -> dict[str, float]:
    """Check the user's folders, one a model, and bring them; returns `<model>_bytes`."""
    bring_models(models, source, out, check_model)
    return _bytes(models, out)


def check_model(model: str, folder: Path) -> None:
    """Check a model: load those that are trained, look at the files of the others.

    Raises:
        BadInput: another architecture, or weights that are missing, broken or do not fit.
    """
    if model == "clip":
        Clip(folder, smallest_crop=1.0)
    elif model == "vse":
        read_cnn(folder)
    elif model in RELEASED:
        if (checkpoint := folder / CHECKPOINT).is_file():
            require_files(folder, [vocabulary := Path(RELEASED[model][1]).name])
            convert_vsepp(checkpoint, folder / vocabulary, folder)
            checkpoint.unlink()
            (folder / vocabulary).unlink()
        Vse.load(folder)
    elif model.startswith("blip"):
        read_blip(folder, image_size=None)
    elif model == "captioner":
        clipcap = (folder / CLIPCAP).is_file()
        require_files(folder, ("config.json",) if clipcap else ("config.json", "preprocessor_config.json", WEIGHTS))
        kind, expected = read_json(folder / "config.json").get("model_type"), "gpt2" if clipcap else "blip"
        if kind != expected:
            raise BadInput("another architecture", file=folder, field="model_type", got=kind, expected=expected)
        read_plain_tensors(folder / CLIPCAP) if clipcap else read_weights(folder / WEIGHTS)
    else:
        modules = sorted(folder.glob("*.pt"))
        if len(modules) != 1 or not zipfile.is_zipfile(modules[0]):
            raise BadInput("not one TorchScript module", file=folder, got=[path.name for path in modules])


def convert_blip(checkpoint: Path, folder: Path, config: BlipConfig) -> None:
    """Write BLIP's own checkpoint as `config.json` and `model.safetensors` of transformers' retrieval model.

    Raises:
        BadInput: see `read_checkpoint`; or a tensor is missing or of another shape.
    """
    weights, temperature = read_checkpoint(checkpoint)
    network = BlipForImageTextRetrieval(config)
    load_weights(network, weights, checkpoint)
    network.config.update({"contrast_temperature": temperature})
    network.save_pretrained(folder)


def add_marks(folder: Path) -> None:
    """Give a BERT tokenizer the two marks that BLIP adds to it, in BLIP's order: they have the numbers after BERT's."""
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    tokenizer.add_special_tokens({"extra_special_tokens": [BEGIN_CAPTION, MATCH]})
    tokenizer.save_pretrained(folder)


def _bytes(models: Sequence[str], out: Path) -> dict[str, float]:
    return {f"{model}_bytes": float(sum(path.stat().st_size for path in (out / model).iterdir())) for model in models}


_VISION = (  # in order: pattern, replacement
    (r"^visual_encoder\.cls_token$", "vision_model.embeddings.class_embedding"),
    (r"^visual_encoder\.pos_embed$", "vision_model.embeddings.position_embedding"),
    (r"^visual_encoder\.patch_embed\.proj\.", "vision_model.embeddings.patch_embedding."),
    (r"^visual_encoder\.norm\.", "vision_model.post_layernorm."),
    (r"^visual_encoder\.blocks\.(\d+)\.norm([12])\.", r"vision_model.encoder.layers.\1.layer_norm\2."),
    (r"^visual_encoder\.blocks\.(\d+)\.attn\.qkv\.", r"vision_model.encoder.layers.\1.self_attn.qkv."),
    (r"^visual_encoder\.blocks\.(\d+)\.attn\.proj\.", r"vision_model.encoder.layers.\1.self_attn.projection."),
    (r"^visual_encoder\.blocks\.(\d+)\.mlp\.", r"vision_model.encoder.layers.\1.mlp."),
)
_KEPT = re.compile(r"^(text_encoder|vision_proj|text_proj|itm_head)\.")
_LEFT = re.compile(r"^(\w+_m|text_decoder)\.|^(image|text|idx)_queue$|^(queue_ptr|ptr_queue)$|\.position_ids$")
TEMPERATURE = "temp"


def read_checkpoint(path: Path) -> tuple[dict[str, torch.Tensor], float]:
    """The retrieval model's tensors under transformers' names, and τ; nothing is unpickled but plain tensors.

    Raises:
        BadInput: broken, not plain tensors, or a name that is in no BLIP.
    """
    named: dict[str, torch.Tensor] = {}
    temperature = None
    for name, value in read_pickled(path, "model").items():
        if name == TEMPERATURE:
            temperature = float(value)
        elif not _LEFT.search(name):
            named[name if _KEPT.match(name) else rename(name, _VISION, path)] = value.contiguous()
    if temperature is None:
        raise BadInput("not a checkpoint of BLIP's pretraining", file=path, field=TEMPERATURE)
    return named, temperature
