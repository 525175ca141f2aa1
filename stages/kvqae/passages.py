"""Stage `kvqae-passages`. Articles cut into passages at sentence boundaries."""

from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import Field

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.parameters import Parameters
from trivium.core.stage import Context, run_stage
from trivium.core.tables import read_batches, read_table
from trivium.kvqae.knowledge_base.passages import SCHEMA, cut_articles


class PassagesParameters(Parameters):
    """Section `kvqae.passages`."""

    words: int = Field(ge=1, description="Most spaCy tokens in a passage; the title is not counted")
    shard_size: int = Field(default=4096, ge=1, description="Articles a worker takes at a time")


def main(
    parameters: PassagesParameters,
    context: Context,
    *,
    articles: Path = Path("data/kvqae/kb/articles.parquet"),
    out: Path = Path("data/kvqae/kb/passages.parquet"),
) -> dict[str, float]:
    """Cut every article into passages; those of the knowledge base come first, in the order of its articles."""
    images = read_table(articles, ["image"])["image"]
    kb_articles = len(images) - images.null_count
    if images.slice(0, kb_articles).null_count:
        raise BadInput("an article without image stands before one with", file=articles, field="image")
    batches = read_batches(articles, parameters.shard_size, ["article", "text"])
    total = kb_passages = 0
    # Without a stored Arrow schema, what is known only at the end (`kb_passages`) is read as the schema's metadata.
    with (
        write_atomically(out) as beside,
        pq.ParquetWriter(beside, SCHEMA, compression="zstd", store_schema=False, write_page_checksum=True) as writer,
    ):
        cut = partial(cut_articles, words=parameters.words)
        for passages in context.engine.map(cut, batches, description="passages"):
            ids = pa.array(range(total, total + len(passages)), pa.int64())
            writer.write_batch(pa.record_batch([ids, *passages.columns], schema=SCHEMA))
            total += len(passages)
            kb_passages += sum(article < kb_articles for article in passages["article"].to_pylist())
        writer.add_key_value_metadata({"kb_passages": str(kb_passages)})
    return {"passages": total, "kb_passages": kb_passages, "passages_per_article": total / max(len(images), 1)}


if __name__ == "__main__":
    run_stage(main, "kvqae.passages", PassagesParameters, metrics="metrics/kvqae/passages.json")
