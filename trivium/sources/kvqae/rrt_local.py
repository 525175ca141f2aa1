"""The user's Re-Ranking Transformer, or the photographs that one is trained on."""

from pathlib import Path

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.stage import Context
from trivium.core.tables import read_csv_records, write_json
from trivium.kvqae.rerankers.rrt_training import LandmarkTrainingParameters, train_on
from trivium.nets.cards import CARD
from trivium.sources.brought import PROVENANCE, bring, digests, require_files
from trivium.sources.kvqae.rrt import EXTRACTOR, bring_extractor, bring_landmarks, write_rrt_card
from trivium.vision.local_descriptors.extractors import CONFIG as EXTRACTOR_CONFIG

MODEL = ("config.json", "model.safetensors")


PHOTOGRAPHS, LABELS = "photographs", "photographs.csv"


def bring_rrt(parameters: LandmarkTrainingParameters, context: Context, source: Path, out: Path) -> dict[str, float]:
    """Take the user's model, or train one on the user's photographs.

    `rrt/` in their folder holds `extractor/` and either the model (`config.json`, `model.safetensors`) or
    `photographs/` (image shards) with `photographs.csv` (columns name, landmark); `landmarks.txt` may be left out.

    Raises:
        BadInput: neither is there, weights of another size than the configuration says; see `train_on`.
    """
    source = source / "rrt"
    require_files(source, [f"{EXTRACTOR}/{EXTRACTOR_CONFIG}"])
    with write_atomically(out) as beside:
        if (source / PHOTOGRAPHS).is_dir():
            labels = read_labels(source / LABELS)
            metrics = train_on(source / PHOTOGRAPHS, labels, source / EXTRACTOR, parameters, context, beside)
            base, data = "random weights", f"{source / PHOTOGRAPHS}, the user's"
        else:
            from trivium.kvqae.rerankers.rrt import load_rrt

            require_files(source, MODEL)
            model = load_rrt(source)
            metrics = {"parameters": float(sum(weights.numel() for weights in model.parameters()))}
            bring(source, beside, [*MODEL, *([CARD] if (source / CARD).is_file() else [])])
            base, data = "the user's own", "not known"
        bring_extractor(source / EXTRACTOR, beside)
        metrics |= bring_landmarks(source, beside)
        write_json(beside / PROVENANCE, digests(beside))
        if not (beside / CARD).exists():
            write_rrt_card(beside, base=base, data=data, metrics=metrics, licence=None)
    return metrics


def read_labels(path: Path) -> dict[str, str]:
    """The landmark on each photograph, by name.

    Raises:
        BadInput: see `read_csv_records`; or an empty field.
    """
    require_files(path.parent, [path.name])
    labels = {}
    for row, record in read_csv_records(path, ("name", "landmark")):
        if not record["name"] or not record["landmark"]:
            raise BadInput("empty field", file=path, row=row, got=record, expected="a name and a landmark")
        labels[record["name"]] = record["landmark"]
    return labels
