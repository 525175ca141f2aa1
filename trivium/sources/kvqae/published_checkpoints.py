"""The authors' own zero-shot DPR and reader, to start from instead of pretraining (kvqae.md §8).

DPR's folder holds `question` and `passage`, the reader's `reader`, each as the stages that would train it write it; or
nothing but `provenance.json` where pretraining is ours.
"""

from pathlib import Path

from trivium.core.atomic import write_atomically
from trivium.core.tables import write_json
from trivium.sources.disk import require_space
from trivium.sources.download import PATIENT, Patience
from trivium.sources.pins import Pins
from trivium.sources.repositories import Hub


def fetch_checkpoints(
    system: str, base: Path, out: Path, downloads: Path, pins: Pins | None = None, patience: Patience = PATIENT
) -> dict[str, float]:
    """Download, convert and check the checkpoints of a system.

    Args:
        system: dpr, or reader.
        base: folder of the text encoder, whose tokenizer they use.
        out: the folder; complete or absent.
        downloads: where they lie until everything is written, whatever interrupts the run.
        pins: by default the project's.
        patience: how long a download insists.

    Returns:
        Weights of each.
    """
    from transformers import AutoTokenizer  # seconds to import, and only this needs it

    from trivium.sources.kvqae.published_weights import CHECKPOINTS, convert

    pins = pins or Pins()
    checkpoints = CHECKPOINTS[system]
    size = sum(pins.source(name).bytes for name in checkpoints)
    tokenizer = AutoTokenizer.from_pretrained(base, local_files_only=True, trust_remote_code=False)
    with Hub(downloads, pins, patience) as hub:
        require_space(downloads, 2 * size - sum(map(hub.bytes_there, checkpoints)), f"the published {system}")
        with write_atomically(out) as beside:
            counts = {
                f"{name}_weights": convert(each, hub.fetch(name), tokenizer, beside / each.folder)
                for name, each in checkpoints.items()
            }
            write_json(beside / "provenance.json", pins.summary(checkpoints))
        hub.drop(*checkpoints)
    return counts
