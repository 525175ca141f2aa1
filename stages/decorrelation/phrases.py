"""Stage `decorrelation-phrases`. Noun phrases of every caption, and the classes that they name."""

from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Literal

import pyarrow as pa
from pydantic import Field

from trivium.core.errors import BadInput
from trivium.core.parameters import Parameters
from trivium.core.stage import Context, stage
from trivium.core.tables import write_table
from trivium.decorrelation.captions.phrases import SCHEMA, Settings, metrics_of, read_shard, shards, write_classes
from trivium.formats.corpus_table import load_corpus
from trivium.language.english.chunker import choose_chunker
from trivium.language.english.word_lists import Mode


class PhrasesParameters(Parameters):
    """Section `decorrelation.phrases`."""

    matching: Mode = Field(description="strict: longest expression, with exclusions; paper: any listed word")
    chunker: Literal["rules", "spacy", "auto"] = Field(
        description="Who finds noun phrases where none are annotated; auto: spacy where its model is there"
    )
    spacy_model: str = Field(min_length=1, description="English pipeline, for chunker: spacy or auto")
    chunk: int = Field(default=4096, ge=1, description="Captions a shard")


@stage("decorrelation.phrases", metrics="metrics/decorrelation/phrases_{dataset}.json")
def main(
    parameters: PhrasesParameters,
    context: Context,
    *,
    dataset: str,
    raw: Path = Path("data/decorrelation/raw/{dataset}"),
    out: Path = Path("data/decorrelation/phrases/{dataset}.parquet"),
    out_classes: Path = Path("metrics/decorrelation/phrases_{dataset}.csv"),
) -> dict[str, float]:
    """Write the noun phrases and named classes of --dataset's captions; metric `chunker_spacy` says who chunked."""
    corpus = load_corpus(raw)
    if not any(picture.captions for picture in corpus.pictures):
        raise BadInput("no caption", file=raw)
    chunker = choose_chunker(parameters.chunker, parameters.spacy_model)
    settings = Settings(corpus.classes, parameters.matching, chunker, parameters.spacy_model)
    counts: Counter[str] = Counter()

    def batches() -> Iterator[pa.RecordBatch]:
        for batch, tally in context.engine.map(
            partial(read_shard, settings), shards(corpus, parameters.chunk), description="captions"
        ):
            counts.update(tally)
            yield batch

    write_table(out, batches(), SCHEMA)
    write_classes(out_classes, counts, corpus.classes)
    return metrics_of(counts, corpus.classes) | {"chunker_spacy": float(chunker == "spacy")}
