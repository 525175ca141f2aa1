"""COCO 2014 and Karpathy's splits, downloaded as pinned, laid out as a user would, and taken like a user's folder."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from trivium.core.tables import write_json
from trivium.core.zips import unpack_member
from trivium.formats.picture_corpora import IMAGES, SPLIT_FILE
from trivium.formats.pictures import SPLITS, Split
from trivium.sources.brought import link
from trivium.sources.decorrelation.local import COCO_PARTS, take_coco
from trivium.sources.disk import require_space
from trivium.sources.download import PATIENT, Patience
from trivium.sources.pins import Pins
from trivium.sources.repositories import Hub

ANNOTATIONS = ("karpathy", "coco_annotations")
ARCHIVES = ("coco_train2014", "coco_val2014")  # of images
TEST_ARCHIVES = ("coco_val2014",)  # in which all of Karpathy's test pictures are


def fetch_coco(
    out: Path, work: Path, downloads: Path, pins: Pins | None = None, patience: Patience = PATIENT,
    *, pictured: Sequence[Split] = SPLITS,
) -> dict[str, float]:  # fmt: skip
    """Download COCO 2014's images and annotations and Karpathy's splits, and write the raw folder.

    Args:
        out: the raw folder being written. `sources.json` in it keeps addresses, digests and licences.
        work: where they are laid out as a user would.
        downloads: where they lie until `drop_coco`, whatever interrupts the run.
        pins: by default the project's.
        patience: how long a download insists.
        pictured: the splits whose images are wanted; annotations and captions are there of all.

    Returns:
        The counts of `take_coco`.

    Raises:
        BadInput: see `download` and `take_coco`; or an archive lacks a file.
    """
    pins = pins or Pins()
    laid_out = work / "coco"
    archives = TEST_ARCHIVES if set(pictured) == {"test"} else ARCHIVES
    sources = (*ANNOTATIONS, *archives)
    sizes = {name: pins.source(name).bytes for name in sources}
    # The zips, and the shards, which weigh as much; the annotations unpacked, merged and taken.
    needed = sum(sizes.values()) + sum(sizes[name] for name in archives) + 12 * sizes["coco_annotations"]
    with Hub(downloads, pins, patience) as hub:
        require_space(downloads, needed - sum(map(hub.bytes_there, sources)), "COCO 2014")
        files = {name: hub.fetch(name) for name in sources}
        shutil.rmtree(laid_out, ignore_errors=True)
        unpack_member(files["karpathy"]["caption_datasets.zip"], "dataset_coco.json", laid_out / SPLIT_FILE)
        annotations = files["coco_annotations"]["annotations_trainval2014.zip"]
        for part in COCO_PARTS:
            unpack_member(annotations, f"annotations/{part}", laid_out / part)
        for path in (path for name in archives for path in files[name].values()):
            link(path.parent, laid_out / IMAGES, [path.name])
        counts = take_coco(laid_out, out, work, pictured)
    write_json(out / "sources.json", pins.summary(sources))
    return counts


def drop_coco(downloads: Path) -> None:
    """Remove the downloads, once what was made of them is there."""
    with Hub(downloads, Pins()) as hub:
        hub.drop(*ANNOTATIONS, *ARCHIVES)
