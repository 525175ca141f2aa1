"""Check a built site: every link of it leads somewhere, and no page loads anything from elsewhere.

python -m trivium.commands.docs_site.links site
"""

import argparse
import re
import sys
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script", "img", "link", "iframe", "source", "video", "audio", "embed"}  # by opening a page
STYLED = re.compile(r"""(?:url\(|@import)\s*["']?((?:https?:)?//[^"')\s;]+)""")


class Page(HTMLParser):
    """What a page links to, what it loads, and which anchors it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = STYLED.findall(text)
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the element's addresses and its anchor."""
        values = {name: value for name, value in attrs if value}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        self.links += [values[name] for name in ("href", "src") if name in values]
        known = values.get("rel") in ("canonical", "next", "prev")  # said to robots, never fetched
        if tag in LOADED and not known:
            self.loads += [values[name] for name in ("href", "src") if name in values]


def problems(site: Path) -> list[str]:
    """What is wrong with a site, a line each: `page: what`."""
    texts = {file: file.read_text(encoding="utf-8") for file in sorted(site.rglob("*.html"))}
    pages = {file: Page(text) for file, text in texts.items()}
    found = [] if pages else [f"{site}: there is no page"]
    for file, page in pages.items():
        found += [f"{file}: loads {each}" for each in page.loads if _elsewhere(each)]
        found += [f"{file}: {each} leads nowhere" for each in page.links if not _leads(each, file, site, pages)]
    for file in sorted(site.rglob("*.css")):
        found += [f"{file}: loads {each}" for each in STYLED.findall(file.read_text(encoding="utf-8"))]
    return found


def _elsewhere(address: str) -> bool:
    return bool(urlsplit(address).netloc)


def _leads(address: str, file: Path, site: Path, pages: dict[Path, Page]) -> bool:
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return True  # the network is not asked
    path = unquote(parts.path)
    target = (site / path[1:] if path.startswith("/") else file.parent / path).resolve() if path else file.resolve()
    target = target / "index.html" if target.is_dir() else target
    anchors = {each.resolve(): page.anchors for each, page in pages.items()}.get(target) if parts.fragment else None
    return target.is_file() and (anchors is None or unquote(parts.fragment) in anchors)


def main(argv: Sequence[str] | None = None) -> None:
    """Print what is wrong with a site, and fail where something is."""
    parser = argparse.ArgumentParser(
        description="Check the links of a built site, and that it loads nothing from elsewhere."
    )
    parser.add_argument("site", type=Path, help="its folder")
    found = problems(parser.parse_args(argv).site)
    print("\n".join(found), file=sys.stderr, end="\n" if found else "")
    raise SystemExit(1 if found else 0)


if __name__ == "__main__":
    main()
