"""Stage `kvqae-brought_runs`. Runs of other systems, brought as TREC files, by split."""

from pathlib import Path
from typing import ClassVar

from pydantic import Field

from trivium.core.atomic import write_atomically
from trivium.core.parameters import Parameters
from trivium.core.stage import Context, run_stage
from trivium.core.tables import read_table
from trivium.formats.questions import SPLITS, read_questions
from trivium.formats.trec import write_run
from trivium.kvqae.retrieval.systems import brought_files, by_split
from trivium.measures.runs import PADDING


class BroughtRunsParameters(Parameters):
    """Section `kvqae.brought_runs`."""

    elsewhere: ClassVar = {"depth": "kvqae.depth"}
    depth: int = Field(ge=1, description="Passages kept a question")


def main(
    parameters: BroughtRunsParameters,
    context: Context,
    *,
    brought: Path = Path("brought/kvqae/runs"),
    questions: Path = Path("data/kvqae/{kvqae.dataset}/viquae"),
    passages: Path = Path("data/kvqae/kb/passages.parquet"),
    out: Path = Path("data/kvqae/runs/brought"),
) -> dict[str, float]:
    """Write `{system}/{split}.trec` for each file of `brought` and each split that it has questions of."""
    split_of = {each.id: split for split in SPLITS for each in read_questions(questions / f"{split}.jsonl")}
    known = read_table(passages, ["article"]).num_rows
    metrics: dict[str, float] = {"runs": 0}
    with write_atomically(out) as beside:
        beside.mkdir()
        for name, path in brought_files(brought).items():
            metrics["runs"] += 1
            for split, run in by_split(path, name, split_of, known, parameters.depth).items():
                write_run(beside / name / f"{split}.trec", run)
                metrics[f"{name}_{split}_questions"] = len(run.queries)
                metrics[f"{name}_{split}_passages"] = int((run.documents != PADDING).sum())
    return metrics


if __name__ == "__main__":
    run_stage(main, "kvqae.brought_runs", BroughtRunsParameters, metrics="metrics/kvqae/brought_runs.json")
