"""Records of pictures, their objects and captions, the same for all data sets (decorrelation.md §1, 2).

Also which files are pictures by their names, and messages for kinds of pictures that are not read.
"""

from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Literal

Split = Literal["train", "validation", "test"]
SPLITS: tuple[Split, ...] = ("train", "validation", "test")


@dataclass(frozen=True)
class Phrase:
    """A noun phrase of a caption: `text[start:end]`, and the classes it names."""

    start: int
    end: int
    classes: tuple[str, ...]


@dataclass(frozen=True)
class Caption:
    """One sentence about a picture.

    Attributes:
        id: Karpathy's `sentid`, unique in the data set.
        text: the sentence as it was written.
        phrases: annotated noun phrases (Flickr30k Entities); empty where the data set has none.
    """

    id: int
    text: str
    phrases: tuple[Phrase, ...] = ()


@dataclass(frozen=True)
class Object:
    """One annotated object.

    Attributes:
        class_name: its class, such as `hot dog`.
        box: (left, top, width, height) in pixels, inside the picture.
        segmentation: COCO's polygons (lists of x, y, x, y, …), RLE mapping, or None where only boxes are annotated.
        crowd: whether it is a group under one annotation (COCO's `iscrowd`), which counts as present and is never
            removed.
    """

    class_name: str
    box: tuple[float, float, float, float]
    segmentation: Any = None
    crowd: bool = False


@dataclass(frozen=True)
class Picture:
    """A picture with its objects and captions.

    Attributes:
        id: Karpathy's `imgid`, unique in the data set.
        name: file name, the picture's name in the image shards.
        split: `train` includes COCO's `restval`.
        width, height: size in pixels of the picture as it is shown (EXIF rotation applied).
        others: boxes, as `Object.box`, of things that belong to none of the classes (Flickr30k Entities: other types).
    """

    id: int
    name: str
    split: Split
    width: int
    height: int
    objects: tuple[Object, ...]
    captions: tuple[Caption, ...]
    others: tuple[tuple[float, float, float, float], ...] = ()

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes in the picture, sorted."""
        return tuple(sorted({member.class_name for member in self.objects}))


@dataclass(frozen=True)
class Corpus:
    """A data set as it was read.

    Attributes:
        pictures: pictures in the order of the split file.
        classes: all classes of the data set, in its own order.
        counts: numbers of records that were dropped or changed, by reason.
    """

    pictures: tuple[Picture, ...]
    classes: tuple[str, ...]
    counts: dict[str, int]


@dataclass(frozen=True)
class Removal:
    """The removal of objects from a picture (decorrelation.md §1).

    Attributes:
        id: `{picture}_{class}`, spaces of the class as underscores.
        picture, name, split: id, file name and split of the picture.
        class_name: c_r, the class chosen for removal; empty for a box without any object.
        removed: {c_r} ∪ C_r+, the classes that are removed, sorted.
        remaining: the classes that remain, sorted.
        mask: B', the removed region, as COCO's compressed RLE counts.
        height, width: size of the picture and of the mask, in pixels.
        share: area(B') / area(x).
        drawn: whether it is used: in training one removal is drawn for an image, in test all are used.
    """

    id: str
    picture: int
    name: str
    split: Split
    class_name: str
    removed: tuple[str, ...]
    remaining: tuple[str, ...]
    mask: str
    height: int
    width: int
    share: float
    drawn: bool


def removal_id(picture: int, class_name: str) -> str:
    """Return the id of a removal, which is also the name of its painted picture."""
    return f"{picture}_{class_name.replace(' ', '_')}"


PICTURES = (
    ".jpg", ".jpeg", ".jpe", ".jfif", ".jif", ".png", ".apng", ".webp", ".gif", ".bmp", ".tif", ".tiff",
)  # fmt: skip
KINDS = "JPEG, PNG, WebP, GIF, BMP or TIFF"
_UNREAD = {
    "HEIC": ".heic .heif .hif",
    "AVIF": ".avif .avifs",
    "JPEG 2000": ".jp2 .jpx .jpf .j2k .j2c .jpc",
    "JPEG XL": ".jxl",
    "a camera's RAW": ".dng .cr2 .cr3 .crw .nef .nrw .arw .srf .sr2 .orf .rw2 .raf .pef .srw .x3f .3fr .iiq .raw .rwl",
    "SVG": ".svg .svgz",
    "a layered drawing": ".psd .psb .xcf .kra",
    "an old kind": ".tga .pcx .ico .ppm .pgm .pbm .pnm .jxr .wdp .eps .djvu",
}
_KIND_OF = {suffix: kind for kind, suffixes in _UNREAD.items() for suffix in suffixes.split()}
_HEADS = {b"ftyphe": "HEIC", b"ftypmif1": "HEIC", b"ftypmsf1": "HEIC", b"ftypavi": "AVIF", b"ftypcrx": "a camera's RAW",
          b"JXL ": "JPEG XL", b"jP  ": "JPEG 2000"}  # fmt: skip


def is_picture(name: str | PurePath) -> bool:
    """Whether a file's suffix is that of a picture that can be read."""
    return PurePath(name).suffix.lower() in PICTURES


def unread_picture(name: str | PurePath, head: bytes = b"") -> str:
    """Say that a picture is of a kind that is not read, and which kinds are; "" for any other file.

    Args:
        name: the file's name; the suffix tells the kind.
        head: the file's first bytes, if known: HEIC photographs of telephones are often named `.jpg`.
    """
    kind = next((kind for start, kind in _HEADS.items() if head[4:].startswith(start)), None)
    kind = kind or _KIND_OF.get(PurePath(name).suffix.lower())
    return f"a picture of a kind that is not read ({kind}): save it as {KINDS}" if kind else ""
