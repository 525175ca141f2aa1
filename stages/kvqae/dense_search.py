"""Stage `kvqae-dense_search`. Search the passages with the largest inner product."""

import shutil
from pathlib import Path

import numpy as np

from trivium.core.atomic import write_folder
from trivium.core.matrices import read_matrix
from trivium.core.stage import Context, stage
from trivium.core.tables import read_table
from trivium.formats.trec import write_run
from trivium.kvqae.retrieval.dense_search import INDEX, KB, DenseSearchParameters, search
from trivium.measures.runs import Run


@stage("kvqae.dense_search")
def main(parameters: DenseSearchParameters, context: Context, *, embeddings: Path, out: Path) -> dict[str, float]:
    """Search `kb.npy` for the questions of `queries.npy`; writes a TREC run for each split, and the index if built."""
    matrix, ids = read_matrix(embeddings / KB), read_matrix(embeddings / "kb_ids.npy")
    table = read_table(embeddings / "queries.parquet", ["split", "id"])
    scores, rows, metrics = search(embeddings, parameters, context.engine, context.work)
    documents = np.where(rows >= 0, ids[rows], -1)
    splits, questions = np.array(table["split"].to_pylist()), np.array(table["id"].to_pylist())
    with write_folder(out) as target:
        for split in dict.fromkeys(splits.tolist()):
            chosen = splits == split
            run = Run.from_scores(questions[chosen].tolist(), documents[chosen], scores[chosen], name=out.name)
            write_run(target / f"{split}.trec", run)
        if parameters.index != "exact":
            shutil.move(context.work / INDEX, target / INDEX)
    return {"questions": len(questions), "passages": len(matrix), **metrics}
