"""Names of Commons' files, and those of the previews that MediaWiki makes of them (kvqae.md §1, §2)."""

import re

# ViQuAE's authors keep previews. A width stands before the file's name; before that, of scans and documents, the
# compression and the page shown. A video has a second hyphen.
_PREVIEW = re.compile(r"(?:loss(?:y|less)-)?(?:page\d+-)?\d+px--?(?P<file>.+)")
# Formats that browsers do not show: their previews have another one, whose ending is put behind the file's own.
_CONVERTED = re.compile(
    r"(?P<file>.+\.(?:svg|tiff?|pdf|djvu|webp|xcf|stl|og[gv]|webm|mpe?g))\.(?:png|jpe?g)", re.IGNORECASE
)


def commons_file_name(name: str) -> str:
    """The name of a file, or of the file that a preview was made of, as Commons writes it.

    Args:
        name: such as `512px-Ada_Lark.jpg`, `512px-Flag_of_Dor.svg.png` or `lossy-page1-512px-Map.tif.jpg`.

    Returns:
        It without what a preview's name adds; with blanks, and a capital first (Commons knows neither underscores nor
        cases of the first letter).
    """
    name = name.replace("_", " ")
    if preview := _PREVIEW.fullmatch(name):
        name = preview["file"]
        converted = _CONVERTED.fullmatch(name)
        name = converted["file"] if converted else name
    return name[:1].upper() + name[1:]
