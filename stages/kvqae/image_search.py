"""Stage `kvqae-image_search`. Search articles by face or by whole image, and convert them to passages."""

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from trivium.core.atomic import write_atomically
from trivium.core.stage import stage
from trivium.core.tables import read_table, write_table
from trivium.formats.questions import SPLITS
from trivium.formats.trec import write_run
from trivium.kvqae.knowledge_base.illustrated_base import ImageFeatures, read_illustrated_base
from trivium.kvqae.knowledge_base.passage_texts import ARTICLES
from trivium.kvqae.retrieval.image_search import ImageIndex, ImageSearchParameters, counts, route
from trivium.measures.runs import Run
from trivium.vision.encoder_registry import ENCODERS


@stage("kvqae.image_search", metrics="metrics/kvqae/image_search.json")
def main(
    parameters: ImageSearchParameters,
    *,
    kb: Path = Path("data/kvqae/kb"),
    kb_features: Path = Path("data/kvqae/features/kb"),
    question_features: Path = Path("data/kvqae/features/questions"),
    questions: Path = Path("data/kvqae/{kvqae.dataset}/viquae"),
    out_runs: Path = Path("data/kvqae/runs/image"),
    out_routing: Path = Path("data/kvqae/routing"),
) -> dict[str, float]:
    """Write `{encoder}/{split}.trec` and `{encoder}/{split}_articles.trec`, and `{split}.parquet` (`out_routing`).

    A question that an encoder does not serve has no line in its runs.
    """
    base = read_illustrated_base(kb, kb_features)
    features = ImageFeatures.read(question_features)
    entities = read_table(kb / ARTICLES, ["wikidata_id", "human"])
    routing = pa.concat_tables([route(questions / f"{split}.jsonl", features, entities) for split in SPLITS])
    face, readable = routing["face"].to_numpy(), routing["readable"].to_numpy()
    runs: dict[Path, Run] = {}
    for system in parameters.image_encoders:
        served = routing.filter(face if ENCODERS[system].route == "face" else readable & ~face)
        queries = features.matrix(system)[served["image"].to_numpy()]
        # All splits in one pass over the knowledge base.
        ranked_lists = ImageIndex.of(base, system).search(queries, parameters.depth)
        for suffix, lists in zip(("_articles", ""), ranked_lists, strict=True):
            for split in SPLITS:
                owners = zip(served["split"].to_pylist(), served["question"].to_pylist(), lists, strict=True)
                ranked = {question: ranking for of, question, ranking in owners if of == split}
                runs[Path(system) / f"{split}{suffix}.trec"] = Run.from_dict(ranked, parameters.depth, system)
    with write_atomically(out_runs) as target:  # all at once: an error in the last encoder leaves no runs of the first
        for path, run in runs.items():
            write_run(target / path, run)
    for split in SPLITS:
        write_table(out_routing / f"{split}.parquet", routing.filter(pc.field("split") == split))
    return counts(base, routing)
