"""Wikimedia Commons: files of categories, names of files and previews, and free licences (kvqae.md §1, §2).

Free licences allow redistribution and changes, also commercially, as defined by freedomdefined.org, Commons' own
criterion. Commons hosts only free files, but its categories are read through third parties and templates may be wrong,
so a licence that is not in the table does not count as free.
"""

import re
from typing import Annotated, Literal

from pydantic import Field, StrictStr
from pydantic.dataclasses import dataclass

# ViQuAE's authors keep previews. A width precedes the file's name; for scans and documents, compression and page
# precede that. A video has a second hyphen.
_PREVIEW = re.compile(r"(?:loss(?:y|less)-)?(?:page\d+-)?\d+px--?(?P<file>.+)")
# Formats that browsers do not show: their previews have another format, whose suffix follows the file's own.
_CONVERTED = re.compile(
    r"(?P<file>.+\.(?:svg|tiff?|pdf|djvu|webp|xcf|stl|og[gv]|webm|mpe?g))\.(?:png|jpe?g)", re.IGNORECASE
)


def commons_file_name(name: str) -> str:
    """Normalise the name of a file as Commons does; that of a preview becomes the name of its file.

    Previews are such as `512px-Ada_Lark.jpg`, `512px-Flag_of_Dor.svg.png` or `lossy-page1-512px-Map.tif.jpg`. Blanks
    stand for underscores, and the first letter is a capital.
    """
    name = name.replace("_", " ")
    if preview := _PREVIEW.fullmatch(name):
        name = preview["file"]
        converted = _CONVERTED.fullmatch(name)
        name = converted["file"] if converted else name
    return name[:1].upper() + name[1:]


Standing = Literal["free", "restricted", "unknown"]

_VERSION = r"(?:-v?\d+(?:\.\d+)*\+?(?:,\d\.\d)*)?"  # "-4.0", "-2.0+", "-3.0,2.5,2.0,1.0"
_PORT = r"(?:-(?:[a-z]{2,3}|scotland|all|migrated|migrated-with-disclaimers))?"  # a country, all versions, from GFDL
FREE_LICENCES: dict[str, str] = {
    "CC0, public-domain dedication": rf"cc-?(?:0|zero){_VERSION}",
    "public domain": r"(?:cc-)?pd(?:-.+)?|public-?domain(?:-.+)?|no-(?:known-)?(?:copyright-)?restrictions",
    "Creative Commons Attribution, also ShareAlike": rf"cc-(?:by|sa|by-sa){_VERSION}{_PORT}",
    "Free Art License": rf"(?:fal|free-art-license){_VERSION}",
    "GNU Free Documentation License": rf"gfdl{_VERSION}(?:-(?:[a-z]{{2,3}}|migration|self|user|no-disclaimers))*",
    "attribution only": r"attribution(?:-.+)?|copyrighted-free-use(?:-.+)?",
    "software licences": rf"(?:[al]?gpl|mit|expat|bsd|apache|mpl|zlib|isc){_VERSION}",
    "Open Data Commons": rf"odbl{_VERSION}|odc-by{_VERSION}",
    "governments' open licences": rf"(?:ogl|dl-de-by|dl-de-zero|licence-ouverte){_VERSION}{_PORT}",
}
_FREE = re.compile("|".join(FREE_LICENCES.values()))
# A part of a name that restricts a licence.
_RESTRICTIONS = frozenset({"nc", "nd", "noncommercial", "nonderivative", "noderivatives"})
_RESTRICTED = re.compile(r"fair-?use.*|non-?free.*|all-rights-reserved|copyrighted")
_SEPARATORS = re.compile(r"[\s_-]+")


def licence_standing(name: str) -> Standing:
    """Whether a licence such as "cc-by-sa-4.0" is free, restricted (no commercial use or changes), or unknown.

    Case does not matter; blanks and underscores count as hyphens.
    """
    name = _SEPARATORS.sub("-", name.strip().lower())
    if _RESTRICTIONS & set(name.split("-")) or _RESTRICTED.fullmatch(name):
        return "restricted"
    return "free" if _FREE.fullmatch(name) else "unknown"


@dataclass(frozen=True)
class CommonsFile:
    """A file of a Commons category, as a line of `commons.jsonl`, which may list a file once for each category.

    Attributes:
        category: the category that lists it, without "Category:"; `categories`: all its categories.
        title: such as "File:X.jpg".
        depicts: Wikidata ids.
        license: Commons' machine-readable name such as "cc-by-sa-4.0"; empty when it states none.
        sha1: SHA-1 of the original file, in hexadecimal digits.
    """

    category: StrictStr
    title: Annotated[StrictStr, Field(pattern="^File:.")]
    description: StrictStr
    categories: tuple[StrictStr, ...]
    depicts: tuple[StrictStr, ...]
    license: StrictStr
    sha1: Annotated[StrictStr, Field(pattern="^[0-9a-f]{40}$")]

    @property
    def name(self) -> str:
        """Name in the image shards."""
        return self.title.removeprefix("File:")
