"""The authors' own zero-shot DPR and reader, to start from instead of pretraining (kvqae.md §8).

Its folder holds `dpr/question`, `dpr/passage` and `reader`, each as the stages that would train it write it; or nothing
but `provenance.json` where pretraining is ours.
"""

from pathlib import Path

from pydantic import Field

from stages.atomic import write_atomically
from stages.stage import BadInput, Context, Parameters, run_stage
from stages.tables import write_json
from stages.world.disk import require_space
from stages.world.download import PATIENT, Patience
from stages.world.pins import Pins
from stages.world.repositories import Hub


class PublishedCheckpointsParameters(Parameters):
    """Section `kvqae.published_checkpoints`."""

    use: bool = Field(
        description="Start from the authors' zero-shot DPR and reader, do not pretrain; only with world.kvqae: hub"
    )


def fetch_checkpoints(
    base: Path, out: Path, downloads: Path, pins: Pins | None = None, patience: Patience = PATIENT
) -> dict[str, float]:
    """Download, convert and check the three checkpoints.

    Args:
        base: folder of the text encoder, whose tokenizer they use.
        out: the folder; complete or absent.
        downloads: where they lie until everything is written, whatever interrupts the run.
        pins: by default the project's.
        patience: how long a download insists.

    Returns:
        Weights of each.
    """
    from transformers import AutoTokenizer  # seconds to import, and only this needs it

    from stages.world.published_weights import CHECKPOINTS, convert

    pins = pins or Pins()
    size = sum(pins.source(name).bytes for name in CHECKPOINTS)
    tokenizer = AutoTokenizer.from_pretrained(base, local_files_only=True)
    with Hub(downloads, pins, patience) as hub:
        require_space(downloads, 2 * size - sum(map(hub.bytes_there, CHECKPOINTS)), "the published DPR and reader")
        with write_atomically(out) as beside:
            counts = {
                f"{name}_weights": convert(each, hub.fetch(name), tokenizer, beside / each.folder)
                for name, each in CHECKPOINTS.items()
            }
            write_json(beside / "provenance.json", pins.summary(CHECKPOINTS))
        hub.drop(*CHECKPOINTS)
    return counts


def main(
    parameters: PublishedCheckpointsParameters, context: Context, *, source: str, dataset: str, base: Path, out: Path
) -> dict[str, float]:
    """Write the published checkpoints to --out, or `provenance.json` alone where they are not used.

    Raises:
        BadInput: they are asked for in a world that is not --source hub, or with questions other than the released
            ones, --dataset raw, which they were trained without; or see `fetch_checkpoints`.
    """
    if parameters.use and source != "hub":
        raise BadInput(
            "the published checkpoints go with the public data", field="kvqae.published_checkpoints.use", got=True,
            expected=f"false where world.kvqae is {source}",
        )  # fmt: skip
    if parameters.use and dataset != "raw":
        raise BadInput(
            "the published checkpoints were trained without the released questions, not without rebuilt ones",
            field="kvqae.dataset", got=dataset, expected="kvqae.published_checkpoints.use: false, or another data set",
            choices=["raw"],
        )  # fmt: skip
    if parameters.use:
        return fetch_checkpoints(base, out, context.downloads)
    with write_atomically(out) as beside:
        write_json(beside / "provenance.json", {})
    return {}


if __name__ == "__main__":
    run_stage(main, "kvqae.published_checkpoints", PublishedCheckpointsParameters)
