"""A built project of four test pictures, and small models of several libraries with drawn weights."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch
import transformers
import yaml
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
from tokenizers import Tokenizer, normalizers, pre_tokenizers
from tokenizers.models import WordLevel

from sample.scene_models.scene_networks import save_bert_tokenizer, save_clip_tokenizer
from tests.decorrelation.tiny_corpus import COCO_IDS
from tests.decorrelation.tiny_retrieval import write_world
from trivium.core.tables import write_table
from trivium.decorrelation.benchmark.release import export_sets
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
    """What stages world, phrases, removals and inpaint leave, with cv2's name on the filling, and the set of these."""
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
    return release(folder)


def release(project: Path) -> Path:
    """The project with its set made anew."""
    data = project / "data" / "decorrelation"
    shutil.rmtree(data / "sets", ignore_errors=True)
    export_sets(project / "params.yaml", data, data / "sets")
    return project


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
    save = save_clip_tokenizer if kind in ("clip", "metaclip_2", "siglip", "siglip2") else save_bert_tokenizer
    tokenizer = save(texts, folder)
    words: dict[str, Any] = {"vocab_size": len(tokenizer), "pad_token_id": tokenizer.pad_token_id}
    size = {"height": SIZE, "width": SIZE}
    if kind in ("clip", "metaclip_2", "altclip", "chinese_clip"):
        name = {"clip": "CLIP", "metaclip_2": "MetaClip2", "altclip": "AltCLIP", "chinese_clip": "ChineseCLIP"}[kind]
        if kind in ("clip", "metaclip_2"):
            words |= {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
        elif kind == "altclip":  # XLM-R's positions begin behind that of padding
            words |= {"project_dim": 8, "max_position_embeddings": 32}
        config = getattr(transformers, f"{name}Config")
        model = getattr(transformers, f"{name}Model")(
            config(text_config=TEXT | words, vision_config=VISION, projection_dim=8)
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
    elif kind == "blip-2":
        former = (
            TEXT | words | {"encoder_hidden_size": 16, "cross_attention_frequency": 1, "use_qformer_text_input": True}
        )
        model = transformers.Blip2ForImageTextRetrieval(
            transformers.Blip2Config(
                vision_config=VISION, qformer_config=former, num_query_tokens=3, image_text_hidden_size=6,
                text_config={"model_type": "opt", "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2,
                             "ffn_dim": 16, "vocab_size": 8, "word_embed_proj_dim": 16},
            )
        )  # fmt: skip
        torch.nn.init.normal_(model.query_tokens)
        prepare = transformers.BlipImageProcessor(size=size)
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


_CHAT = (
    "{% for message in messages %}<|im_start|> {{ message.role }} "
    "{% if message.content is string %}{{ message.content }}{% else %}{% for part in message.content %}"
    "{% if part.type == 'image' %}<|vision_start|><|image_pad|><|vision_end|>"
    "{% elif part.type == 'text' %}{{ part.text }}{% endif %}{% endfor %}{% endif %}<|im_end|>{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|> assistant {% endif %}"
)


def write_qwen_embedding(folder: Path, texts: list[str]) -> Path:
    """A Qwen3-VL in the format of sentence-transformers, as Qwen3-VL-Embedding: the last token's state, of length 1."""
    marks = ["<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"]
    words = [
        "<pad>",
        "<unk>",
        *marks,
        "user",
        "system",
        "assistant",
        *sorted({word for text in texts for word in text.lower().split()}),
    ]
    numbers = {word: number for number, word in enumerate(words)}
    plain = Tokenizer(WordLevel(numbers, unk_token="<unk>"))
    plain.normalizer, plain.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.WhitespaceSplit()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=plain,
        pad_token="<pad>",
        unk_token="<unk>",
        additional_special_tokens=marks,
        padding_side="left",
    )
    sizes = {
        "patch_size": 4,
        "merge_size": 2,
        "temporal_patch_size": 2,
        "size": {"shortest_edge": 64, "longest_edge": 1024},
    }
    processor = transformers.Qwen3VLProcessor(
        transformers.Qwen2VLImageProcessor(**sizes),
        tokenizer,
        transformers.Qwen3VLVideoProcessor(**sizes),
        chat_template=_CHAT,
    )
    torch.manual_seed(0)
    config = transformers.Qwen3VLConfig(
        text_config={"vocab_size": len(words), "hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 2,
                     "num_attention_heads": 2, "num_key_value_heads": 2, "head_dim": 8, "initializer_range": 0.3,
                     "rope_parameters": {"rope_type": "default", "mrope_section": [2, 1, 1], "rope_theta": 10_000.0}},
        vision_config={"depth": 1, "hidden_size": 16, "intermediate_size": 16, "num_heads": 2, "patch_size": 4,
                       "out_hidden_size": 16, "num_position_embeddings": 16, "deepstack_visual_indexes": [0],
                       "initializer_range": 0.3},
        **{f"{name}_token_id": numbers[f"<|{mark}|>"] for name, mark in
           (("image", "image_pad"), ("video", "video_pad"), ("vision_start", "vision_start"), ("vision_end", "vision_end"))},
    )  # fmt: skip
    transformers.Qwen3VLModel(config).eval().save_pretrained(folder / "plain")
    processor.save_pretrained(folder / "plain")
    encoder = Transformer(str(folder / "plain"))
    modules = [encoder, Pooling(16, "lasttoken"), Normalize()]
    SentenceTransformer(modules=modules, device="cpu").save(str(folder / "qwen"))
    return folder / "qwen"
