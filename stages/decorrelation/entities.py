"""Stage `decorrelation-entities`. KVQAE's entities found by image encoders before and after decorrelation."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trivium.bridges import decorrelated_encoders as encoders
from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.core.stage import Context, stage
from trivium.core.tables import read_table, write_json, write_table
from trivium.formats.questions import read_questions
from trivium.kvqae.knowledge_base.illustrated_base import ImageFeatures


@stage("decorrelation.entities", metrics="metrics/decorrelation/entities.json")
def main(
    parameters: encoders.EntitiesParameters,
    context: Context,
    *,
    articles: Path = Path("data/kvqae/kb/articles.parquet"),
    kb_images: Path = Path("data/kvqae/raw/images/kb"),
    kb_features: Path = Path("data/kvqae/features/kb"),
    question_images: Path = Path("data/kvqae/{kvqae.dataset}/images/questions"),
    questions: Path = Path("data/kvqae/{kvqae.dataset}/viquae/test.jsonl"),
    routing: Path = Path("data/kvqae/routing/test.parquet"),
    out_table: Path = Path("metrics/decorrelation/entities_table.json"),
    out_per_query: Path = Path("metrics/decorrelation/entities_per_query.parquet"),
) -> dict[str, float]:
    """Search the entities of a split's questions by whole image, once an encoder."""
    knowledge = read_table(articles, ["wikidata_id", "image", "human"])
    knowledge = knowledge.filter(pc.is_valid(knowledge["image"]))
    entities, pictures = encoders.searched_entities(knowledge, ImageFeatures.read(kb_features))
    by_question = encoders.question_entities(
        read_table(routing, ["question", "readable", "face"]), read_questions(questions)
    )
    for what, rows, file in (("entity", entities, articles), ("question", by_question, routing)):
        if not rows:
            raise BadInput(f"no {what} without a face to search", file=file)
    owners, question_pictures = map(list, zip(*by_question.values(), strict=True))
    images = [(Images(kb_images), pictures), (Images(question_images), question_pictures)]
    values = {}
    for row, folder in parameters.rows().items():
        base, queries = np.split(
            encoders.encode(folder, parameters.batch_size, images, context.engine), [len(pictures)]
        )
        values[row] = encoders.measures(encoders.own_ranks(queries, base, entities, owners), owners)
    made = encoders.table(values, parameters.confidence)
    searched = set(entities)
    counts = {"questions": len(by_question), "entities": len(entities), "entities_asked": len(set(owners))}
    counts["questions_entity_not_searched"] = sum(entity not in searched for entity in owners)
    write_json(out_table, {**counts, **made})
    columns = {f"{row}_{name}": column for row, of in values.items() for name, column in of.items()}
    write_table(out_per_query, pa.table({"entity": sorted(set(owners)), **columns}))
    return {name: float(count) for name, count in counts.items()} | {
        f"{row}_{name}": cell["value"] for row, cells in made["rows"].items() for name, cell in cells.items()
    }
