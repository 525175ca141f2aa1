"""Which of Commons' machine-readable licence names are free: redistribution and change allowed, also for money.

Free as freedomdefined.org has it, Commons' own criterion (kvqae.md §2, step 4). Commons hosts free files only, but its
categories are read through third parties and templates err, so what the table does not know is not free.
"""

import re
from typing import Literal

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
# A part that takes a freedom away, wherever it stands in the name.
_RESTRICTIONS = frozenset({"nc", "nd", "noncommercial", "nonderivative", "noderivatives"})
_RESTRICTED = re.compile(r"fair-?use.*|non-?free.*|all-rights-reserved|copyrighted")
_SEPARATORS = re.compile(r"[\s_-]+")


def licence_standing(name: str) -> Standing:
    """Whether a licence is free, restricted (no commercial use, no changes, fair use), or not in the table.

    Args:
        name: such as "cc-by-sa-4.0"; case does not matter, blanks and underscores count as hyphens.
    """
    name = _SEPARATORS.sub("-", name.strip().lower())
    if _RESTRICTIONS & set(name.split("-")) or _RESTRICTED.fullmatch(name):
        return "restricted"
    return "free" if _FREE.fullmatch(name) else "unknown"
