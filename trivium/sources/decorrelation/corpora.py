"""COCO and Flickr30k: annotations taken as they are, pictures packed into shards (§6); COCO also downloaded as pinned.

A user's folder and the downloads are laid out as `data/decorrelation/raw/<dataset>`, except that COCO's annotations may
be in its two files, and images may be plain files or in zips.

Pictures are converted for all later stages to RGB in the pixel grid of their annotations. A picture that has this form
keeps its bytes. Any other (greyscale, CMYK, palette, transparent, rotated by EXIF) is decoded and stored as PNG, which
is lossless, under its own name. COCO was annotated on pixels as they are stored; today's viewers turn pictures by their
EXIF tag. So the stored grid is kept where it has the annotated width and height, and a picture is turned only where the
turned picture alone has them.
"""

import io
import json
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from PIL import Image, UnidentifiedImageError
from tqdm import tqdm

from trivium.core.atomic import write_text
from trivium.core.errors import BadInput, naming
from trivium.core.image_shards import Images, write_images
from trivium.core.reading import LARGEST_IMAGE, read_bytes
from trivium.core.tables import read_json, write_json
from trivium.core.zips import open_zip, read_member, unpack_member
from trivium.formats.json_fields import Field
from trivium.formats.picture_corpora import ENTITIES, IMAGES, INSTANCES, SPLIT_FILE, read_corpus
from trivium.formats.pictures import PICTURES, SPLITS, Split, is_picture
from trivium.sources.brought import bring, hash_files, link, require_files, require_space
from trivium.sources.download import Hub
from trivium.sources.pins import REQUESTED, Pins
from trivium.vision.decoding import exif_orientation, load_picture, open_picture, to_rgb, turn

SIDEWAYS = {5, 6, 7, 8}  # EXIF orientations that swap width and height
BACK = {6: 8, 8: 6}  # the orientation that undoes another; any other one undoes itself
BROKEN = (OSError, SyntaxError, ValueError, UnidentifiedImageError, Image.DecompressionBombError)  # as Pillow has it
COCO_PARTS = ("instances_train2014.json", "instances_val2014.json")


def take_coco(source: Path, out: Path, work: Path, pictured: Sequence[Split] = SPLITS) -> dict[str, float]:
    """Take `karpathy.json`, `instances.json` (or COCO 2014's two files, merged in `work`) and `images/` of a folder.

    Only images of the splits `pictured` are taken, but annotations and captions of all. Returns counts of what was done
    to the images and of what was dropped.
    """
    require_files(source, [SPLIT_FILE])
    annotated = source
    if not (source / INSTANCES).exists():
        require_files(source, COCO_PARTS)
        annotated = work / "merged"
        merge_instances([source / part for part in COCO_PARTS], annotated / INSTANCES)
        (annotated / SPLIT_FILE).unlink(missing_ok=True)
        bring(source, annotated, [SPLIT_FILE])
    with naming(source / SPLIT_FILE, instead_of=annotated / SPLIT_FILE):
        return _take_corpus(annotated, INSTANCES, source / IMAGES, out, pictured)


def take_flickr30k(source: Path, out: Path) -> dict[str, float]:
    """Take `karpathy.json`, `entities.zip` and `images/` of a user's folder; returns and raises as `take_coco`.

    A file that differs from the one pinned in `requested.yaml` is refused, too.
    """
    require_files(source, [SPLIT_FILE, ENTITIES])
    Pins(REQUESTED).check("flickr30k", source, [SPLIT_FILE, ENTITIES])
    return _take_corpus(source, ENTITIES, source / IMAGES, out)


def merge_instances(parts: Sequence[Path], out: Path) -> None:
    """Write several files of instances as one; the categories must be the same in all."""
    trees: list[dict[str, list[Any]]] = []
    for part in parts:
        tree, fields = Field(read_json(part), part), ("images", "annotations", "categories")
        trees.append({name: [record.value for record in tree[name].items()] for name in fields})
        if trees[-1]["categories"] != trees[0]["categories"]:
            raise BadInput(f"not the categories of {parts[0].name}", file=part, field="categories")
    merged = {field: [record for tree in trees for record in tree[field]] for field in ("images", "annotations")}
    write_text(out, json.dumps({**merged, "categories": trees[0]["categories"]}, ensure_ascii=False))


def _take_corpus(
    annotated: Path, annotations: str, images: Path, out: Path, pictured: Sequence[Split] = SPLITS
) -> dict[str, float]:
    corpus = read_corpus(annotated)
    chosen = (picture for picture in corpus.pictures if picture.split in pictured)
    sizes = {picture.name: (picture.width, picture.height) for picture in chosen}
    del corpus  # gigabytes for COCO, and the images take a while
    names = ("not_wanted", "made_rgb", "turned", "orientation_ignored", "broken_exif", "truncated", "unreadable")
    counts, unreadable = Counter(dict.fromkeys((f"images_{name}" for name in names), 0)), list[str]()
    fitted = fit_images(find_images(images), sizes, counts, unreadable, images)
    bar = tqdm(fitted, total=len(sizes), desc="images", unit="image", mininterval=5, leave=False)
    counts["images"] = write_images(out / IMAGES, bar)
    missing = len(sizes) - counts["images"] - len(unreadable)
    if missing:
        present = {*(Images(out / IMAGES).names if counts["images"] else ()), *unreadable}
        problem = f"{missing} of {len(sizes)} pictures of the split file are not there; the first"
        expected = "every picture of the split file that has a caption"
        raise BadInput(problem, file=images, got=next(name for name in sizes if name not in present), expected=expected)
    bring(annotated, out, [annotations])
    if unreadable:
        print(f"warning: {len(unreadable)} pictures cannot be decoded: {', '.join(unreadable[:10])}", file=sys.stderr)
        tree, left_out = read_json(annotated / SPLIT_FILE), set(unreadable)
        usable = [image for image in tree["images"] if image["filename"] not in left_out]
        write_json(out / SPLIT_FILE, {**tree, "images": usable})
    else:
        bring(annotated, out, [SPLIT_FILE])
    write_json(out / "provenance.json", hash_files(out))
    return {name: float(number) for name, number in counts.items()}


ANNOTATIONS = ("karpathy", "coco_annotations")
ARCHIVES = ("coco_train2014", "coco_val2014")  # of images
TEST_ARCHIVES = ("coco_val2014",)  # in which all of Karpathy's test pictures are


def fetch_coco(out: Path, work: Path, downloads: Path, *, pictured: Sequence[Split] = SPLITS) -> dict[str, float]:
    """Download COCO 2014's images and annotations and Karpathy's splits, and write the raw folder as `take_coco`.

    Downloads are kept until `drop_coco`, even if the run is interrupted; `sources.json` has addresses, digests and
    licences.
    """
    hub, laid_out = Hub(downloads), work / "coco"
    archives = TEST_ARCHIVES if set(pictured) == {"test"} else ARCHIVES
    sources = (*ANNOTATIONS, *archives)
    sizes = {name: hub.pins.source(name).bytes for name in sources}
    # The zips, and the shards, which are as large; the annotations unpacked, merged and copied.
    needed = sum(sizes.values()) + sum(sizes[name] for name in archives) + 12 * sizes["coco_annotations"]
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
    write_json(out / "sources.json", hub.pins.summary(sources))
    return counts


def drop_coco(downloads: Path) -> None:
    """Remove the downloads, once the raw folder is complete."""
    Hub(downloads).drop(*ANNOTATIONS, *ARCHIVES)


def find_images(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Stream (file name, encoded bytes) of a folder's image shards, or of its image files and zips, at any depth.

    Folders are removed from the names.
    """
    if any(folder.glob("shard-*.parquet")):
        yield from Images(folder).stream()
        return
    paths = sorted(folder.rglob("*"))
    zips = [path for path in paths if path.suffix.lower() == ".zip"]
    files = [path for path in paths if is_picture(path)]
    if not zips and not files:
        raise BadInput("no images", file=folder, choices=("shard-*.parquet", "*.zip", *PICTURES))
    for path in files:
        yield path.name, read_bytes(path, LARGEST_IMAGE)
    for path in zips:
        with open_zip(path) as archive:
            for member in archive.infolist():
                name = PurePosixPath(member.filename).name
                if is_picture(name) and not member.filename.startswith("__MACOSX"):
                    yield name, read_member(archive, member, path, LARGEST_IMAGE)


def fit_images(
    images: Iterator[tuple[str, bytes]], sizes: Mapping[str, tuple[int, int]], counts: Counter[str],
    unreadable: list[str], place: Path,
) -> Iterator[tuple[str, bytes]]:  # fmt: skip
    """Stream (file name, bytes) of the wanted pictures as RGB in the pixel grid of their annotations, one at a time.

    `sizes` has width and height of each wanted picture by name, as its annotations say; a picture of another size, and
    one given twice, are refused. `counts` counts what was done (`images_turned`, …), `unreadable` receives the names of
    pictures that cannot be decoded, and `place` is the origin of the pictures, for messages.
    """
    names: set[str] = set()
    for name, data in images:
        if name not in sizes:
            counts["images_not_wanted"] += 1
            continue
        if name in names:
            raise BadInput("image twice", file=place, row=name)
        names.add(name)
        try:
            fitted = _fit(data, sizes[name], counts)
        except BROKEN:
            counts["images_unreadable"] += 1
            unreadable.append(name)
            continue
        if isinstance(fitted, tuple):
            expected = f"{sizes[name]}, the width and height that the annotations say"
            raise BadInput("image of another size", file=place, row=name, got=fitted, expected=expected)
        yield name, fitted


def _fit(data: bytes, size: tuple[int, int], counts: Counter[str]) -> bytes | tuple[int, int]:
    """Return the picture's bytes in the wanted form, or its size if that is not the wanted one."""
    image = open_picture(data)
    orientation = exif_orientation(image)
    turned = image.format == "TIFF"  # which Pillow turns by itself
    stored = image.size[::-1] if turned and orientation in SIDEWAYS else image.size
    to_turn = stored != size and orientation in SIDEWAYS and stored[::-1] == size
    if stored != size and not to_turn:
        return stored  # before it is decoded: it may be huge
    image, truncated = load_picture(data)
    rgb = to_rgb(image)
    counts["images_truncated"] += truncated
    counts["images_turned"] += to_turn
    counts["images_orientation_ignored"] += orientation not in (1, None) and not to_turn
    counts["images_broken_exif"] += orientation is None
    is_rgb = image.mode == "RGB" and not image.has_transparency_data
    if is_rgb and orientation == 1 and not truncated:
        return data
    counts["images_made_rgb"] += not is_rgb
    if turned:
        rgb = turn(rgb, None if to_turn else BACK.get(orientation or 1, orientation))
    elif to_turn:
        rgb = turn(rgb, orientation)
    buffer = io.BytesIO()
    clean = Image.new("RGB", rgb.size)  # without the EXIF tags
    clean.paste(rgb)
    clean.save(buffer, "PNG")
    return buffer.getvalue()
