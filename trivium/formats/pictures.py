"""Records of pictures, objects and captions (decorrelation.md §1, 2), and which files are pictures by their names."""

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
    """One sentence about a picture, as it was written."""

    id: int  # Karpathy's `sentid`, unique in the data set
    text: str
    phrases: tuple[Phrase, ...] = ()  # annotated noun phrases (Flickr30k Entities); none where the set has none


@dataclass(frozen=True)
class Object:
    """One annotated object; a crowd (COCO's `iscrowd`), which is a group, counts as present and is never removed."""

    class_name: str  # such as `hot dog`
    box: tuple[float, float, float, float]  # left, top, width, height in pixels, inside the picture
    segmentation: Any = None  # COCO's polygons (lists of x, y, x, y, …) or RLE mapping; None where only boxes are known
    crowd: bool = False


@dataclass(frozen=True)
class Picture:
    """A picture with its objects and captions; its size is in pixels as it is shown (EXIF rotation applied)."""

    id: int  # Karpathy's `imgid`, unique in the data set
    name: str  # its file's, also in the image shards
    split: Split  # `train` includes COCO's `restval`
    width: int
    height: int
    objects: tuple[Object, ...]
    captions: tuple[Caption, ...]
    others: tuple[tuple[float, float, float, float], ...] = ()  # boxes of things of none of the classes

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes in the picture, sorted."""
        return tuple(sorted({member.class_name for member in self.objects}))


@dataclass(frozen=True)
class Corpus:
    """A data set in its own order, and how many of its records were dropped or changed, by reason."""

    pictures: tuple[Picture, ...]
    classes: tuple[str, ...]
    counts: dict[str, int]


@dataclass(frozen=True)
class Removal:
    """The removal of objects from a picture (decorrelation.md §1)."""

    id: str  # see `removal_id`
    picture: int  # its id, file name and split
    name: str
    split: Split
    class_name: str  # c_r, the class chosen for removal; "" for a box without any object
    removed: tuple[str, ...]  # {c_r} ∪ C_r+, sorted
    remaining: tuple[str, ...]  # sorted
    mask: str  # B', the removed region, as COCO's compressed RLE counts
    height: int  # pixels, of the picture and of the mask
    width: int
    share: float  # area(B') / area(x)
    drawn: bool  # whether it is used: in training one removal of a picture is drawn, in test all are used


def removal_id(picture: int, class_name: str) -> str:
    """Return the id of a removal, `{picture}_{class}` without spaces, which is also the name of its painted picture."""
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
