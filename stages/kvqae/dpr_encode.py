"""Stage `kvqae-dpr_encode`. Vectors of passages and questions."""

from pathlib import Path

import numpy as np

from trivium.files.atomic import write_atomically
from trivium.files.matrices import write_matrix
from trivium.files.tables import write_table
from trivium.harness.stage import Context, run_stage
from trivium.kvqae.knowledge_base.passage_texts import knowledge_base_size
from trivium.kvqae.retrieval.dpr_encoding import DprEncodeParameters, encode_passages, encode_questions
from trivium.kvqae.retrieval.text_encoder import load_text_encoder
from trivium.nets.device import pick_device


def main(
    parameters: DprEncodeParameters,
    context: Context,
    *,
    model: Path,
    passages: Path,
    articles: Path,
    questions: list[Path],
    out: Path,
) -> dict[str, float]:
    """Encode the knowledge base and the questions: `kb.npy`, `kb_ids.npy`, `queries.npy`, `queries.parquet`."""
    device = pick_device()
    queries, table = encode_questions(*load_text_encoder(model / "question", device), questions, parameters)
    encoder, tokenizer = load_text_encoder(model / "passage", device)
    size, width = knowledge_base_size(passages), encoder.config.hidden_size
    shards = encode_passages(encoder, tokenizer, passages, articles, context.work, parameters)
    with write_atomically(out) as beside:
        beside.mkdir()
        with write_matrix(beside / "kb.npy", size, width) as matrix:
            for first, vectors in shards:
                matrix[first : first + len(vectors)] = vectors
        np.save(beside / "kb_ids.npy", np.arange(size))
        np.save(beside / "queries.npy", queries)
        write_table(beside / "queries.parquet", table)
    return {"passages": size, "questions": len(queries), "width": width}


if __name__ == "__main__":
    run_stage(main, "kvqae.dpr_encode", DprEncodeParameters)
