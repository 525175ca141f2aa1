"""Public models from which decorrelation starts: downloaded as pinned, or the user's; checked before any training.

Only plain values are unpickled; weights are kept as safetensors.

BLIP's own checkpoints (such as `model_base.pth`) hold under "model" the image tower `visual_encoder` (timm's ViT), the
text tower `text_encoder` (BERT with cross-attention, whose names transformers keeps), the projections, the matching
head, `temp` (τ), and parts that retrieval does not need: momentum copies, queues and the text decoder.

VSE++ as its authors released it (github.com/fartashf/vsepp): `model_best.pth.tar` is not an archive but a torch file,
{"model": [image tower, text tower], "opt": the training's options, an `argparse.Namespace`, ...}. The image tower is
torchvision's VGG19, whose features ran on several GPUs (`cnn.features.module.0.weight` ...), and `fc`; the text tower
`embed` and a GRU in one direction, `rnn`. The vocabulary is a pickle of an object with the dictionary `word2idx`, made
by NLTK's `word_tokenize`.
"""

import argparse
import pickle
import re
import shutil
import tarfile
import zipfile
from collections.abc import Sequence
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
from trivium.decorrelation.models.vse import SPECIAL, Vse, read_cnn
from trivium.nets.weights import WEIGHTS, load_weights, read_plain_tensors, read_weights
from trivium.sources.brought import PROVENANCE, bring_models, require_files
from trivium.sources.download import fetch_into
from trivium.sources.plain_weights import keep_plain, read_pickled, rename

CHECKPOINT = "model_best.pth.tar"
RELEASED = {  # model: its members of runs.tar and vocab.tar, VGG19 fine-tuned on the data set
    "vsepp_coco": ("runs/coco_vse++_vggfull_restval_finetune/model_best.pth.tar", "vocab/coco_vocab.pkl"),
    "vsepp_flickr30k": ("runs/f30k_vse++_vggfull_finetune/model_best.pth.tar", "vocab/f30k_vocab.pkl"),
}
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
    """Download models of `PINNED` and write a checked folder each, with its provenance; returns `<model>_bytes`."""
    names = list(dict.fromkeys(name for model in models for name in PINNED[model]))
    with fetch_into(names, out, downloads) as (temporary, files, pins):
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
            sources = pins.summary(PINNED[model])
            weights = sources[PINNED[model][0]]
            origin = {"from": weights["from"], "licence": weights["licence"], "sources": sources}
            write_json(folder / PROVENANCE, origin)
    return _bytes(models, out)


def check_models(models: Sequence[str], source: Path, out: Path) -> dict[str, float]:
    """Check the user's folders, one a model, and copy them; returns `<model>_bytes`."""
    bring_models(models, source, out, check_model)
    return _bytes(models, out)


def check_model(model: str, folder: Path) -> None:
    """Check a model: load it if it is trained here, else check its files."""
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
    """Write BLIP's own checkpoint as `config.json` and `model.safetensors` of transformers' retrieval model."""
    weights, temperature = read_checkpoint(checkpoint)
    network = BlipForImageTextRetrieval(config)
    load_weights(network, weights, checkpoint)
    network.config.update({"contrast_temperature": temperature})
    network.save_pretrained(folder)


def add_marks(folder: Path) -> None:
    """Add BLIP's two special tokens to a BERT tokenizer, in BLIP's order: their numbers follow BERT's."""
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
    """Read the retrieval model's tensors under transformers' names, and τ; a name that is in no BLIP is refused."""
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


_IMAGE = (
    (r"^cnn\.features\.(?:module\.)?(\d+)\.", r"cnn.features.\1."),
    (r"^cnn\.classifier\.[01]\.", "cnn.classifier.0."),  # 1 and 4 before torchvision put dropout behind
    (r"^cnn\.classifier\.[34]\.", "cnn.classifier.3."),
    (r"^fc\.", "image."),
)
_TEXT = ((r"^embed\.", "words."), (r"^rnn\.", "gru."))


class _Words:
    """Stands for the class `vocab.Vocabulary` of the pickle; it only holds values."""

    word2idx: dict[str, int]


class _Reader(pickle.Unpickler):
    """Unpickles plain values and `_Words`; any other class that a file names is refused."""

    def find_class(self, module: str, name: str) -> type:
        if (module.split(".")[-1], name) != ("vocab", "Vocabulary"):
            raise pickle.UnpicklingError(f"{module}.{name}")
        return _Words


def read_words(path: Path) -> list[str]:
    """Read the words of a vocabulary of vsepp, in the order of their numbers, which must be 0, 1, ..."""
    try:
        with path.open("rb") as file:
            numbers = _Reader(file, encoding="utf-8").load().word2idx
        words = sorted(numbers, key=numbers.__getitem__)
        if [numbers[word] for word in words] != list(range(len(words))) or not {*SPECIAL} <= {*words}:
            raise ValueError("numbers with gaps, or no special words")
    except (pickle.UnpicklingError, EOFError, AttributeError, TypeError, ValueError, IndexError, KeyError) as error:
        raise BadInput("not a vocabulary of vsepp", file=path, got=str(error), expected="vocab.Vocabulary") from None
    return words


def convert_vsepp(checkpoint: Path, vocabulary: Path, folder: Path) -> None:
    """Write `config.json`, `vocabulary.json` and `model.safetensors` of a released VSE++, on VGG19 under cosines."""
    with torch.serialization.safe_globals([argparse.Namespace]):
        tree = read_plain_tensors(checkpoint)
    towers, options = (tree.get(name) if isinstance(tree, dict) else None for name in ("model", "opt"))
    if not isinstance(towers, list | tuple) or len(towers) != 2 or not isinstance(options, argparse.Namespace):
        raise BadInput("not a checkpoint of vsepp", file=checkpoint, expected="`model`, two towers, and `opt`")
    expected = {"cnn_type": "vgg19", "measure": "cosine", "num_layers": 1, "use_abs": False, "no_imgnorm": False}
    for name, value in expected.items():
        if (got := getattr(options, name, None)) != value:
            raise BadInput("another network", file=checkpoint, field=f"opt.{name}", got=got, expected=str(value))
    weights = {
        rename(name, patterns, checkpoint): value
        for tower, patterns in zip(towers, (_IMAGE, _TEXT), strict=True)
        for name, value in tower.items()
    }
    words = read_words(vocabulary)
    vectors = weights.get("words.weight")
    if vectors is None or len(vectors) != len(words):
        raise BadInput("a vocabulary of another checkpoint", file=vocabulary, got=f"{len(words)} words",
                       expected=f"{0 if vectors is None else len(vectors)}, as the checkpoint has vectors")  # fmt: skip
    order = [*map(words.index, SPECIAL), *(row for row, word in enumerate(words) if word not in SPECIAL)]
    weights["words.weight"] = vectors[order]
    save_file({name: value.float().contiguous() for name, value in weights.items()}, folder / WEIGHTS)
    write_json(folder / "vocabulary.json", [words[row] for row in order])
    sizes: dict[str, Any] = {"word_dimension": vectors.shape[1], "dimension": len(weights["image.weight"])}
    cnn = {"architecture": "vgg19", "size": 224, "resize": 256}
    write_json(folder / "config.json", {"kind": "vse", **cnn, **sizes, "bidirectional": False, "reader": "treebank"})


def extract(archive: Path, member: str, out: Path) -> None:
    """Extract one file of a tar archive; if it is missing, `BadInput` lists the archive's files."""
    try:
        with tarfile.open(archive) as files:
            names = {name.removeprefix("./"): name for name in files.getnames()}
            stream = files.extractfile(names[member]) if member in names else None
            if stream is None:
                raise BadInput("no such file in the archive", file=archive, got=member, choices=sorted(names))
            with stream, out.open("wb") as file:
                shutil.copyfileobj(stream, file)
    except tarfile.TarError as error:
        raise BadInput(f"not a tar archive: {error}", file=archive) from None
