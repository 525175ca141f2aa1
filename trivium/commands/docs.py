"""Write the pages of the documentation's site: README.md, docs/ and whatever they link to (`make docs`).

    python -m trivium.commands.docs .work/docs

On GitHub a page may link to any file of the repository; a site holds its own pages only. So what a link leads to
becomes a page, too: Markdown as it is, other text as a block. Links are rewritten, and a list gets an
empty line before it; nothing else is changed. Zensical makes HTML of these pages, as zensical.toml says.
"""

import posixpath
import re
import shutil
import sys
from pathlib import Path

from trivium.core.errors import BadInput

LINK = re.compile(r"(\]\()([^)\s#]*)((?:#[^)\s]*)?\))")
FENCED = re.compile(r"(^```.*?^```)", re.MULTILINE | re.DOTALL)
BEFORE_LIST = re.compile(r"^((?![-#>|\s]|\d+\. ).*\n)(?=- |1\. )", re.MULTILINE)  # GitHub needs no empty line there
PLACES = {"README.md": "index.md", "docs/README.md": "all-pages.md"}  # of the site's first page, and of the list of all


def place(file: str) -> str:
    """Where a file of the repository stands in the site, both relative, with `/`."""
    if file in PLACES:
        return PLACES[file]
    if file.startswith("docs/"):
        return file.removeprefix("docs/")
    return f"repository/{file.replace('/', '-')}{'' if file.endswith('.md') else '.md'}"


def write_pages(root: Path, out: Path) -> None:
    """Write all pages into an empty folder.

    Raises:
        BadInput: a page links to something that is no file of the repository.
    """
    waiting = ["README.md", *sorted(file.relative_to(root).as_posix() for file in (root / "docs").rglob("*.md"))]
    for file in waiting:  # it grows
        target = out / place(file)
        target.parent.mkdir(parents=True, exist_ok=True)
        if Path(file).suffix in (".png", ".jpg", ".svg"):
            shutil.copyfile(root / file, target)
            continue
        text = (root / file).read_text(encoding="utf-8")
        if file.endswith(".md"):
            text, linked = rewritten(text, file, root)
            waiting += [name for name in linked if name not in waiting]
        else:
            text = f"# {file}\n\n````{Path(file).suffix[1:] or 'text'}\n{text}\n````\n"
        target.write_text(text, encoding="utf-8")


def rewritten(text: str, file: str, root: Path) -> tuple[str, list[str]]:
    """A page with its links as the site has them, and the files that it links to.

    Raises:
        BadInput: a link leads to something that is no file of the repository.
    """
    linked: list[str] = []

    def renewed(link: re.Match[str]) -> str:
        before, target, rest = link.groups()
        if not target or target.startswith(("http://", "https://", "mailto:")):
            return link[0]
        meant = posixpath.normpath(posixpath.join(posixpath.dirname(file), target))
        if meant.startswith("../") or not (root / meant).is_file():
            raise BadInput("a link to no file of the repository", file=file, got=target)
        if meant not in linked:
            linked.append(meant)
        return f"{before}{posixpath.relpath(place(meant), posixpath.dirname(place(file)) or '.')}{rest}"

    parts = FENCED.split(text)
    prose = (part if part.startswith("```") else LINK.sub(renewed, BEFORE_LIST.sub(r"\1\n", part)) for part in parts)
    return "".join(prose), linked


if __name__ == "__main__":
    shutil.rmtree(sys.argv[1], ignore_errors=True)
    write_pages(Path.cwd(), Path(sys.argv[1]))
