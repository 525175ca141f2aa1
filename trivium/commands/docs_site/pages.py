"""Write the pages of the site: README.md, docs/, whatever they link to, and the reference.

    python -m trivium.commands.docs_site.pages .work/docs

On GitHub a page may link to any file of the repository; a site holds its own pages only. So what a link leads to
becomes a page, too: Markdown as it is, other text as a block. Links are rewritten, and a list gets an
empty line before it; nothing else is changed.
"""

import argparse
import posixpath
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from trivium.commands.docs_site.reference import commands, parameters, stages
from trivium.core.errors import BadInput

LINK = re.compile(r"(\]\()([^)\s#]*)((?:#[^)\s]*)?\))")
FENCED = re.compile(r"(^```.*?^```)", re.MULTILINE | re.DOTALL)
BEFORE_LIST = re.compile(r"^((?![-#>|\s]|\d+\. ).*\n)(?=- |1\. )", re.MULTILINE)  # GitHub needs no empty line there
PICTURES = {".png", ".jpg", ".svg"}
FIRST = "README.md"  # of the repository: the site's first page
INDEX = "docs/README.md"
REFERENCE = {"stages": stages, "parameters": parameters, "commands": commands}


def place(file: str) -> str:
    """Where a file of the repository stands in the site, both relative, with `/`."""
    if file in (FIRST, INDEX):
        return {FIRST: "index.md", INDEX: "all-pages.md"}[file]
    if file.startswith("docs/"):
        return file.removeprefix("docs/")
    return f"repository/{file.replace('/', '-')}{'' if file.endswith('.md') else '.md'}"


def write_pages(root: Path, out: Path) -> list[str]:
    """Write all pages but the reference into an empty folder; returns their places.

    Raises:
        BadInput: a page links to something that is no file of the repository.
    """
    waiting = [FIRST, *sorted(file.relative_to(root).as_posix() for file in (root / "docs").rglob("*.md"))]
    seen = set(waiting)
    for file in waiting:  # it grows
        target = out / place(file)
        target.parent.mkdir(parents=True, exist_ok=True)
        if Path(file).suffix in PICTURES:
            shutil.copyfile(root / file, out / file.removeprefix("docs/"))
            continue
        text = (root / file).read_text(encoding="utf-8")
        if not file.endswith(".md"):
            target.write_text(f"# {file}\n\n````{Path(file).suffix[1:] or 'text'}\n{text}\n````\n", encoding="utf-8")
            continue
        written, linked = rewritten(text, file, root)
        target.write_text(written, encoding="utf-8")
        waiting += [each for each in linked if each not in seen]
        seen.update(linked)
    return [place(file) for file in waiting]


def rewritten(text: str, file: str, root: Path) -> tuple[str, list[str]]:
    """A page with its links as the site has them, and the files that it links to.

    Raises:
        BadInput: a link leads to something that is no file of the repository.
    """
    linked: list[str] = []

    def renewed(found: re.Match[str]) -> str:
        before, target, rest = found.groups()
        if not target or target.startswith(("http://", "https://", "mailto:")):
            return found[0]
        meant = posixpath.normpath(posixpath.join(posixpath.dirname(file), target))
        if meant.startswith("../") or not (root / meant).is_file():
            raise BadInput("a link to no file of the repository", file=file, got=target)
        if meant not in linked:
            linked.append(meant)
        there = meant.removeprefix("docs/") if Path(meant).suffix in PICTURES else place(meant)
        return f"{before}{posixpath.relpath(there, posixpath.dirname(place(file)) or '.')}{rest}"

    parts = FENCED.split(text)
    prose = (part if part.startswith("```") else LINK.sub(renewed, BEFORE_LIST.sub(r"\1\n", part)) for part in parts)
    return "".join(prose), linked


def main(argv: Sequence[str] | None = None) -> None:
    """Write all pages, in place of those that are there."""
    parser = argparse.ArgumentParser(description="Write the pages that `make docs` makes a site of.")
    parser.add_argument("out", type=Path, help="their folder; what it holds is deleted")
    out: Path = parser.parse_args(argv).out
    root = Path.cwd()
    shutil.rmtree(out, ignore_errors=True)
    write_pages(root, out)
    (out / "reference").mkdir()
    for name, made in REFERENCE.items():
        (out / "reference" / f"{name}.md").write_text(made(root), encoding="utf-8")


if __name__ == "__main__":
    main()
