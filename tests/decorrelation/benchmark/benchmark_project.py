"""A built project of four test pictures, and small models of several libraries with drawn weights."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch
import transformers
import yaml

from sample.scene_models.words import save_bert_tokenizer, save_clip_tokenizer
from tests.decorrelation.tiny_corpus import COCO_IDS
from tests.decorrelation.tiny_retrieval import write_world
from trivium.core.tables import write_table
from trivium.decorrelation.captions.phrases import SCHEMA as PHRASES
from trivium.formats.corpus_table import write_corpus
from trivium.formats.picture_corpora import read_corpus
from trivium.formats.pictures import Caption, Picture

CELL = {"dataset": "coco", "model": "clip", "filling": "none", "captions": "none"}
SIZE = 16
VISION = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "image_size": SIZE,
          "patch_size": 8}  # fmt: skip
TEXT = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2,
        "max_position_embeddings": 24}  # fmt: skip
RETRIEVE = {"depth": 10, "picture_batch": 2, "threads": None, "candidates": {"coco": 10}}


class Words:
    """A model of two colours and one word: deterministic, and no batch changes what it gives."""

    def encode_images(self, images):
        return np.array([[*(np.asarray(image).mean(axis=(0, 1)) / 255), 1.0] for image in images])

    def encode_texts(self, texts):
        return np.array([[text.count("dog"), text.count("frisbee"), len(text) % 7 / 7, 1.0] for text in texts])


def write_project(folder: Path) -> Path:
    """What stages world, phrases, removals and inpaint leave, with cv2's name on the filling."""
    made, data = write_world(folder / "made"), folder / "data" / "decorrelation"
    for part, place in {"raw": "raw/coco", "removals": "removals/coco", "painted": "painted/coco/cv2"}.items():
        (data / place).parent.mkdir(parents=True, exist_ok=True)
        (made / part).rename(data / place)
    corpus = read_corpus(data / "raw/coco")
    write_corpus(data / "raw/coco", corpus)
    rows = [phrases_of(picture, caption) for picture in corpus.pictures for caption in picture.captions]
    write_table(data / "phrases/coco.parquet", pa.Table.from_pylist(rows, PHRASES))
    parameters: dict[str, Any] = {
        "world": {"coco": "sample"},
        "decorrelation": {
            "datasets": ["coco"],
            "cells": {"coco_clip_finetune_0": {**CELL, "queries": "cv2"}},
            "retrieve": RETRIEVE,
            "phrases": {"matching": "strict", "chunker": "rules", "spacy_model": "none"},
            "evaluate": {
                "partner_probability": 0.5,
                "permutations": 100,
                "confidence": 0.9,
                "resamples": 100,
                "seed": 0,
            },
        },
    }
    (folder / "params.yaml").write_text(yaml.safe_dump(parameters))
    (folder / "dvc.yaml").write_text("stages: {}\n")
    return folder


def phrases_of(picture: Picture, caption: Caption) -> dict[str, Any]:
    """A row of stage phrases."""
    places = {name: caption.text.lower().find(f"a {name}") for name in COCO_IDS}
    phrases = [
        {"start": start, "end": start + 2 + len(name), "classes": [name]}
        for name, start in places.items()
        if start >= 0
    ]
    return {"caption": caption.id, "picture": picture.id, "split": picture.split, "text": caption.text,
            "phrases": sorted(phrases, key=lambda phrase: phrase["start"]),
            "classes": sorted(phrase["classes"][0] for phrase in phrases)}  # fmt: skip


def texts_of(project: Path) -> list[str]:
    """Every caption."""
    pictures = read_corpus(project / "data/decorrelation/raw/coco").pictures
    return [caption.text for picture in pictures for caption in picture.captions]


def write_hugging_face(kind: str, folder: Path, texts: list[str]) -> Path:
    """A model of transformers with drawn weights, as its authors' folders look."""
    torch.manual_seed(0)
    folder.mkdir(parents=True)
    save = save_bert_tokenizer if kind in ("align", "blip") else save_clip_tokenizer
    tokenizer = save(texts, folder)
    words: dict[str, Any] = {"vocab_size": len(tokenizer), "pad_token_id": tokenizer.pad_token_id}
    size = {"height": SIZE, "width": SIZE}
    if kind == "clip":
        words |= {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
        model = transformers.CLIPModel(
            transformers.CLIPConfig(text_config=TEXT | words, vision_config=VISION, projection_dim=8)
        )
        prepare = transformers.CLIPImageProcessor(size={"shortest_edge": SIZE}, crop_size=size)
    elif kind == "siglip":
        model = transformers.SiglipModel(transformers.SiglipConfig(text_config=TEXT | words, vision_config=VISION))
        prepare = transformers.SiglipImageProcessor(size=size)
    elif kind == "siglip2":
        vision = {name: value for name, value in VISION.items() if name != "image_size"} | {"num_patches": 16}
        model = transformers.Siglip2Model(transformers.Siglip2Config(text_config=TEXT | words, vision_config=vision))
        prepare = transformers.Siglip2ImageProcessor(patch_size=8, max_num_patches=16)
    elif kind == "align":
        vision = {"image_size": SIZE, "width_coefficient": 0.1, "depth_coefficient": 0.1, "hidden_dim": 16,
                  "in_channels": [32], "out_channels": [16], "kernel_sizes": [3], "strides": [1],
                  "num_block_repeats": [1], "expand_ratios": [1], "depthwise_padding": []}  # fmt: skip
        model = transformers.AlignModel(
            transformers.AlignConfig(text_config=TEXT | words, vision_config=vision, projection_dim=8)
        )
        prepare = transformers.EfficientNetImageProcessor(size=size)
    else:
        words |= {"bos_token_id": 4, "sep_token_id": 3, "encoder_hidden_size": 16}
        config = transformers.BlipConfig(
            text_config=TEXT | words, vision_config=VISION | {"initializer_range": 0.5}, image_text_hidden_size=6
        )
        model = transformers.BlipForImageTextRetrieval(config)
        prepare = transformers.BlipImageProcessor(size=size)
    model.eval().save_pretrained(folder)
    prepare.save_pretrained(folder)
    return folder
