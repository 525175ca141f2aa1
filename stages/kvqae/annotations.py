"""Stage `kvqae-annotations`. Simulate annotations with known disagreement, or take those of people (kvqae.md §2)."""

import sys
from pathlib import Path
from typing import Literal

from sample.kvqae.annotators import AnnotationsParameters, simulate
from trivium.core.atomic import write_atomically
from trivium.core.stage import stage
from trivium.core.tables import read_json, write_json
from trivium.kvqae.annotation.project import EXPECTED, EXPORT, read_annotations
from trivium.kvqae.construction.generation import read_generated

BROUGHT = "annotation.json"  # people's export, in the folder `brought`
_SIMULATED = (
    "WARNING: world.kvqae_annotations is sample: nobody looked at these questions. Simulated annotators keep and edit "
    "them at random, so data/kvqae/rebuilt is no data set to train on or to report. Annotate them (see "
    "brought/kvqae/annotations/README.md), or keep kvqae.dataset: raw."
)


@stage("kvqae.annotations", metrics="metrics/kvqae/annotations.json")
def main(
    parameters: AnnotationsParameters,
    *,
    source: Literal["sample", "local"],
    world: str,
    brought: Path = Path("brought/kvqae/annotations"),
    generated: Path = Path("data/kvqae/construction/generated.jsonl"),
    tasks: Path = Path("data/kvqae/annotation"),
    out: Path = Path("data/kvqae/annotation_export"),
) -> dict[str, float]:
    """Write `export.json`, as Label Studio exports it, and for simulated annotators `expected.json`.

    --source sample simulates them, and warns if the questions of --world are real; local checks and takes
    `annotation.json` of `brought`. There are no public annotations of generated questions.

    Returns:
        Counts; `simulated`; and for simulated annotators what agreement and edits should be ({name}_expected).
    """
    questions = read_generated(generated)
    expected: dict[str, float] = {}
    if source == "sample":
        if world != "sample":
            print(_SIMULATED, file=sys.stderr)
        export, expected = simulate(parameters, questions, read_json(tasks / "tasks.json"))
    else:
        export = read_json(brought / BROUGHT)
        read_annotations(brought / BROUGHT, questions)  # errors name the user's file, not its copy
    with write_atomically(out) as target:
        write_json(target / EXPORT, export)
        if source == "sample":
            write_json(target / EXPECTED, expected)
    _, counts = read_annotations(out / EXPORT, questions)
    metrics = {name: float(count) for name, count in counts.items()} | {"simulated": float(source == "sample")}
    return metrics | {f"{name}_expected": value for name, value in expected.items()}
