"""What the stages of decorrelation cost; every set is counted as large as COCO."""

from dataclasses import dataclass

from trivium.commands.costs.kvqae import kvqae_world
from trivium.commands.costs.row import Row, chosen
from trivium.commands.stage_models import Used


@dataclass(frozen=True)
class Pictures:
    """How many pictures there are."""

    pictures: float
    picture_gb: float
    test_pictures: float
    coco_downloads: float


@dataclass(frozen=True)
class Matchers:
    """How large the retrieval models are; `clip_teraflop` is one picture and its caption, forward."""

    clip_teraflop: float
    matcher_gb: float
    decorrelation_downloads: float


HUB_PICTURES = Pictures(pictures=123_287, picture_gb=20, test_pictures=5000, coco_downloads=20.5)
SAMPLE_MATCHERS = Matchers(clip_teraflop=2e-5, matcher_gb=0.01, decorrelation_downloads=0)
# ViT-B-32; VSE++'s VGG19 .02 and BLIP's ViT-B at 384 px .11 are larger
HUB_MATCHERS = Matchers(clip_teraflop=0.012, matcher_gb=0.6, decorrelation_downloads=4.5)


def _sample(used: Used) -> Pictures:
    pictures = sum(used(f"decorrelation.world.coco.{split}") for split in ("train", "validation", "test"))
    return Pictures(pictures, pictures * 1e-5, used("decorrelation.world.coco.test"), 0)


def _matching(used: Used, world: Pictures) -> float:
    """Teraflop of BLIP's second stage, the mean over all cells: it reads a query with each of its candidates."""
    cells = used("decorrelation.cells").values()
    share = sum(cell["model"] == "blip" for cell in cells) / len(cells)
    queries = (6 + 5) * world.test_pictures  # pictures, untouched and painted, and five captions of each
    # 13 words that look at 577 patches, whose keys and values are made anew for each pair
    pair = chosen(used, "decorrelation_models", 4e-6, 0.02)
    return float(share * queries * used("decorrelation.retrieve.candidates")["coco"] * pair)


def _painted_gb(used: Used, world: Pictures) -> float:
    """The mean over all paintings. On COCO a painted picture takes 465 KB as PNG; seven of eight have one."""
    paintings = used("decorrelation.paintings").values()
    share = sum(each["filling"] != "none" for each in paintings) / len(paintings)
    smaller = {"png": 1.0, "webp": 0.8}[used("decorrelation.inpaint.picture_format")]
    return float(share * 7 / 8 * world.picture_gb * 465 / 162 * smaller)  # a JPEG takes 162 KB


def decorrelation_costs(used: Used) -> dict[str, Row]:
    """A row a stage."""
    world = chosen(used, "coco", _sample, lambda _: HUB_PICTURES)(used)
    models = chosen(used, "decorrelation_models", SAMPLE_MATCHERS, HUB_MATCHERS)
    images = kvqae_world(used).images
    cells = len(used("decorrelation.cells"))
    return {
        "decorrelation-world": Row(
            downloads=world.coco_downloads / 3,  # of the three sets one is COCO
            disk=2.2 * world.picture_gb,
            memory=0.5 + world.pictures * 3e-5,
            core_hours=0.003 + world.pictures * 0.01 / 3600,
        ),
        "decorrelation-base_models": Row(
            downloads=models.decorrelation_downloads,
            disk=models.decorrelation_downloads + 0.1,
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
        # cv2; LaMa takes .5 teraflop a picture of 640 × 480
        "decorrelation-inpaint": Row(
            disk=_painted_gb(used, world),
            memory=2,
            teraflop=(world.pictures / 2 + 3 * world.test_pictures) * min(0.5, 0.025 * world.picture_gb),
            core_hours=(world.pictures / 2 + 3 * world.test_pictures)
            * (0.003 + 0.08 * min(1, world.picture_gb / 20))
            / 3600,
        ),
        "decorrelation-pairs": Row(
            disk=world.pictures * 1e-7,
            memory=1,
            core_hours=world.pictures * 0.002 / 3600,
        ),
        # counted with CLIP's settings
        "decorrelation-train": Row(
            disk=models.matcher_gb * 4,
            memory=3 + models.matcher_gb * 10,
            teraflop=used("decorrelation.train.models.clip.steps")
            * used("decorrelation.train.models.clip.batch_size")
            * 3
            * models.clip_teraflop,
            core_hours=0.004,
        ),
        # the first stage is counted with CLIP; BLIP keeps its scaled pictures besides
        "decorrelation-retrieve": Row(
            disk=world.pictures * 5 * 1024 * 1e-9,
            memory=2 + world.pictures * 6e-5,
            teraflop=(world.pictures * 5 / 3 + 6 * world.test_pictures) * models.clip_teraflop + _matching(used, world),
            core_hours=0.004 + world.pictures * 5 * 3e-4 / 3600,
        ),
        "decorrelation-evaluate": Row(
            memory=1 + world.pictures * 3e-5,
            core_hours=0.01 + cells * world.pictures * 5e-8,
        ),
        "decorrelation-entities": Row(
            memory=2,
            teraflop=images * 0.7 * 4 * models.clip_teraflop,  # what is no person
            core_hours=images * 0.7 * 4 * 0.01 / 3600,
        ),
        "decorrelation-fragment": Row(
            memory=2,
            core_hours=0.003,
        ),
    }
