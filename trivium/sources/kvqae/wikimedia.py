"""Wikimedia's APIs: files of a Commons category with metadata (kvqae.md §2, step 4), and previews by name.

Commons' robot policy demands a User-Agent that says who asks, at most two connections, and at most 25 Mbit/s in all.
Answers and pictures are kept, so that a run continues where it was killed.
"""

import hashlib
import html
import io
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, unquote, urlencode, urlsplit

from PIL import Image
from tqdm import tqdm

from trivium.core.errors import BadInput
from trivium.core.tables import in_groups, read_json
from trivium.kvqae.construction.commons import CommonsFile, commons_file_name
from trivium.sources.download import Request, download
from trivium.vision.decoding import read_rgb

# Wikimedia asks clients to say who they are (https://foundation.wikimedia.org/wiki/Policy:User-Agent_policy).
# As CITATION.cff does, it names the software and its authors: the project has no address of its own.
AGENT = "Trivium/0.1 (research software of the Trivium authors, builds a question answering data set) httpx"
BATCH = 50  # ids or titles that an anonymous client may ask for at once


@dataclass(frozen=True)
class MediaWiki:
    """One wiki's API."""

    url: str  # such as `https://commons.wikimedia.org/w/api.php`
    folder: Path  # in which answers are kept

    def ask(self, parameters: Mapping[str, str]) -> dict[str, Any]:
        """Request one answer, as JSON; any other answer, and one that is an error, is `BadInput`."""
        query = urlencode(sorted({"format": "json", "formatversion": "2", **parameters}.items()))
        kept = self.folder / f"{hashlib.sha256(f'{self.url}?{query}'.encode()).hexdigest()[:32]}.json"
        what = f"{self.url} {parameters.get('action', '')}"
        download(Request(f"{self.url}?{query}", what, agent=AGENT), kept)
        try:
            answer = read_json(kept)
            if not isinstance(answer, dict) or "error" in answer:
                error = answer.get("error") if isinstance(answer, dict) else answer
                raise BadInput("the API answers with an error", file=self.url, got=error, field=query)
        except BadInput:
            kept.unlink()
            raise
        return answer

    def pages(self, parameters: Mapping[str, str]) -> Iterator[dict[str, Any]]:
        """Yield the pages of a query, over all parts in which the API returns them.

        A page with long lists is returned in several parts, too, all within a batch of pages: its lists are joined.
        """
        following: dict[str, str] = {}
        batch: dict[int, dict[str, Any]] = {}
        while True:
            answer = self.ask({**parameters, "action": "query", **following})
            for part in answer.get("query", {}).get("pages", ()):
                page = batch.setdefault(part["pageid"], {})
                for name, value in part.items():
                    page[name] = [*page.get(name, ()), *value] if isinstance(value, list) else value
            if answer.get("batchcomplete") or "continue" not in answer:
                yield from batch.values()
                batch = {}
            if "continue" not in answer:
                return
            following = {key: str(value) for key, value in answer["continue"].items()}

    def entities(self, identifiers: Sequence[str], properties: str) -> Iterator[dict[str, Any]]:
        """Stream those Wikibase entities that exist, in this order; texts in English and for all languages."""
        for batch in in_groups(identifiers, BATCH):
            parameters = {"action": "wbgetentities", "ids": "|".join(batch), "props": properties}
            answer = self.ask({**parameters, "languages": "en|mul"}).get("entities", {}).values()
            # An entity that was merged into another has the other's id, which may be requested, too.
            by_id = {entity["id"]: entity for entity in answer}
            by_id |= {entity.get("redirects", {}).get("from", entity["id"]): entity for entity in answer}
            yield from (by_id[name] for name in batch if "missing" not in by_id.get(name, {"missing": ""}))


COMMONS = "https://commons.wikimedia.org/w/api.php"
MIMES = frozenset({"image/jpeg", "image/png"})
_TAG = re.compile(r"<[^>]*>")
_SPACE = re.compile(r"\s+")


def category_files(
    commons: MediaWiki, category: str, most: int, width: int, counts: Counter[str]
) -> Iterator[tuple[CommonsFile, str]]:
    """Stream the first `most` pictures of a category (without "Category:"): (metadata, address of a preview).

    A preview has at least this width in pixels; of a smaller picture, the address is that of the picture itself.
    `counts` counts files that are not pictures, and those that the API lists twice.
    """
    query = {
        "generator": "categorymembers", "gcmtitle": f"Category:{category}", "gcmtype": "file", "gcmlimit": "50",
        "prop": "imageinfo|categories", "clshow": "!hidden", "cllimit": "max",  # hidden ones are about maintenance
        "iiprop": "url|sha1|mime|extmetadata", "iiurlwidth": str(rendered_width(width)),
        "iiextmetadatafilter": "License|ImageDescription", "iiextmetadatalanguage": "en",
    }  # fmt: skip
    chosen = list(islice(_choose_pictures(commons.pages(query), counts), most))
    depicted = _read_depicted(commons, [page["pageid"] for page in chosen])
    for page in chosen:
        image = page["imageinfo"][0]
        metadata = {name: str(value.get("value", "")) for name, value in image.get("extmetadata", {}).items()}
        file = CommonsFile(
            category=category,
            title=page["title"],
            description=plain_text(metadata.get("ImageDescription", "")),
            categories=tuple(tag["title"].removeprefix("Category:") for tag in page.get("categories", ())),
            depicts=depicted.get(page["pageid"], ()),
            license=metadata.get("License", ""),  # Commons states none of some
            sha1=image["sha1"],
        )
        yield file, image.get("thumburl") or image["url"]


def _choose_pictures(pages: Iterator[dict[str, Any]], counts: Counter[str]) -> Iterator[dict[str, Any]]:
    listed: set[int] = set()
    for page in pages:
        information = page.get("imageinfo")
        if page["pageid"] in listed:  # the category changed between two parts of the answer
            counts["commons_listed_twice"] += 1
        elif information and information[0].get("mime") in MIMES and "sha1" in information[0]:
            listed.add(page["pageid"])
            yield page
        else:
            counts["commons_no_picture"] += 1


def _read_depicted(commons: MediaWiki, pages: Sequence[int]) -> dict[int, tuple[str, ...]]:
    """Read the items that files depict (P180), by page; a file without structured data is left out."""
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
    """Return the text of HTML without tags and entities, white space collapsed."""
    return _SPACE.sub(" ", html.unescape(_TAG.sub(" ", markup))).strip()


# Pixels: Wikimedia serves previews of these widths alone (https://www.mediawiki.org/wiki/Common_thumbnail_sizes).
WIDTHS = (20, 40, 60, 120, 250, 330, 500, 960, 1280, 1920, 3840)
WIDTH = 500
JPEG_QUALITY = 95
_WIDTH = re.compile(r"/(\d+)px-")
_REFUSED = re.compile("thumbnail (steps|sizes)", re.IGNORECASE)  # "Use thumbnail steps listed on ...", with 400 or 429
CONNECTIONS = 2
BYTES_A_SECOND = 25e6 / 8
LONGEST_QUERY = 6000  # characters of an address's list of titles
MISSING_IN_A_ROW = 20  # pictures in a row that cannot be fetched: then the fault is not with the pictures
Wanted = tuple[str, str, str]  # a picture's name, its address, and what its file is called without suffix


def rendered_width(width: int) -> int:
    """Return the least width that Wikimedia serves and that is at least `width`; `width` itself above the largest."""
    return next((served for served in WIDTHS if served >= width), width)


def reduce_to_width(encoded: bytes, name: str, width: int) -> bytes:
    """Scale an encoded picture down to at most `width` pixels across.

    A picture that is not wider keeps its bytes, and so does one that cannot be decoded, which later stages count.
    """
    try:
        picture = read_rgb(encoded, name)
    except BadInput:
        return encoded
    if picture.width <= width:
        return encoded
    size = (width, max(1, round(picture.height * width / picture.width)))
    buffer = io.BytesIO()
    kind = "PNG" if encoded.startswith(b"\x89PNG") else "JPEG"
    picture.resize(size, Image.Resampling.LANCZOS).save(buffer, kind, quality=JPEG_QUALITY)
    return buffer.getvalue()


class PictureFetcher:
    """Downloads pictures into a folder, two at a time and no faster than Commons allows; existing ones are kept.

    Pictures that cannot be fetched are counted under `failed`: files disappear from Commons every day.
    """

    def __init__(self, folder: Path, counts: Counter[str], failed: str) -> None:
        self._folder, self._counts, self._failed = folder, counts, failed
        self._missing = 0
        counts[failed] += 0

    def fetch(self, pictures: Sequence[Wanted]) -> Iterator[tuple[str, bytes]]:
        """Stream (name, encoded picture) of the pictures that can be fetched, in order.

        `BadInput` if Wikimedia refuses the width, or if `MISSING_IN_A_ROW` in a row, over all calls, cannot be fetched.
        """
        with ThreadPoolExecutor(CONNECTIONS) as pool:
            for (name, address, _), got in zip(pictures, pool.map(self._download, pictures), strict=True):
                if isinstance(got, Path):
                    self._missing = 0
                    yield name, got.read_bytes()
                    continue
                self._counts[self._failed] += 1
                self._missing += 1
                print(f"left out: {got}", file=sys.stderr)
                if self._missing == MISSING_IN_A_ROW:
                    several = f"{self._missing} pictures in a row could not be fetched; run again to go on"
                    raise BadInput(f"{several}. The last: {got}", file=self._folder, got=address) from got

    def _download(self, picture: Wanted) -> Path | BadInput:
        """Download a picture; returns the file, or the error where there is none."""
        name, address, stem = picture
        target = self._folder / f"{stem}{PurePosixPath(unquote(urlsplit(address).path)).suffix.lower()}"
        started, was_kept = time.monotonic(), target.exists()
        try:
            download(Request(address, name, agent=AGENT), target)
        except BadInput as problem:
            width = _WIDTH.search(address)
            odd = width and int(width[1]) not in WIDTHS and "answered 400" in str(problem)
            if width and (odd or _REFUSED.search(str(problem))):
                raise BadInput(
                    f"Wikimedia refuses this width of a preview: {problem}", file=address, field="width",
                    got=int(width[1]), choices=WIDTHS,
                ) from None  # fmt: skip
            return problem
        if not was_kept:
            pause = target.stat().st_size * CONNECTIONS / BYTES_A_SECOND - (time.monotonic() - started)
            time.sleep(max(0.0, pause))
        return target


def fetch_thumbnails(
    names: Sequence[str], commons: MediaWiki, folder: Path, counts: Counter[str]
) -> Iterator[tuple[str, bytes]]:
    """Stream (name, encoded preview) of the images that can be fetched; previews are kept in a folder.

    Names are of files on Commons or of previews of them, such as `512px-Flag.svg.png`. The others are counted as
    `kb_images_not_on_commons` and `kb_images_not_fetched`.
    """
    fetcher = PictureFetcher(folder, counts, "kb_images_not_fetched")
    counts["kb_images_not_on_commons"] += 0
    with tqdm(total=len(names), desc="Commons", unit="image", mininterval=5, leave=False) as bar:
        for batch in _split_to_queries(names):
            keys = [hashlib.sha1(name.encode(), usedforsecurity=False).hexdigest() for name in batch]
            addresses = zip(batch, _find_addresses(batch, commons), keys, strict=True)
            pictures = [(name, address, f"{key[:2]}/{key}") for name, address, key in addresses if address]
            counts["kb_images_not_on_commons"] += len(batch) - len(pictures)
            yield from fetcher.fetch(pictures)
            bar.update(len(batch))


def _split_to_queries(names: Sequence[str]) -> Iterator[list[str]]:
    """Split names into batches that fit one query."""
    batch: list[str] = []
    length = 0
    for name in names:
        size = len(quote(_title_of(name))) + 3
        if batch and (len(batch) == BATCH or length + size > LONGEST_QUERY):
            yield batch
            batch, length = [], 0
        batch.append(name)
        length += size
    if batch:
        yield batch


def _title_of(name: str) -> str:
    """Return the title of an image's page; escapes in its name are decoded."""
    return f"File:{commons_file_name(unquote(name))}"


def _find_addresses(names: Sequence[str], commons: MediaWiki) -> list[str | None]:
    """Find the preview's address of each image, or None; a file that was moved is found by its old name."""
    query = {
        "action": "query", "titles": "|".join(dict.fromkeys(map(_title_of, names))), "redirects": "1",
        "prop": "imageinfo", "iiprop": "url", "iiurlwidth": str(WIDTH),
    }  # fmt: skip
    answer: Mapping[str, Any] = commons.ask(query).get("query", {})
    moved = {move["from"]: move["to"] for kind in ("normalized", "redirects") for move in answer.get(kind, ())}
    images = {page["title"]: page["imageinfo"][0] for page in answer.get("pages", ()) if page.get("imageinfo")}

    def address(title: str) -> str | None:
        title = moved.get(title, title)  # normalised, then redirected
        info = images.get(moved.get(title, title), {})
        return info.get("thumburl") or info.get("url")

    return [address(_title_of(name)) for name in names]
