"""One vector a passage of the knowledge base and a question, by a text encoder (kvqae.md §3)."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import Field
from tqdm import tqdm

from trivium.errors import BadInput
from trivium.files.atomic import write_atomically
from trivium.files.matrices import read_matrix
from trivium.formats.questions import read_questions
from trivium.harness.parameters import Parameters
from trivium.kvqae.knowledge_base.passage_texts import knowledge_base_size, stream_passages
from trivium.kvqae.retrieval.text_encoder_registry import SECTION, TextEncoder


class EncodeTextsParameters(Parameters):
    """Section `kvqae.encode_texts`."""

    elsewhere: ClassVar = {"settings": f"{SECTION}.{{encoder}}", "max_tokens": "kvqae.texts.tokens"}
    settings: dict[str, Any] = Field(description="Of the encoder: its entry in `kvqae.text_encoders`")
    max_tokens: int = Field(ge=8, le=512, description="Tokens of a text, longer ones are cut")
    batch_size: int = Field(ge=1, description="Texts a batch; halves itself when GPU memory runs out")
    shard_size: int = Field(ge=1, description="Passages in memory, and lost at most when the stage is killed")


def encode_passages(
    encoder: TextEncoder,
    passages: Path,
    articles: Path,
    work: Path,
    parameters: EncodeTextsParameters,
) -> Iterator[tuple[int, NDArray[np.float16]]]:
    """(first passage number, vectors) of successive shards of the knowledge base; those in `work` are not made again.

    Raises:
        BadInput: a vector is not finite, or too large for float16; it is named by its passage.
    """
    size = knowledge_base_size(passages)
    shards = stream_passages(passages, articles, batch_size=parameters.shard_size, limit=size)
    with tqdm(total=size, desc="encode", unit="passage", mininterval=5) as bar:
        for first, titles, texts in shards:
            shard = work / f"passages-{first:09d}.npy"
            if not shard.exists():
                ids = encoder.tokenize(texts.to_pylist(), parameters.max_tokens, titles.to_pylist())
                vectors = half_precision(encoder.encode(ids, parameters.batch_size), passages, first)
                with write_atomically(shard) as beside:
                    np.save(beside, vectors)
            yield first, read_matrix(shard)
            bar.update(len(texts))


def encode_questions(
    encoder: TextEncoder, questions: Sequence[Path], parameters: EncodeTextsParameters
) -> tuple[NDArray[np.float16], pa.Table]:
    """Vectors of the questions of all splits, and for each row its `split` (name of the file) and question `id`.

    Raises:
        BadInput: a question has no token, or its vector is not finite.
    """
    vectors, splits, identifiers = [], [], []
    for path in questions:
        asked = read_questions(path)
        ids = encoder.tokenize([question.text for question in asked], parameters.max_tokens)
        without = len(encoder.tokenize([""], parameters.max_tokens)[0])
        for row, (question, tokens) in enumerate(zip(asked, ids, strict=True), 1):
            if len(tokens) <= without:
                raise BadInput("question without a token", file=path, row=row, field="input", got=question.text)
        vectors.append(half_precision(encoder.encode(ids, parameters.batch_size), path, 0))
        splits += [path.stem] * len(asked)
        identifiers += [question.id for question in asked]
    return np.concatenate(vectors), pa.table({"split": splits, "id": identifiers})


def half_precision(vectors: NDArray[np.float32], file: Path, first: int) -> NDArray[np.float16]:
    """Round to float16; `BadInput` names the row, after the `first` ones, of a vector that is not finite then."""
    with np.errstate(over="ignore"):
        halves = vectors.astype(np.float16)
    good = np.isfinite(halves).all(axis=1)
    if not good.all():
        row = first + int(np.argmin(good)) + 1
        raise BadInput("embedding with NaN, infinity or a value beyond float16", file=file, row=row)
    return halves
