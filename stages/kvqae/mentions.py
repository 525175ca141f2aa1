"""Stage `kvqae-mentions`. Named entities in TriviaQA's questions, by label and dependency."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pyarrow as pa

from trivium.core.stage import Context, run_stage
from trivium.core.tables import write_table
from trivium.formats.triviaqa import read_triviaqa
from trivium.kvqae.construction.mentions import (
    HOW_MANY,
    MENTION_SCHEMA,
    MentionsParameters,
    find_mentions,
    mention_batch,
)
from trivium.kvqae.construction.spacy_pipeline import load_pipeline

_ROWS = 4096


def main(
    parameters: MentionsParameters,
    context: Context,
    *,
    triviaqa: Path = Path("data/kvqae/sources/triviaqa.json"),
    model: Path = Path("models/kvqae/spacy"),
    out: Path = Path("data/kvqae/construction/mentions.parquet"),
) -> dict[str, float]:
    """Write one row a valid mention to --out (`construction_records.MENTION_SCHEMA`); a question may have several."""
    counts: Counter[str] = Counter()
    mentions = find_mentions(read_triviaqa(triviaqa), load_pipeline(model), parameters, counts)

    def batches() -> Iterator[pa.RecordBatch]:
        while rows := list(islice(mentions, _ROWS)):
            yield mention_batch(rows)

    write_table(out, batches(), MENTION_SCHEMA)
    names = ["questions", "entities", "dropped_label", "dropped_dependency", "mentions"]
    metrics = {name: float(counts[name]) for name in [*names, *(f"questions_with_{many}" for many in HOW_MANY)]}
    return metrics | {"mentions_a_question": counts["mentions"] / counts["questions"]}


if __name__ == "__main__":
    run_stage(main, "kvqae.mentions", MentionsParameters, metrics="metrics/kvqae/mentions.json")
