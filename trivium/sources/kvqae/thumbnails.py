"""Previews of the knowledge base's images from Wikimedia Commons, at the rate that it allows.

Its robot policy wants a User-Agent that says who asks, two connections at the most and 25 Mbit/s in all. What came is
kept, so that a run that was killed goes on where it was.
"""

import hashlib
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from tqdm import tqdm

from trivium.core.errors import BadInput
from trivium.kvqae.construction.commons import commons_file_name
from trivium.sources.download import Patience, Request, download
from trivium.sources.mediawiki import AGENT, TOGETHER, MediaWiki

WIDTH = 500  # pixels: one of the widths that Commons keeps ready
CONNECTIONS = 2
BYTES_A_SECOND = 25e6 / 8
LONGEST_QUERY = 6000  # characters of an address's list of titles
MISSING_IN_A_ROW = 20  # pictures that cannot be had one after the other: then it is not the pictures


@dataclass(frozen=True)
class _Picture:
    """An image's name in the knowledge base, and the address of its preview; None: Commons has no such file."""

    name: str
    address: str | None


def fetch_thumbnails(
    names: Sequence[str], shelf: MediaWiki, folder: Path, patience: Patience, counts: Counter[str]
) -> Iterator[tuple[str, bytes]]:
    """Stream (name, encoded preview) of the images that can be had.

    Args:
        names: of the images, as files on Commons or as previews of them, such as `512px-Flag.svg.png`.
        shelf: Commons' API.
        folder: where previews are kept.
        patience: how long a download insists.
        counts: counts those that are `kb_images_not_on_commons` and `kb_images_not_fetched`.

    Raises:
        BadInput: see `MediaWiki.ask`; or `MISSING_IN_A_ROW` previews one after the other cannot be fetched.
    """
    counts.update(kb_images_not_on_commons=0, kb_images_not_fetched=0)
    missing = 0
    with (
        ThreadPoolExecutor(CONNECTIONS) as pool,
        tqdm(total=len(names), desc="Commons", unit="image", mininterval=5, leave=False) as bar,
    ):
        for batch in _batches(names):
            found = _addresses(batch, shelf)
            there = [picture for picture in found if picture.address]
            counts["kb_images_not_on_commons"] += len(found) - len(there)
            for picture, got in zip(there, pool.map(lambda each: _fetch(each, folder, patience), there), strict=True):
                if isinstance(got, BadInput):
                    counts["kb_images_not_fetched"] += 1
                    missing += 1
                    print(f"left out: {got}", file=sys.stderr)
                    if missing == MISSING_IN_A_ROW:
                        several = f"{missing} pictures in a row could not be fetched; run again to go on"
                        raise BadInput(f"{several}. The last: {got}", file=folder, got=picture.address) from got
                else:
                    missing = 0
                    yield picture.name, got.read_bytes()
            bar.update(len(batch))


def _batches(names: Sequence[str]) -> Iterator[list[str]]:
    """Names that fit one question."""
    batch: list[str] = []
    length = 0
    for name in names:
        size = len(quote(_title(name))) + 3
        if batch and (len(batch) == TOGETHER or length + size > LONGEST_QUERY):
            yield batch
            batch, length = [], 0
        batch.append(name)
        length += size
    if batch:
        yield batch


def _title(name: str) -> str:
    """The page of an image's file; a title holds no escape, so one in a name is of an address."""
    return f"File:{commons_file_name(unquote(name))}"


def _addresses(names: Sequence[str], shelf: MediaWiki) -> list[_Picture]:
    """Where the preview of each is; a file that was moved since is found by its old name."""
    asked = {
        "action": "query", "titles": "|".join(dict.fromkeys(map(_title, names))), "redirects": "1",
        "prop": "imageinfo", "iiprop": "url", "iiurlwidth": str(WIDTH),
    }  # fmt: skip
    answer: Mapping[str, Any] = shelf.ask(asked).get("query", {})
    moved = {each["from"]: each["to"] for kind in ("normalized", "redirects") for each in answer.get(kind, ())}
    known = {page["title"]: page["imageinfo"][0] for page in answer.get("pages", ()) if page.get("imageinfo")}

    def address(title: str) -> str | None:
        title = moved.get(title, title)  # normalised, then redirected
        info = known.get(moved.get(title, title), {})
        return info.get("thumburl") or info.get("url")

    return [_Picture(name, address(_title(name))) for name in names]


def _fetch(picture: _Picture, folder: Path, patience: Patience) -> Path | BadInput:
    """The kept preview, or why there is none."""
    key = hashlib.sha1(picture.name.encode(), usedforsecurity=False).hexdigest()
    suffix = PurePosixPath(unquote(urlsplit(str(picture.address)).path)).suffix.lower()
    target = folder / key[:2] / f"{key}{suffix}"
    started, there = time.monotonic(), target.exists()
    try:
        got = download(Request(str(picture.address), picture.name, agent=AGENT), target, patience)
    except BadInput as problem:
        return problem
    if not there:
        time.sleep(max(0.0, got.size * CONNECTIONS / BYTES_A_SECOND - (time.monotonic() - started)))
    return got.path
