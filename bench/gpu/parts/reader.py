"""Questions that the reader reads with 24 passages each, as `kvqae-read` does it; the authors report 2.5 a second."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import torch
from transformers import BertConfig, BertForQuestionAnswering

from bench.gpu import words
from trivium.core.tables import read_table, write_table
from trivium.kvqae.knowledge_base.passage_texts import PassageTexts
from trivium.kvqae.reader.answered_rows import read_shard

UNIT, GOAL = "questions a second", 200.0
SIZE, FEW = 2000, 100
PASSAGES, WORDS, TOKENS, LONGEST, BATCH = 24, 100, 256, 10, 256  # the last as in scales/paper.yaml


def make(folder: Path, size: int) -> None:
    torch.manual_seed(0)
    BertForQuestionAnswering(BertConfig()).save_pretrained(folder / "model")
    words.tokenizer().save_pretrained(folder / "model")
    passages = size * PASSAGES
    columns = {"title": words.texts(passages, 2, 1), "text": words.texts(passages, WORDS, 2)}
    write_table(folder / "passages.parquet", pa.table(columns))
    write_table(folder / "questions.parquet", pa.table({"question": words.texts(size, 10, 0)}))


def run(folder: Path, out: Path, count: int) -> float:
    """Read; returns the number of questions."""
    questions = read_table(folder / "questions.parquet")["question"].slice(0, count).to_pylist()
    passages = read_table(folder / "passages.parquet").slice(0, count * PASSAGES).combine_chunks()
    texts = PassageTexts(np.arange(len(passages)), *(passages[name].chunk(0) for name in ("title", "text")))
    pairs = [(questions[passage // PASSAGES], passage) for passage in range(len(passages))]
    read_shard((pairs, texts), folder=folder / "model", max_tokens=TOKENS, longest=LONGEST, batch=BATCH)
    return float(count)
