"""Files of a Wikimedia Commons category, with what the choice of images needs to know of them (kvqae.md §2, step 4)."""

import html
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from trivium.kvqae.construction.commons import CommonsFile
from trivium.sources.download import Patience, Request, download
from trivium.sources.mediawiki import AGENT, MediaWiki

COMMONS = "https://commons.wikimedia.org/w/api.php"
MIMES = frozenset({"image/jpeg", "image/png"})
_TAG = re.compile(r"<[^>]*>")
_SPACE = re.compile(r"\s+")


def category_files(
    commons: MediaWiki, category: str, most: int, width: int, counts: Counter[str]
) -> Iterator[tuple[CommonsFile, str]]:
    """The first pictures of a category: (what is known of it, address of a preview of `width` pixels).

    Args:
        commons: the API.
        category: without "Category:".
        most: files, of those that are pictures.
        width: of the preview; a smaller picture comes as it is.
        counts: counts what is no picture, and what the API lists twice.
    """
    pages = commons.pages(
        {
            "generator": "categorymembers",
            "gcmtitle": f"Category:{category}",
            "gcmtype": "file",
            "gcmlimit": "50",
            "prop": "imageinfo|categories",
            "clshow": "!hidden",  # most are about maintenance ("CC-BY-SA-4.0"), and none of these names the subject
            "cllimit": "max",
            "iiprop": "url|sha1|mime|extmetadata",
            "iiurlwidth": str(width),
            "iiextmetadatafilter": "License|ImageDescription",
            "iiextmetadatalanguage": "en",
        }
    )
    chosen = list(islice(_pictures(pages, counts), most))
    depicted = _depicts(commons, [page["pageid"] for page in chosen])
    for page in chosen:
        known = page["imageinfo"][0]
        file = CommonsFile(
            category=category,
            title=page["title"],
            description=plain_text(_metadata(known, "ImageDescription")),
            categories=tuple(each["title"].removeprefix("Category:") for each in page.get("categories", ())),
            depicts=depicted.get(page["pageid"], ()),
            license=_metadata(known, "License"),
            sha1=known["sha1"],
        )
        yield file, known.get("thumburl") or known["url"]


def _pictures(pages: Iterator[dict[str, Any]], counts: Counter[str]) -> Iterator[dict[str, Any]]:
    seen: set[int] = set()
    for page in pages:
        information = page.get("imageinfo")
        if page["pageid"] in seen:  # the category changed between two parts of the answer
            counts["commons_listed_twice"] += 1
        elif information and information[0].get("mime") in MIMES and "sha1" in information[0]:
            seen.add(page["pageid"])
            yield page
        else:
            counts["commons_no_picture"] += 1


def _metadata(known: dict[str, Any], name: str) -> str:
    """A field of the file's extended metadata; empty when Commons states none."""
    return str(known.get("extmetadata", {}).get(name, {}).get("value", ""))


def _depicts(commons: MediaWiki, pages: Sequence[int]) -> dict[int, tuple[str, ...]]:
    """Items that files depict (P180), by page; a file without structured data is left out."""
    depicted = {}
    for entity in commons.entities([f"M{page}" for page in pages], "claims"):
        statements = entity.get("statements") or entity.get("claims") or {}
        values = [
            claim["mainsnak"]["datavalue"]["value"]["id"]
            for claim in (statements.get("P180", ()) if isinstance(statements, dict) else ())
            if claim["mainsnak"]["snaktype"] == "value"
        ]
        depicted[int(entity["id"][1:])] = tuple(values)
    return depicted


def plain_text(markup: str) -> str:
    """Text without HTML's tags and entities, white space collapsed."""
    return _SPACE.sub(" ", html.unescape(_TAG.sub(" ", markup))).strip()


def fetch_picture(file: CommonsFile, address: str, folder: Path, patience: Patience) -> bytes:
    """A file's preview, kept in `folder` by the file's SHA-1 and the address' last part."""
    target = folder / f"{file.sha1}{Path(unquote(urlsplit(address).path)).suffix.lower()}"
    return download(Request(address, file.title, agent=AGENT), target, patience).path.read_bytes()
