"""Which files are pictures by their names, which are pictures that nobody here reads, and what to say of these."""

from pathlib import PurePath

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
    """Whether a file is a picture by its suffix."""
    return PurePath(name).suffix.lower() in PICTURES


def unread_picture(name: str | PurePath, head: bytes = b"") -> str:
    """Why a file that is a picture is not read, with the kinds that are; "" where it is no such file.

    Args:
        name: of the file; its suffix says what it is.
        head: the file's first bytes, where they are at hand: photographs of telephones are often named `.jpg`.
    """
    kind = next((kind for start, kind in _HEADS.items() if head[4:].startswith(start)), None)
    kind = kind or _KIND_OF.get(PurePath(name).suffix.lower())
    return f"a picture of a kind that is not read ({kind}): save it as {KINDS}" if kind else ""
