"""Embeddings and answers that are kept: a model that has been asked a set once is not asked again."""

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.decorrelation.benchmark.answers import SetAnswers, answer
from trivium.decorrelation.benchmark.benchmark_set import BenchmarkSet
from trivium.decorrelation.benchmark.embedder import Precision, SetVectors, embed
from trivium.decorrelation.benchmark.family import NamedModel
from trivium.decorrelation.benchmark.npy import KeptEmbeddings
from trivium.decorrelation.benchmark.trained import TrainedModel

_ANSWERS = "answers_"


def ask_kept(
    model: Any,
    chosen: Any,
    asked: BenchmarkSet,
    name: str,
    batch_size: int,
    precision: Precision,
    candidates: int | None = None,
) -> tuple[SetVectors, SetAnswers]:
    """What a loaded model gives to a set; of one that was chosen by name, from the cache where it was asked before.

    Raises:
        BadInput: see `embed`.
    """
    if isinstance(model, KeptEmbeddings):
        vectors = model.vectors(asked)
        return vectors, answer(asked, vectors)
    file = None
    if isinstance(chosen, NamedModel):
        key = hashlib.sha256(json.dumps([chosen.identity(), precision, candidates]).encode()).hexdigest()[:16]
        file = asked.kept / f"{key}.npz"
        if file.is_file():
            return _read(file)
    if isinstance(model, TrainedModel):
        vectors, answers = model.ask(asked)
    else:
        vectors = embed(model, asked, name, batch_size, precision)
        answers = answer(asked, vectors, model, batch_size, candidates)
    if file is not None:
        with write_atomically(file) as beside, beside.open("wb") as out:
            np.savez(out, **asdict(vectors), **{f"{_ANSWERS}{part}": value for part, value in asdict(answers).items()})
    return vectors, answers


def _read(file: Path) -> tuple[SetVectors, SetAnswers]:
    try:
        with np.load(file, allow_pickle=False) as parts:
            answers = {part.removeprefix(_ANSWERS): parts[part] for part in parts if part.startswith(_ANSWERS)}
            return SetVectors(**{part: parts[part] for part in parts if not part.startswith(_ANSWERS)}), SetAnswers(
                **answers
            )
    except (OSError, ValueError, TypeError) as error:
        raise BadInput(f"a damaged file of embeddings: {error}", file=file, expected="remove it") from None
