"""DPR's encoding of passages, as `kvqae-encode_texts` does it, as a share of the GPU's rate of bf16 products."""

import time
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch
from transformers import BertConfig, BertModel

from bench.gpu import words
from trivium.core.tables import read_table, write_table
from trivium.kvqae.retrieval.text_encoders import TextEncoderParameters
from trivium.kvqae.retrieval.text_encoding import SHARDS, EncodeTextsParameters, Shard, encode_part
from trivium.nets.device import pick_device

UNIT, GOAL = "of the rate of bf16 products", 0.4
SIZE, FEW = 400_000, 20_000
ENCODER, WORDS = "dpr_few_shot", 100
PARAMETERS = EncodeTextsParameters(
    settings=TextEncoderParameters(model=Path()), max_tokens=256, batch_size=512, shard_size=50_000
)  # scales/paper.yaml
SIDE, TIMES = 8192, 50  # of the products


def make(folder: Path, size: int) -> None:
    passage = folder / "model" / "passage"
    torch.manual_seed(0)
    BertModel(BertConfig(), add_pooling_layer=False).save_pretrained(passage)
    words.tokenizer().save_pretrained(passage)
    columns = {"title": words.texts(size, 2, 0), "text": words.texts(size, WORDS, 1)}
    write_table(folder / "passages.parquet", pa.table(columns))


def run(folder: Path, out: Path, count: int) -> float:
    """Encode; returns the seconds that the GPU would take at its rate of products."""
    table = read_table(folder / "passages.parquet", ["title", "text"]).slice(0, count).combine_chunks()
    size = PARAMETERS.shard_size
    shards = [
        Shard(start, *(table[name].chunk(0).slice(start, size) for name in ("title", "text")))
        for start in range(0, count, size)
    ]
    for start in range(0, len(shards), SHARDS):
        encode_part(
            shards[start : start + SHARDS],
            encoder=ENCODER, model=folder / "model", work=out, parameters=PARAMETERS, source="invented",
        )  # fmt: skip
    return teraflop(table) / teraflops()


def teraflop(table: pa.Table) -> float:
    """Count the 10¹² operations of the layers' products and of attention, from the tokens of a thousand texts."""
    some = table.slice(0, 1000)
    pairs = words.tokenizer()(some["title"].to_pylist(), some["text"].to_pylist())["input_ids"]
    lengths = np.minimum([len(ids) for ids in pairs], PARAMETERS.max_tokens)
    config = BertConfig()
    weights = config.num_hidden_layers * config.hidden_size * (4 * config.hidden_size + 2 * config.intermediate_size)
    attention = 2 * config.num_hidden_layers * config.hidden_size * lengths  # a token: with all keys, then all values
    return float((2 * (weights + attention) * lengths).mean()) * table.num_rows * 1e-12


@cache
def teraflops() -> float:
    """Measure the rate of products of square bf16 matrices, 10¹² operations a second."""
    device = pick_device()
    side = SIDE if device.type == "cuda" else SIDE // 16
    matrix = torch.randn(side, side, device=device, dtype=torch.bfloat16)
    best = np.inf
    for _ in range(3):
        _wait(device)
        started = time.perf_counter()
        for _ in range(TIMES):
            matrix @ matrix
        _wait(device)
        best = min(best, time.perf_counter() - started)
    return 2 * side**3 * TIMES / best * 1e-12


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()
