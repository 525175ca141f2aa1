"""The Re-Ranking Transformer: trained here on pairs of photographs, downloaded, brought by the user, or left out (§4).

Its folder holds `config.json` and `model.safetensors`, `extractor/` (which features it reads, and what makes them), and
`landmarks.txt`, where it is known: the Wikidata ids of the knowledge base's entities that its training showed.
"""

import csv
import random
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from pydantic import Field

from stages.atomic import write_atomically
from stages.cards import CARD, write_card
from stages.image_shards import write_images
from stages.kvqae.local_descriptors.extractors import CONFIG as EXTRACTOR_CONFIG
from stages.kvqae.local_descriptors.extractors import NONE
from stages.kvqae.local_descriptors.folder import FeatureFolder
from stages.kvqae.local_features import LocalFeaturesParameters, describe_images
from stages.kvqae.rerankers.overlap_lists import LANDMARKS, read_entities, write_entities
from stages.kvqae.rerankers.rrt_parameters import RrtTrainingParameters, leave_out
from stages.stage import BadInput, Context, Parameters, run_stage
from stages.tables import write_json
from stages.world.brought import bring, digests, require_files
from stages.world.pins import Pins
from stages.world.sample.landmarks import choose_photographs, draw_photographs, known_things
from stages.world.sample.render.difficulty import Difficulty

SOURCES = ("sample", "hub", "local")
EXTRACTOR, PROVENANCE = "extractor", "provenance.json"
WHAT = "Entities of the knowledge base that the re-ranker's training showed, in other photographs"
MODEL = ("config.json", "model.safetensors")
PHOTOGRAPHS, LABELS = "photographs", "photographs.csv"
NOT_STATED = "not stated"  # a licence in pins.yaml
DELG_DIMENSION = 2048  # of DELG's global descriptors


class RrtParameters(Parameters):
    """Section `kvqae.rrt`; `hub` reads `use` alone, `local` what training needs."""

    use: bool = Field(description="Re-rank images by RRT; false: by ArcFace alone, without features of DELG's")
    seed: int = Field(ge=0, description="Of weights, pairs, held-out landmarks and the overlap")
    picture_size: int = Field(ge=64, le=1024, description="Side of the photographs drawn for training, as in the world")
    difficulty: Difficulty = Field(description="How far the training photographs differ")
    landmarks: int = Field(ge=4, description="Subjects of the training photographs that are in no world")
    persons: float = Field(ge=0, le=1, description="Share of these that are people")
    views: int = Field(ge=2, description="Photographs of each subject")
    overlap: float = Field(
        ge=0, le=1, description="Share of the knowledge base's things that are shown too, in other photographs"
    )
    features: LocalFeaturesParameters = Field(description="How photographs are described: as in kvqae.local_features")
    training: RrtTrainingParameters = Field(description="Sizes and schedule")


def make_sample(
    parameters: RrtParameters, context: Context, out: Path, *, world_seed: int, articles: int, imageless: int
) -> dict[str, float]:
    """Draw photographs, describe them without weights, and train; `landmarks.txt` lists what the world has, too."""
    known = known_things(world_seed, articles, imageless)
    shown = random.Random(f"landmarks {parameters.seed}").sample(known, round(parameters.overlap * len(known)))
    photographs = choose_photographs(
        shown, landmarks=parameters.landmarks, persons=parameters.persons, views=parameters.views
    )
    images, extractor = context.work / PHOTOGRAPHS, context.work / EXTRACTOR
    if not images.exists():
        drawn = draw_photographs(
            photographs, context.engine, size=parameters.picture_size, difficulty=parameters.difficulty
        )
        write_images(images, drawn)
    write_json(extractor / EXTRACTOR_CONFIG, {"kind": "sift"})
    landmark_of = {photograph.name: str(photograph.landmark) for photograph in photographs}
    with write_atomically(out) as beside:
        metrics = train_on(images, landmark_of, extractor, parameters, context, beside)
        data = f"drawn photographs of subjects that are in no world, and of {len(shown)} that are in the sample world"
        write_rrt_card(beside, base="random weights", data=data, metrics=metrics, licence="apache-2.0")
        write_entities(beside / LANDMARKS, (entity.wikidata_id for entity in shown), WHAT)
    return metrics | {"photographs": len(photographs), "landmarks": parameters.landmarks, "overlap": len(shown)}


def train_on(
    images: Path, landmark_of: dict[str, str], extractor: Path, parameters: RrtParameters, context: Context, out: Path
) -> dict[str, float]:
    """Describe photographs and train on their landmarks.

    Args:
        images: shards.
        landmark_of: the landmark on each photograph, by name.
        extractor: folder of the extractor, which goes into the model's.
        parameters, context: of the stage.
        out: the model's folder, new.

    Raises:
        BadInput: a photograph has no landmark; see `train_rrt`.
    """
    from stages.kvqae.rerankers.rrt import save_rrt  # torch, which the processes that draw and describe do not need
    from stages.kvqae.rerankers.rrt_training import train_rrt

    folder = context.work / "features"
    metrics = describe_images(
        images, extractor, None, parameters.features, engine=context.engine, work=context.work / "shards", out=folder
    )
    features = FeatureFolder.read(folder)
    names = features.names.to_pylist()
    if missing := [name for name in names if name not in landmark_of]:
        raise BadInput("photographs without a landmark", file=images, got=missing[0], expected=f"a line in {LABELS}")
    _, landmarks = np.unique([landmark_of[name] for name in names], return_inverse=True)
    model, trained = train_rrt(
        features,
        landmarks,
        parameters.training,
        seed=parameters.seed,
        work=context.work,
        log=context.tracker.log,
    )
    save_rrt(model, out)
    bring(extractor, out / EXTRACTOR, (file.name for file in extractor.iterdir() if file.is_file()))
    return metrics | trained


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
    from stages.kvqae.rerankers.rrt import save_rrt
    from stages.world.repositories import Hub
    from stages.world.rrt_weights import read_checkpoint

    pins = pins or Pins()
    with Hub(downloads, pins) as hub:
        (checkpoint,) = hub.fetch("rrt").values()
        model = read_checkpoint(checkpoint)
        with write_atomically(out) as beside:
            save_rrt(model, beside)
            brought = local / "rrt" / EXTRACTOR if local else None
            if brought is not None and brought.is_dir():
                bring(brought, beside / EXTRACTOR, (file.name for file in brought.iterdir() if file.is_file()))
            else:
                extractor = {"kind": "delg_files", "global_dimension": DELG_DIMENSION}
                write_json(beside / EXTRACTOR / EXTRACTOR_CONFIG, extractor)
            counts = bring_landmarks(local / "rrt", beside) if local else {}
            origin = pins.summary(["rrt"])["rrt"]
            licence = None if origin["licence"] == NOT_STATED else origin["licence"]
            write_rrt_card(beside, base=origin["from"], data="Google Landmarks v2", metrics={}, licence=licence)
            write_json(beside / PROVENANCE, origin)
        hub.drop("rrt")
    return counts | {"parameters": float(sum(weights.numel() for weights in model.parameters()))}


def bring_landmarks(source: Path, out: Path) -> dict[str, float]:
    """Check and bring the user's overlap list; without one nothing is written: unknown is not none."""
    if not (source / LANDMARKS).is_file():
        return {}
    listed = read_entities(source / LANDMARKS)
    bring(source, out, [str(LANDMARKS)])
    return {"overlap": float(len(listed))}


def bring_rrt(parameters: RrtParameters, context: Context, source: Path, out: Path) -> dict[str, float]:
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
            from stages.kvqae.rerankers.rrt import load_rrt

            require_files(source, MODEL)
            model = load_rrt(source)
            metrics = {"parameters": float(sum(weights.numel() for weights in model.parameters()))}
            extractor = [f"{EXTRACTOR}/{file.name}" for file in (source / EXTRACTOR).iterdir() if file.is_file()]
            card = [CARD] if (source / CARD).is_file() else []
            bring(source, beside, [*MODEL, *extractor, *card])
            base, data = "the user's own", "not known"
        metrics |= bring_landmarks(source, beside)
        write_json(beside / PROVENANCE, digests(beside))
        if not (beside / CARD).exists():
            write_rrt_card(beside, base=base, data=data, metrics=metrics, licence=None)
    return metrics


def read_labels(path: Path) -> dict[str, str]:
    """The landmark on each photograph, by name.

    Raises:
        BadInput: no such file, no columns name and landmark, or an empty field.
    """
    require_files(path.parent, [path.name])
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        if not {"name", "landmark"} <= set(rows.fieldnames or ()):
            raise BadInput("missing columns", file=path, row=1, got=rows.fieldnames, expected="name, landmark")
        labels = {}
        for row, record in enumerate(rows, 2):
            if not record["name"] or not record["landmark"]:
                raise BadInput("empty field", file=path, row=row, got=record, expected="a name and a landmark")
            labels[record["name"]] = record["landmark"]
    return labels


def main(
    parameters: RrtParameters,
    context: Context,
    *,
    source: str,
    world_seed: int,
    articles: int,
    imageless: int,
    out: Path,
    local: str = "",
) -> dict[str, float]:
    """Write the model's folder to --out; where RRT is not used, that it is left out.

    --source sample trains one, some of whose landmarks are things of the sample world --world-seed --articles
    --imageless; hub downloads the authors'; local takes what is in rrt/ of the folder --local, or trains on it.
    """
    if source not in SOURCES:
        raise BadInput("no such source", field="world.kvqae", got=source, choices=SOURCES)
    if not parameters.use:
        with write_atomically(out) as beside:
            leave_out(beside)
            write_json(beside / EXTRACTOR / EXTRACTOR_CONFIG, {"kind": NONE})
        return {"left_out": 1.0}
    if source == "sample":
        return make_sample(parameters, context, out, world_seed=world_seed, articles=articles, imageless=imageless)
    if source == "hub":
        return fetch_rrt(out, context.downloads, Path(local) if local else None)
    if not local:
        raise BadInput("no folder given", field="--local", expected="a folder with rrt/")
    return bring_rrt(parameters, context, Path(local), out)


if __name__ == "__main__":
    run_stage(main, "kvqae.rrt", RrtParameters)
