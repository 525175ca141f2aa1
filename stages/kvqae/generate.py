"""Stage `kvqae-generate`. Questions with an ambiguous mention in place of the entity."""

from pathlib import Path

from pydantic import Field

from trivium.core.errors import BadInput
from trivium.core.parameters import Parameters
from trivium.core.stage import Context, run_stage
from trivium.core.tables import read_table, write_json_lines
from trivium.kvqae.construction.candidate_images import SCHEMA as CANDIDATES
from trivium.kvqae.construction.generation import generate_all
from trivium.kvqae.construction.mentions import MENTION_SCHEMA, read_mentions
from trivium.kvqae.construction.subjects import SUBJECT_SCHEMA


class GenerateParameters(Parameters):
    """Section `kvqae.generate`."""

    seed: int = Field(default=0, ge=0, description="Seed of the drawn mentions, with each question's key")


def main(
    parameters: GenerateParameters,
    context: Context,
    *,
    subjects: Path = Path("data/kvqae/construction/subjects.parquet"),
    candidates: Path = Path("data/kvqae/construction/candidates.parquet"),
    out: Path = Path("data/kvqae/construction/generated.jsonl"),
) -> dict[str, float]:
    """Write one JSON object a generated question: what the annotators judge."""
    mentions = read_mentions(subjects)
    columns = [name for name in SUBJECT_SCHEMA.names if name not in MENTION_SCHEMA.names]
    rows = read_table(subjects, columns).to_pylist()
    images = {row["key"]: row["images"] for row in read_table(candidates, CANDIDATES.names).to_pylist()}
    if strangers := sorted(images.keys() - {mention.key for mention in mentions}):
        raise BadInput("images of an unknown question", file=candidates, field="key", got=strangers[0])
    generated, metrics = generate_all(rows, mentions, images, seed=parameters.seed)
    write_json_lines(out, generated)
    return metrics


if __name__ == "__main__":
    run_stage(main, "kvqae.generate", GenerateParameters, metrics="metrics/kvqae/generate.json")
