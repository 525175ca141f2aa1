"""Stage `kvqae-encode_texts`. Vectors of passages and questions, one cell a text encoder."""

from pathlib import Path

import numpy as np

from trivium.files.atomic import write_atomically
from trivium.files.matrices import write_matrix
from trivium.files.tables import write_table
from trivium.harness.stage import Context, run_stage
from trivium.kvqae.knowledge_base.passage_texts import knowledge_base_size
from trivium.kvqae.retrieval.text_encoder_registry import TEXT_ENCODERS, text_encoder_parameters
from trivium.kvqae.retrieval.text_encoding import EncodeTextsParameters, encode_passages, encode_questions
from trivium.nets.device import pick_device

LOADS = {"trivium.kvqae.retrieval.text_encoders": "${key}"}  # a cell loads its own encoder


def main(
    parameters: EncodeTextsParameters,
    context: Context,
    *,
    encoder: str,
    passages: Path,
    articles: Path,
    questions: list[Path],
    out: Path,
) -> dict[str, float]:
    """Encode the knowledge base and the questions: `kb.npy`, `kb_ids.npy`, `queries.npy`, `queries.parquet`."""
    kind, device = TEXT_ENCODERS[encoder], pick_device()
    model = text_encoder_parameters(encoder, parameters.settings).model
    queries, table = encode_questions(kind(model, "question", device), questions, parameters)
    reader = kind(model, "passage", device)
    size = knowledge_base_size(passages)
    shards = encode_passages(reader, passages, articles, context.work, parameters)
    with write_atomically(out) as beside:
        beside.mkdir()
        with write_matrix(beside / "kb.npy", size, reader.width) as matrix:
            for first, vectors in shards:
                matrix[first : first + len(vectors)] = vectors
        np.save(beside / "kb_ids.npy", np.arange(size))
        np.save(beside / "queries.npy", queries)
        write_table(beside / "queries.parquet", table)
    return {"passages": size, "questions": len(queries), "width": reader.width}


if __name__ == "__main__":
    run_stage(main, "kvqae.encode_texts", EncodeTextsParameters)
