"""DPR encoding: one vector a passage of the knowledge base and a question, by the two trained towers (kvqae.md §3)."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import Field
from tqdm import tqdm
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from trivium.errors import BadInput
from trivium.files.atomic import write_atomically
from trivium.files.matrices import read_matrix
from trivium.formats.questions import read_questions
from trivium.harness.parameters import Parameters
from trivium.kvqae.knowledge_base.passage_texts import knowledge_base_size, stream_passages
from trivium.kvqae.retrieval.text_encoder import encode, tokenize


class DprEncodeParameters(Parameters):
    """Section `kvqae.dpr_encode`."""

    elsewhere: ClassVar = {"max_tokens": "kvqae.texts.tokens"}
    max_tokens: int = Field(ge=8, le=512, description="Tokens of a text, longer ones are cut")
    batch_size: int = Field(ge=1, description="Texts a batch; halves itself when GPU memory runs out")
    shard_size: int = Field(ge=1, description="Passages in memory, and lost at most when the stage is killed")


def encode_passages(
    encoder: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    passages: Path,
    articles: Path,
    work: Path,
    parameters: DprEncodeParameters,
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
                ids = tokenize(tokenizer, texts.to_pylist(), parameters.max_tokens, titles=titles.to_pylist())
                vectors = half_precision(encode(encoder, tokenizer, ids, parameters.batch_size), passages, first)
                with write_atomically(shard) as beside:
                    np.save(beside, vectors)
            yield first, read_matrix(shard)
            bar.update(len(texts))


def encode_questions(
    encoder: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    questions: Sequence[Path],
    parameters: DprEncodeParameters,
) -> tuple[NDArray[np.float16], pa.Table]:
    """Vectors of the questions of all splits, and for each row its `split` (name of the file) and question `id`.

    Raises:
        BadInput: a question has no token, or its vector is not finite.
    """
    vectors, splits, identifiers = [], [], []
    for path in questions:
        asked = read_questions(path)
        ids = tokenize(tokenizer, [question.text for question in asked], parameters.max_tokens)
        special = tokenizer.num_special_tokens_to_add()
        for row, (question, tokens) in enumerate(zip(asked, ids, strict=True), 1):
            if len(tokens) <= special:
                raise BadInput("question without a token", file=path, row=row, field="input", got=question.text)
        vectors.append(half_precision(encode(encoder, tokenizer, ids, parameters.batch_size), path, 0))
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
