"""Stage `kvqae-knowledge_base`. Make tables of articles, those with an image first, and of passages."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.core.stage import Context, stage
from trivium.core.tables import in_groups, write_json, write_table
from trivium.formats.wikidata import WikidataFile
from trivium.kvqae.knowledge_base.articles import KnowledgeBaseParameters, join_articles
from trivium.kvqae.knowledge_base.passages import PassagesParameters, write_passages

SCHEMA = pa.schema(
    [
        ("article", pa.int64()),
        ("title", pa.string()),
        ("wikipedia_id", pa.string()),
        ("wikidata_id", pa.string()),
        ("aliases", pa.list_(pa.string())),
        ("image", pa.string()),
        ("human", pa.bool_()),
        ("gender", pa.string()),
        ("occupations", pa.list_(pa.string())),
        ("types", pa.list_(pa.string())),
        ("deceased", pa.bool_()),
        ("text", pa.list_(pa.string())),
    ]
)


class ArticlesAndPassagesParameters(KnowledgeBaseParameters, PassagesParameters):
    """Section `kvqae.knowledge_base`."""


@stage("kvqae.knowledge_base", metrics="metrics/kvqae/knowledge_base.json")
def main(
    parameters: ArticlesAndPassagesParameters,
    context: Context,
    *,
    articles: Path = Path("data/kvqae/raw/articles.jsonl"),
    wikidata: Path = Path("data/kvqae/raw/wikidata.jsonl"),
    images: Path = Path("data/kvqae/raw/images/kb"),
    out: Path = Path("data/kvqae/kb/articles.parquet"),
    out_passages: Path = Path("data/kvqae/kb/passages.parquet"),
    out_passages_counts: Path = Path("metrics/kvqae/passages.json"),
) -> dict[str, float]:
    """Join articles, Wikidata entities and images, those with an image first; then cut the articles into passages."""
    entities, available = WikidataFile(wikidata), set(Images(images).names)
    counts: Counter[str] = Counter(no_text=0, without_wikidata=0, image_file_missing=0, with_image=0, persons=0)
    used: set[str] = set()

    def rows() -> Iterator[dict[str, Any]]:
        # The order needs two passes, which cost less than the texts of millions of articles in memory.
        for with_image in (True, False):
            dropped = counts if with_image else Counter()
            for row in join_articles(articles, entities, available, parameters.image_properties, dropped):
                if (row["image"] is not None) == with_image:
                    yield {"article": counts["articles"], **row}
                    counts.update(articles=1, with_image=with_image, persons=with_image and row["human"])
                    used.update([row["image"]] if with_image else [])
            if not used:
                raise BadInput("no article has both text and an image at hand", file=articles)

    write_table(out, (pa.RecordBatch.from_pylist(group, SCHEMA) for group in in_groups(rows(), 1024)), SCHEMA)
    cut = write_passages(parameters, context.engine, articles=out, out=out_passages, work=context.work)
    write_json(out_passages_counts, cut)
    return {
        **counts,
        "without_image": counts["articles"] - counts["with_image"],
        "unique_images": len(used) / counts["with_image"],
    }
