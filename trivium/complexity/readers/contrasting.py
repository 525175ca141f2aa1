"""Readers that are trained on two corpora and tested on the same facts (complexity.md §5)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import torch

from trivium.complexity.readers.finetuning import train
from trivium.complexity.readers.interface import READERS, ReaderSettings, Reading
from trivium.complexity.systems import best_overlap_sentence
from trivium.core.tables import read_table, write_table
from trivium.core.tasks import Curve, Metrics, Point
from trivium.formats.facts import FACTORS, SCORES
from trivium.formats.squad import read_squad
from trivium.measures.rouge import rouge_l


def contrast_job(
    checkpoints: Path,
    *,
    name: str,
    settings: ReaderSettings,
    seed: int,
    base: Path,
    crossed: Path,
    batch_size: int,
    checkpoint_every: int,
    out: Path,
    log: Curve,
) -> tuple[Metrics, list[Point]]:
    """Train a reader on each corpus, ask it the facts and write scores (`SCORES`), as a task of the engine.

    Args:
        crossed: `facts.parquet` (`FACTS`), and a folder a corpus with `train.json` in SQuAD's format.

    Returns:
        By corpus `{corpus}_loss`, `{corpus}_rouge_l` of the facts; `baseline_rouge_l`; `facts`.
    """
    facts = read_table(crossed / "facts.parquet").to_pylist()
    metrics: Metrics = {"facts": float(len({row["fact"] for row in facts}))}
    baseline = rouge_l(
        [row["answer"] for row in facts], [best_overlap_sentence(row["question"], row["context"]) for row in facts]
    )
    rows: list[dict[str, Any]] = []
    for corpus in sorted({corpus for row in facts for corpus in row["corpora"]}):
        torch.manual_seed(seed)
        reader = READERS[settings.kind].start(base, settings)
        features = reader.features(read_squad(crossed / corpus / "train.json").questions).items
        trained = train(reader, features, seed=seed, work=checkpoints / corpus, checkpoint_every=checkpoint_every,
                        log=_of_corpus(log, corpus))  # fmt: skip
        own = [(row, plain) for row, plain in zip(facts, baseline, strict=True) if corpus in row["corpora"]]
        answers = reader.answer([Reading(row["id"], row["question"], row["context"]) for row, _ in own], batch_size)
        texts = [answer.text for answer in answers]
        scores = rouge_l([row["answer"] for row, _ in own], texts)
        metrics |= {f"{corpus}_loss": trained["loss"], f"{corpus}_rouge_l": float(scores.mean())}
        same = {"corpus": corpus, "reader": name, "seed": seed}
        rows += [
            {key: row[key] for key in ("id", "fact", *FACTORS)} | same
            | {"answer": text, "score": float(score), "baseline": float(plain)}
            for (row, plain), text, score in zip(own, texts, scores, strict=True)
        ]  # fmt: skip
    if len(facts):
        metrics["baseline_rouge_l"] = float(baseline.mean())
    write_table(out, pa.Table.from_pylist(rows, SCORES))
    return metrics, log.points


def _of_corpus(log: Curve, corpus: str) -> Callable[..., None]:
    return lambda step, **values: log(step, **{f"{corpus}_{name}": value for name, value in values.items()})
