"""The Re-Ranking Transformer: trained here on pairs of photographs, downloaded, brought by the user, or left out (§4).

Its folder holds `config.json` and `model.safetensors`, `extractor/` (which features it reads, and what makes them), and
`landmarks.txt`, where it is known: the Wikidata ids of the knowledge base's entities that its training showed.
"""

from collections.abc import Mapping
from pathlib import Path

from trivium.core.atomic import write_atomically
from trivium.core.tables import write_json
from trivium.kvqae.rerankers.evaluation import LANDMARKS, read_entities
from trivium.kvqae.rerankers.local_features import SIDES
from trivium.nets.cards import write_card
from trivium.sources.brought import PROVENANCE, bring
from trivium.sources.pins import Pins
from trivium.vision.local_descriptors.delg_files import GLOBAL_FILE
from trivium.vision.local_descriptors.extractors import CONFIG as EXTRACTOR_CONFIG
from trivium.vision.local_descriptors.extractors import DELG_FILES, read_kind

EXTRACTOR = "extractor"


NOT_STATED = "not stated"  # a licence in pins.yaml


DELG_DIMENSION = 2048  # of DELG's global descriptors


def write_rrt_card(folder: Path, *, base: str, data: str, metrics: Mapping[str, float], licence: str | None) -> None:
    """Write the model's card; of `metrics` the scores of validation, where it was trained here."""
    write_card(
        folder,
        title="Re-Ranking Transformer",
        description=(
            "Tells from global and local descriptors whether two images show the same thing (Tan et al., ICCV 2021); "
            "`extractor/` says which descriptors."
        ),
        base=base,
        data=data,
        metrics={name: value for name, value in metrics.items() if name.startswith("validation_")},
        licence=licence,
        library="pytorch",
    )


def fetch_rrt(out: Path, downloads: Path, local: Path | None, pins: Pins | None = None) -> dict[str, float]:
    """Download the authors' checkpoint and keep it as safetensors.

    Its features are read from files of DELG's own tool, or made by our DELG where the user brings `rrt/extractor/`;
    `rrt/landmarks.txt` is brought along where there is one.

    Raises:
        BadInput: see `Hub.fetch` and `read_checkpoint`.
    """
    from trivium.kvqae.rerankers.rrt import save_rrt
    from trivium.sources.kvqae.rrt_weights import read_checkpoint
    from trivium.sources.repositories import Hub

    pins = pins or Pins()
    with Hub(downloads, pins) as hub:
        (checkpoint,) = hub.fetch("rrt").values()
        model = read_checkpoint(checkpoint)
        with write_atomically(out) as beside:
            save_rrt(model, beside)
            brought = local / "rrt" / EXTRACTOR if local else None
            if brought is not None and brought.is_dir():
                bring_extractor(brought, beside)
            else:
                extractor = {"kind": DELG_FILES, "global_dimension": DELG_DIMENSION}
                write_json(beside / EXTRACTOR / EXTRACTOR_CONFIG, extractor)
            counts = bring_landmarks(local / "rrt", beside) if local else {}
            origin = pins.summary(["rrt"])["rrt"]
            licence = None if origin["licence"] == NOT_STATED else origin["licence"]
            write_rrt_card(beside, base=origin["from"], data="Google Landmarks v2", metrics={}, licence=licence)
            write_json(beside / PROVENANCE, origin)
        hub.drop("rrt")
    return counts | {"parameters": float(sum(weights.numel() for weights in model.parameters()))}


def features_given(brought: Path | None) -> bool:
    """Whether a folder of the user's holds what describes images: an extractor, or DELG's files for both sides.

    Raises:
        BadInput: `extractor.json` is not JSON.
    """
    if brought is None:
        return False
    extractor = brought / "rrt" / EXTRACTOR
    if (extractor / EXTRACTOR_CONFIG).is_file() and read_kind(extractor) != DELG_FILES:
        return True
    return all(next((brought / "delg" / side).glob(f"*{GLOBAL_FILE}"), None) is not None for side in SIDES)


def bring_extractor(folder: Path, out: Path) -> None:
    """Put what makes the features beside the network that reads them."""
    bring(folder, out / EXTRACTOR, (file.name for file in folder.iterdir() if file.is_file()))


def bring_landmarks(source: Path, out: Path) -> dict[str, float]:
    """Check and bring the user's overlap list; without one nothing is written: unknown is not none."""
    if not (source / LANDMARKS).is_file():
        return {}
    listed = read_entities(source / LANDMARKS)
    bring(source, out, [str(LANDMARKS)])
    return {"overlap": float(len(listed))}
