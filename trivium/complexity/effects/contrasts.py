"""What a factor costs a reader, from facts that are told and asked with it and without it (complexity.md §5).

Readers learn from two corpora in which frames have opposite roles; of f0 and f6 a fact is asked of both in each one's
own words, of the other factors in the same words. A contrast is the score without the factor less the score with it.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray

from trivium.complexity.readers.finetuning import train
from trivium.complexity.readers.interface import READERS, ReaderSettings, Reading
from trivium.complexity.scoring.systems import best_overlap_sentence
from trivium.core.tables import read_table, write_table
from trivium.core.tasks import Curve, Metrics, Point
from trivium.formats.facts import FACTORS
from trivium.formats.squad import read_squad
from trivium.measures.rouge import rouge_l

SCORES = pa.schema(
    [("id", pa.string()), ("fact", pa.string()), ("corpus", pa.string()), ("reader", pa.string()), ("seed", pa.int64()),
     *((factor, pa.bool_()) for factor in FACTORS), ("answer", pa.string()), ("score", pa.float64()),
     ("baseline", pa.float64())]
)  # fmt: skip


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
        checkpoints, out, log: see `trivium/core/tasks.py`.
        name, settings, seed: of the reader and its trainings.
        base: folder of the base model.
        crossed: `facts.parquet` (`FACTS`), and a folder a corpus with `train.json` in SQuAD's format.
        batch_size: readings together.
        checkpoint_every: steps.

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


def sides(scores: pa.Table, factor: str) -> tuple[list[str], NDArray[np.float64], NDArray[np.float64]]:
    """The facts about a factor, in order, with the mean score of their versions without it and with it, in [0, 1].

    Args:
        scores: of one reader and training (`SCORES`).
        factor: of `FACTORS`.
    """
    facts, there = np.array(scores["fact"].to_pylist(), dtype=object), scores[factor].to_pylist()
    values, means = scores["score"].to_numpy(), []
    about = np.array([flag is not None for flag in there], dtype=bool)
    names, member = np.unique(facts[about].astype(str), return_inverse=True)
    present = np.array([flag for flag in there if flag is not None], dtype=bool)
    for side in (~present, present):
        counts = np.bincount(member[side], minlength=len(names))
        means.append(np.bincount(member[side], values[about][side], len(names)) / counts)
    return names.tolist(), means[0], means[1]
