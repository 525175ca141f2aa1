"""Pictures as users and hubs have them, made fit for every later stage: RGB, in the pixel grid of their annotations.

A picture that is so already keeps its bytes. Any other (greyscale, CMYK, palette, transparent, rotated by EXIF) is
decoded and stored as PNG, which loses nothing, under its own name.

COCO was annotated on pixels as they are stored; viewers of today turn them by their EXIF tag. So the stored grid is
kept where it has the annotated width and height, and the picture is turned only where the turned one alone has them.
"""

import io
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from PIL import Image, UnidentifiedImageError

from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.core.reading import LARGEST_IMAGE, read_bytes
from trivium.core.zips import open_zip, read_member
from trivium.formats.pictures import PICTURES, is_picture
from trivium.vision.decoding import exif_orientation, load_picture, open_picture, turn
from trivium.vision.rgb import to_rgb

SIDEWAYS = {5, 6, 7, 8}  # EXIF orientations that swap width and height
BACK = {6: 8, 8: 6}  # the orientation that undoes another; any other one undoes itself
BROKEN = (OSError, SyntaxError, ValueError, UnidentifiedImageError, Image.DecompressionBombError)  # as Pillow has it


def find_images(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Stream (file name, encoded bytes) of a folder's image shards, or of its image files and zips, at any depth.

    Folders are dropped from the names.

    Raises:
        BadInput: there are no images, a zip is broken or encrypted, or a file is none or larger than `LARGEST_IMAGE`.
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
    images: Iterator[tuple[str, bytes]],
    sizes: Mapping[str, tuple[int, int]],
    counts: Counter[str],
    unreadable: list[str],
    place: Path,
) -> Iterator[tuple[str, bytes]]:
    """Stream the wanted pictures as RGB in the pixel grid of their annotations, one in memory at a time.

    Args:
        images: (file name, encoded bytes).
        sizes: (width, height) of each wanted picture, as its annotations say, by name.
        counts: counts what was done (`images_turned`, `images_made_rgb`, …).
        unreadable: gets the names of pictures that cannot be decoded to the end.
        place: where they come from, for messages.

    Raises:
        BadInput: a wanted picture comes twice, or has another size than its annotations say.
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
    """The picture's bytes, or its size where that is not the wanted one."""
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
