"""Stage `headline`: reads what all the others wrote, and writes a folder and the metrics that `make repro` shows."""

from pathlib import Path

from pydantic import Field

from stages.lingering import linger, pause
from trivium.core.atomic import write_atomically
from trivium.core.matrices import read_matrix
from trivium.core.parameters import Parameters
from trivium.core.stage import Context, run_stage
from trivium.core.tables import read_table, write_json, write_json_lines


class HeadlineParameters(Parameters):
    """Section `headline`."""

    lines: int = Field(ge=1, description="Lines of the report")


def main(
    parameters: HeadlineParameters, context: Context, *, raw: Path, vectors: Path, answers: Path, out: Path
) -> dict[str, float]:
    """Join files, vectors and scores."""
    matrix = read_matrix(vectors)
    scores = read_table(answers / "minilm.parquet")["score"].to_pylist()
    with write_atomically(out) as beside:
        for number, file in enumerate(sorted(raw.rglob("*.json"))):
            row = {"file": str(file.relative_to(raw)), "vector": matrix[number].tolist(), "score": scores[number]}
            write_json_lines(beside / "rows" / f"{number:03}.jsonl", [row])
            pause()
        linger()
        write_json(beside / "lines.json", list(range(parameters.lines)))
    return {"mean": float(matrix.mean()), "scores": sum(scores)}


if __name__ == "__main__":
    run_stage(main, "headline", HeadlineParameters)
