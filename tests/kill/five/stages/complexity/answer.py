"""Stage `complexity-answer`, a cell of a `foreach`: a table that is streamed in batches."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from pydantic import Field
from safetensors.numpy import load_file

from stages.lingering import linger, pause
from trivium.core.parameters import Parameters
from trivium.core.stage import Context, run_stage
from trivium.core.tables import write_table

SCHEMA = pa.schema([("question", pa.int64()), ("score", pa.float32())])


class AnswerParameters(Parameters):
    """Section `complexity.answer`."""

    questions: int = Field(ge=1, description="Rows of the table")


def main(parameters: AnswerParameters, context: Context, *, model: Path, scale: float, out: Path) -> dict[str, float]:
    """Score each question by a weight of the model."""
    weights = load_file(model / "model.safetensors")["0.weight"].ravel() * scale

    def batches() -> Iterator[pa.RecordBatch]:
        for first in range(0, parameters.questions, 10):
            rows = np.arange(first, first + 10)
            yield pa.record_batch([rows, weights[rows % len(weights)]], schema=SCHEMA)
            pause()
        linger()

    write_table(out, batches(), SCHEMA)
    return {"questions": parameters.questions}


if __name__ == "__main__":
    run_stage(main, "complexity.answer", AnswerParameters)
