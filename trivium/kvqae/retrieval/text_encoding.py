"""Encode the passages of the knowledge base and the questions by a text encoder (kvqae.md §3)."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import Field

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.parameters import Parameters, shared
from trivium.core.tables import in_groups
from trivium.formats.questions import SPLITS, read_questions
from trivium.kvqae.knowledge_base.passage_texts import knowledge_base_size, stream_passages
from trivium.kvqae.retrieval.text_encoder import TextEncoder
from trivium.kvqae.retrieval.text_encoders import SECTION, TextEncoderParameters
from trivium.nets.device import pick_device
from trivium.nets.feeding import feed, feeders
from trivium.nets.tokens import Ragged, ragged

SHARDS = 4  # shards in a part, the unit of work
CHUNK = 1024  # passages tokenised at a time


class EncodeTextsParameters(Parameters):
    """Section `kvqae.encode_texts`."""

    settings: TextEncoderParameters = shared(f"{SECTION}.{{encoder}}", description="The entry in `kvqae.text_encoders`")
    max_tokens: int = shared("kvqae.texts.tokens", ge=8, le=512, description="Tokens of a text, longer ones are cut")
    batch_size: int = Field(ge=1, description="Texts a batch; halves itself when GPU memory runs out")
    shard_size: int = Field(ge=1, description="Passages sorted by length, and lost at most when the stage is killed")


class Shard(NamedTuple):
    """Successive passages of the knowledge base: the number of the first one, and titles and texts."""

    first: int
    titles: pa.Array
    texts: pa.Array


def passage_parts(kb: Path, shard_size: int) -> Iterator[list[Shard]]:
    """Stream the knowledge base in parts of `SHARDS` shards, within which texts are tokenised ahead."""
    batches = stream_passages(kb, batch_size=shard_size, limit=knowledge_base_size(kb))
    return in_groups((Shard(*batch) for batch in batches), SHARDS)


def encode_part(
    part: Sequence[Shard], *, encoder: str, model: Path, work: Path, parameters: EncodeTextsParameters, source: str
) -> list[Path]:
    """Write each shard's vectors, float16, to a file of `work`; existing files are kept.

    The encoder of passages in `model` is loaded once a process. While a GPU encodes a shard, processes tokenise the
    next one. `source` is the passages' file, for messages.
    """
    files = [work / f"passages-{shard.first:09d}.npy" for shard in part]
    new = [(shard, file) for shard, file in zip(part, files, strict=True) if not file.exists()]
    if not new:
        return files
    loaded = _encoder(encoder, model, "passage")
    chunks = [(shard, file, start) for shard, file in new for start in range(0, len(shard.texts), CHUNK)]

    def make(number: int) -> Ragged:
        shard, _, start = chunks[number]
        titles, texts = (column.slice(start, CHUNK).to_pylist() for column in (shard.titles, shard.texts))
        return ragged(loaded.tokenize(texts, parameters.max_tokens, titles))

    workers = feeders()
    batches = feed(make, len(chunks), workers, ahead=2 + parameters.shard_size // CHUNK // max(1, workers))
    ids: list[NDArray[np.int32]] = []
    for tokens, (shard, file, _) in zip(batches, chunks, strict=True):
        ids += tokens.rows()
        if len(ids) == len(shard.texts):
            vectors = half_precision(loaded.encode(ids, parameters.batch_size), source, shard.first)
            with write_atomically(file) as target:
                np.save(target, vectors)
            ids = []
    return files


_encoder = lru_cache(maxsize=1)(TextEncoder)


def encode_questions(
    encoder: TextEncoder, questions: Path, parameters: EncodeTextsParameters
) -> tuple[NDArray[np.float16], pa.Table]:
    """Encode the questions of all splits; a table has each row's `split` and question `id`.

    A CPU encodes one question at a time, as `trivium ask` does: a vector does not depend on other questions.
    """
    batch = 1 if pick_device().type == "cpu" else parameters.batch_size
    vectors, splits, identifiers = [], [], []
    for split in SPLITS:
        path = questions / f"{split}.jsonl"
        of_split = read_questions(path)
        ids = encoder.tokenize([question.text for question in of_split], parameters.max_tokens)
        vectors.append(half_precision(encoder.encode(ids, batch), path, 0))
        splits += [split] * len(of_split)
        identifiers += [question.id for question in of_split]
    return np.concatenate(vectors), pa.table({"split": splits, "id": identifiers})


def half_precision(vectors: NDArray[np.float32], file: Path | str, first: int) -> NDArray[np.float16]:
    """Round to float16; `BadInput` names the row, after the `first` ones, of a vector that is not finite in float16."""
    with np.errstate(over="ignore"):
        halves = vectors.astype(np.float16)
    good = np.isfinite(halves).all(axis=1)
    if not good.all():
        row = first + int(np.argmin(good)) + 1
        raise BadInput("embedding with NaN, infinity or a value beyond float16", file=file, row=row)
    return halves
