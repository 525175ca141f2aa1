"""Stage `kvqae-encode_texts`. Encode passages and questions, one cell for each text encoder."""

from functools import partial
from pathlib import Path

import numpy as np

from trivium.core.atomic import write_folder
from trivium.core.matrices import join_matrices
from trivium.core.stage import Context, stage
from trivium.core.tables import write_table
from trivium.kvqae.knowledge_base.passage_texts import knowledge_base_size
from trivium.kvqae.retrieval.text_encoder import TextEncoder
from trivium.kvqae.retrieval.text_encoding import EncodeTextsParameters, encode_part, encode_questions, passage_parts
from trivium.nets.device import pick_device


@stage("kvqae.encode_texts", metrics="metrics/kvqae/encode_texts_{encoder}.json")
def main(
    parameters: EncodeTextsParameters,
    context: Context,
    *,
    encoder: str,
    kb: Path = Path("data/kvqae/kb"),
    questions: Path = Path("data/kvqae/{kvqae.dataset}/viquae"),
    out: Path = Path("data/kvqae/embeddings/{encoder}"),
) -> dict[str, float]:
    """Encode the knowledge base and the questions: `kb.npy`, `kb_ids.npy`, `queries.npy`, `queries.parquet`."""
    model = parameters.settings.model
    asking = TextEncoder(encoder, model, "question")
    queries, table = encode_questions(asking, questions, parameters)
    engine, size = context.engine, knowledge_base_size(kb)
    encode = partial(
        encode_part, encoder=encoder, model=model, work=context.work, parameters=parameters, source=str(kb)
    )
    on_gpu = engine.has_gpu(lambda: pick_device().type == "cuda")
    parts = engine.map(
        encode,
        passage_parts(kb, parameters.shard_size),
        description="encode",
        on_gpu=on_gpu,
        processes=None if on_gpu else 1,  # on a CPU this process uses all cores
        out=context.work,
    )
    with write_folder(out) as target:
        join_matrices((file for files in parts for file in files), target / "kb.npy")
        np.save(target / "kb_ids.npy", np.arange(size))
        np.save(target / "queries.npy", queries)
        write_table(target / "queries.parquet", table)
    return {"passages": size, "questions": len(queries), "width": asking.width}
