"""What the stages of decorrelation cost; every set is counted as large as COCO."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from trivium.commands.costs.kvqae_world import kvqae_world
from trivium.commands.costs.row import Row, chosen
from trivium.commands.stage_models import Used
from trivium.decorrelation.models.kind import KINDS
from trivium.decorrelation.painting.filling import FILLINGS
from trivium.page.contents import ARTICLES, stage_of


@dataclass(frozen=True)
class Pictures:
    """How many pictures there are, with captions and objects.

    Attributes:
        picture_gb: of the images that are there.
        shown: how many of them are.
        painted: how many are painted over.
    """

    pictures: float
    picture_gb: float
    test_pictures: float
    coco_downloads: float
    shown: float
    painted: float


@dataclass(frozen=True)
class Matchers:
    """How large the retrieval models are; `teraflop` is a picture and its caption, forward; None: as kinds say."""

    teraflop: float | None
    matcher_gb: float


# GB of each model, as in trivium/sources/pins.yaml.
MODELS = {
    "clip": 0.6,
    "vse": 0.6,
    "blip": 2.0,
    "captioner": 1.0,
    "lama": 0.2,
    "blip_itm_coco": 0.9,
    "blip_itm_flickr": 0.9,
}
SAMPLE_MATCHERS = Matchers(teraflop=2e-5, matcher_gb=0.01)
HUB_MATCHERS = Matchers(teraflop=None, matcher_gb=0.6)


def _sample(used: Used) -> Pictures:
    pictures = sum(used(f"decorrelation.world.coco.{split}") for split in ("train", "validation", "test"))
    test = used("decorrelation.world.coco.test")
    return Pictures(pictures, pictures * 1e-5, test, 0, pictures, pictures / 2 + 3 * test)


def _hub(used: Used) -> Pictures:
    pictures, test = 123_287, 5000
    if used("decorrelation.world.pictures") == "test":  # val2014's archive alone
        return Pictures(pictures, 0.8, test, 6.9, test, 3 * test)
    return Pictures(pictures, 20, test, 20.5, pictures, pictures / 2 + 3 * test)


def _teraflop(models: Matchers, kind: str) -> float:
    return KINDS[kind].teraflop if models.teraflop is None else models.teraflop


def _training(used: Used, models: Matchers, name: str, cell: Mapping[str, Any]) -> float:
    """Teraflop of a cell's training: forward and backward; a released model that is asked untouched takes none."""
    if "_zero_shot_" in name:
        return 0.0
    settings = f"decorrelation.train.models.{cell['model']}"
    pairs = cell.get("steps", 1) * used(f"{settings}.steps") * used(f"{settings}.batch_size")
    return float(pairs * 3 * _teraflop(models, cell["model"]))


def _matching(used: Used, world: Pictures) -> float:
    """Teraflop of BLIP's second stage, the mean over all cells: it reads a query with each of its candidates."""
    cells = used("decorrelation.cells").values()
    share = sum(cell["model"] == "blip" for cell in cells) / len(cells)
    queries = (6 + 5) * world.test_pictures  # pictures, untouched and painted, and five captions of each
    # 13 words that look at 577 patches, whose keys and values are made anew for each pair
    pair = chosen(used, "decorrelation_models", 4e-6, 0.02)
    return float(share * queries * used("decorrelation.retrieve.candidates")["coco"] * pair)


def _painted_gb(used: Used, world: Pictures) -> float:
    """The mean over all paintings. On COCO a painted picture takes 465 KB as PNG; of all seven of eight have one."""
    paintings = used("decorrelation.paintings").values()
    share = sum(FILLINGS[each["filling"]].paints for each in paintings) / len(paintings)
    smaller = {"png": 1.0, "webp": 0.8}[used("decorrelation.inpaint.picture_format")]
    share *= 7 / 8 if world.shown == world.pictures else world.painted / world.shown  # a test picture has several
    return float(share * world.picture_gb * 465 / 162 * smaller)  # a JPEG takes 162 KB


def decorrelation_costs(used: Used) -> dict[str, Row]:
    """A row a stage."""
    world = chosen(used, "coco", _sample, _hub)(used)
    models = chosen(used, "decorrelation_models", SAMPLE_MATCHERS, HUB_MATCHERS)
    images = kvqae_world(used).images
    cells = used("decorrelation.cells")
    fillings = [FILLINGS[each["filling"]] for each in used("decorrelation.paintings").values()]
    painting = [each for each in fillings if each.paints]
    painted = world.painted * len(painting) / len(fillings)  # mean of a cell
    models_gb = sum(MODELS[name] for name in used("decorrelation.base_models.models"))
    downloaded = chosen(used, "decorrelation_models", 0.0, models_gb)
    size = min(1, world.picture_gb / 20 * world.pictures / world.shown)  # of a picture, beside one of 640 × 480
    return {
        "decorrelation-world": Row(
            downloads=world.coco_downloads / 3,  # of the three sets one is COCO
            disk=world.coco_downloads / 3 + 1.2 * world.picture_gb,
            memory=0.5 + world.pictures * 3e-5,
            core_hours=0.003 + world.shown * 0.01 / 3600,
        ),
        "decorrelation-base_models": Row(
            downloads=downloaded,
            disk=downloaded + 0.1,
            memory=4,
            core_hours=0.05,  # the sample trains stand-ins
        ),
        "decorrelation-phrases": Row(
            disk=world.pictures * 2e-6,
            memory=0.5 + world.pictures * 3e-5,
            core_hours=world.pictures * 5 / 8000 / 3600,
        ),
        "decorrelation-removals": Row(
            disk=world.pictures * 1e-6,
            memory=0.5 + world.pictures * 3e-5,
            core_hours=world.pictures * 0.003 / 3600,
        ),
        "decorrelation-inpaint": Row(
            disk=_painted_gb(used, world),
            memory=2,
            teraflop=painted * size * fmean(each.teraflop for each in painting or fillings),
            core_hours=painted * (0.003 + size * fmean(each.core_seconds for each in painting or fillings)) / 3600,
        ),
        "decorrelation-pairs": Row(
            disk=world.pictures * 1e-7,
            memory=1,
            core_hours=world.pictures * 0.002 / 3600,
        ),
        "decorrelation-train": Row(
            disk=models.matcher_gb * 4,
            memory=3 + models.matcher_gb * 10,
            teraflop=fmean(_training(used, models, *cell) for cell in cells.items()),
            core_hours=0.004,
        ),
        # BLIP keeps its scaled pictures besides
        "decorrelation-retrieve": Row(
            disk=world.pictures * 5 * 1024 * 1e-9,
            memory=2 + world.pictures * 6e-5,
            teraflop=(world.pictures * 5 / 3 + 6 * world.test_pictures)
            * fmean(_teraflop(models, cell["model"]) for cell in cells.values())
            + _matching(used, world),
            core_hours=0.004 + world.pictures * 5 * 3e-4 / 3600,
        ),
        "decorrelation-evaluate": Row(
            memory=1 + world.pictures * 3e-5,
            core_hours=0.01 + len(cells) * world.pictures * 5e-8,
        ),
        "decorrelation-entities": Row(
            memory=3 * used("run.gpu_workers"),  # all encoders
            teraflop=images * 0.7 * 4 * _teraflop(models, "clip"),  # what is no person
            core_hours=images * 0.7 * 0.01 / 3600,  # decoded once for all encoders
        ),
        **dict.fromkeys((stage_of("decorrelation", part) for part in ARTICLES["decorrelation"].parts), Row(memory=1)),
        "decorrelation-page_gallery": Row(
            memory=2,
            core_hours=0.003,
        ),
    }
