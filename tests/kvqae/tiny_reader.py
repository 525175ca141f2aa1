"""A knowledge base of a dozen people, questions about them, runs, and a BERT of a few kilobytes that reads them."""

import json
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import torch
from transformers import BertConfig, BertModel, BertTokenizer

from trivium.core.tables import write_json_lines, write_table
from trivium.formats.trec import write_run
from trivium.measures.runs import Run

CITIES = ["alba", "brno", "cork", "dijon", "essen", "faro", "genoa", "hull", "izmir", "jena", "kyoto", "lviv"]
NAMES = ["ann", "bob", "cid", "dan", "eve", "fay", "gus", "hal", "ivy", "joe", "kim", "leo"]
WORDS = ["where", "was", "this", "man", "born", "?", "in", "the", "he", "lived", "at", "home", ".", ",", "born", "is"]


def write_bert(folder: Path, *, hidden: int = 32, positions: int = 64) -> Path:
    """A plain encoder without heads, as the base model of a reader."""
    torch.manual_seed(0)
    letters = [prefix + letter for letter in "abcdefghijklmnopqrstuvwxyz" for prefix in ("", "##")]
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, *NAMES, *CITIES, *letters]
    vocabulary = {word: place for place, word in enumerate(dict.fromkeys(words))}
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=hidden,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=2 * hidden,
        max_position_embeddings=positions,
    )
    BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    BertTokenizer(vocab=vocabulary).save_pretrained(folder)
    return folder


def question(number: int, prefix: str, **changes) -> dict:
    return {
        "id": f"{prefix}{number}",
        "input": f"where was this man born in {NAMES[number]} ?" if prefix == "t" else "where was this man born ?",
        "wikidata_id": f"Q{number}",
        "kilt_id": f"tc_{number}",
        "output": {"original_answer": CITIES[number], "answer": [CITIES[number].upper(), "The"], "provenance": []},
    } | changes


def write_world(folder: Path) -> SimpleNamespace:
    """Article n is about NAMES[n] and has two passages: 2n says where he was born, 2n + 1 does not.

    The run `fused` ranks passage 2n first for question n, then others; `text` ranks others only.
    """
    count = len(NAMES)
    write_table(
        folder / "wiki/articles.parquet",
        pa.table({"title": NAMES, "wikidata_id": [f"Q{number}" for number in range(count)]}),
    )
    texts = [
        text
        for name, city in zip(NAMES, CITIES, strict=True)
        for text in (f"{name} was born in {city.title()}.", f"{name}, he lived at home.")
    ]
    write_table(
        folder / "wiki/passages.parquet",
        pa.table({"passage": range(2 * count), "article": [row // 2 for row in range(2 * count)], "text": texts}),
    )
    for name, prefix in (("viquae", "v"), ("triviaqa", "t")):
        for split in ("train", "validation", "test"):
            write_json_lines(folder / name / f"{split}.jsonl", [question(n, prefix) for n in range(count)])
            others = {f"{prefix}{n}": [2 * n + 1, (2 * n + 3) % 24, (2 * n + 5) % 24] for n in range(count)}
            fused = {q: {2 * n: 4.0} | dict(zip(others[q], (3.0, 2.0, 1.0), strict=True)) for n, q in enumerate(others)}
            text = {q: dict(zip(found, (0.5, 0.0, -1.5), strict=True)) for q, found in others.items()}
            runs = {"fused": fused, "text": text} if prefix == "v" else {"bm25_triviaqa": fused}
            for run, lists in runs.items():
                write_run(folder / "runs" / run / f"{split}.trec", Run.from_dict(lists, name=run))
    return SimpleNamespace(
        folder=folder,
        kb=folder / "wiki",
        viquae=folder / "viquae",
        triviaqa=folder / "triviaqa",
        runs=folder / "runs",
        base=write_bert(folder / "base"),
    )


def rewrite(path: Path, records: list[dict]) -> None:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
