"""Sample world of decorrelation: COCO's part, Flickr30k's, and a control without planted co-occurrence."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from PIL import Image
from pydantic import Field

from sample.render.canvas import Dice
from sample.render.photo import encode
from sample.scenes.catalogue import COCO, FLICKR30K, Cast
from sample.scenes.formats import Shot, entities, instances, karpathy
from sample.scenes.scene import make_scene
from sample.scenes.wording import describe, kinds_named
from trivium.core.atomic import write_folder
from trivium.core.image_shards import write_images
from trivium.core.parameters import Parameters
from trivium.formats.pictures import removal_id

DATASETS: dict[str, Cast] = {"coco": COCO, "flickr30k": FLICKR30K, "control": COCO}
CAPTIONS = 5


class SplitSizes(Parameters):
    """Number of pictures of each split."""

    train: int = Field(ge=4, description="Training pictures; in COCO's sets a quarter of them is `restval`")
    validation: int = Field(ge=1, description="Validation pictures")
    test: int = Field(ge=1, description="Test pictures")


class ScenesParameters(Parameters):
    """The sample world's scenes; `hub` and `local` read none of it."""

    seed: int = Field(ge=0, le=998, description="World seed; settings were chosen on 0 to 2, results are from 3 on")
    picture_size: int = Field(ge=32, le=256, description="Side of the square pictures in pixels")
    coco: SplitSizes = Field(description="COCO's part")
    flickr30k: SplitSizes = Field(description="Flickr30k's part")
    control: SplitSizes = Field(description="Scenes as COCO's without planted co-occurrence")
    co_occurrence: float = Field(ge=0, le=1, description="Probability that an object of a planted pair has its partner")
    control_co_occurrence: float = Field(ge=0, le=1, description="The same in the control world")
    mention: float = Field(gt=0, le=1, description="Share of the objects in a picture that a caption names")
    usual_colour: float = Field(ge=0, le=1, description="Share of the objects in the colour usual for their kind")


def write_sample(dataset: str, parameters: ScenesParameters, out: Path) -> dict[str, float]:
    """Make a data set and write it in its public formats; the same bytes on every machine.

    Replaces the folder `out` by `karpathy.json` and `images/`; for COCO's sets `instances.json` and, for test
    pictures, `rendered/` (the scene again without one of its kinds, by removal id); for Flickr30k `entities.zip`.

    Returns:
        `co_occurrence_planted`, the mean over planted pairs of P(both sides | one side), and `mentioned_share`, of the
        kinds in a picture that a caption names.
    """
    shots, cast = make_shots(dataset, parameters), DATASETS[dataset]
    with write_folder(out) as folder:
        _write_json(folder / "karpathy.json", karpathy(shots))
        write_images(folder / "images", ((shot.name, _encode(shot.scene.render())) for shot in shots))
        if dataset == "flickr30k":
            (folder / "entities.zip").write_bytes(entities(shots))
        else:
            _write_json(folder / "instances.json", instances(shots, cast.kinds))
            write_images(folder / "rendered", _render_removals(shots))
    named = sum(len(kinds_named(caption)) for shot in shots for caption in shot.captions)
    planted = [_share_together(shots, set(first), set(second)) for first, second in cast.pairs]
    return {
        "co_occurrence_planted": sum(planted) / len(planted),
        "mentioned_share": named / sum(len(shot.scene.kinds) * CAPTIONS for shot in shots),
    }


def make_shots(dataset: str, parameters: ScenesParameters) -> list[Shot]:
    """Draw all scenes, all of them different, with their captions."""
    sizes: SplitSizes = getattr(parameters, dataset)
    restval = sizes.train // 4 if dataset != "flickr30k" else 0
    splits = ["train"] * (sizes.train - restval) + ["restval"] * restval
    splits += ["val"] * sizes.validation + ["test"] * sizes.test
    together = parameters.control_co_occurrence if dataset == "control" else parameters.co_occurrence
    seen = set()
    shots: list[Shot] = []
    attempt = 0
    while len(shots) < len(splits):
        number = len(shots)
        scene = make_scene(
            f"scene/{dataset}/{parameters.seed}/{number}/{attempt}",
            DATASETS[dataset],
            size=parameters.picture_size,
            co_occurrence=together,
            colour=parameters.usual_colour,
        )
        if scene.fingerprint() in seen:  # drawn again
            attempt += 1
            continue
        seen.add(scene.fingerprint())
        dice = Dice("captions", scene.seed)
        captions = tuple(describe(scene, dice, parameters.mention) for _ in range(CAPTIONS))
        shots.append(Shot(number, dataset, splits[number], scene, captions))
        attempt = 0
    return shots


def _share_together(shots: Sequence[Shot], first: set[str], second: set[str]) -> float:
    """Estimate P(both sides | at least one side)."""
    either = [kinds for kinds in (set(shot.scene.kinds) for shot in shots) if kinds & (first | second)]
    return sum(bool(kinds & first and kinds & second) for kinds in either) / max(1, len(either))


def _render_removals(shots: Sequence[Shot]) -> Iterator[tuple[str, bytes]]:
    for shot in shots:
        if shot.split == "test":
            for kind in shot.scene.kinds:
                yield removal_id(shot.number, kind), _encode(shot.scene.render(without=(kind,)))


def _encode(image: Image.Image) -> bytes:
    """Encode as JPEG of high quality with full colour resolution, since artefacts are large in small pictures."""
    return encode(image, quality=95, subsampling=0)


def _write_json(path: Path, value: object) -> None:
    """Write compact JSON, as the public files are."""
    path.write_text(json.dumps(value, separators=(",", ":")), "utf-8")
