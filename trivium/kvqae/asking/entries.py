"""Read a user's entries: a folder of texts with pictures beside them, or a table of title, text and image.

Problems of single entries and pictures are listed, and the rest is used; only a source that cannot be read, or without
any entry, is an error. File names are compared after `fold`.
"""

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from trivium.core.errors import BadInput
from trivium.core.folding import fold
from trivium.core.reading import is_file, read_text
from trivium.core.tables import read_csv_records, read_json_lines
from trivium.formats.json_fields import Field
from trivium.formats.pictures import is_picture, unread_picture

TEXTS, TABLES = (".md", ".txt"), (".csv", ".jsonl")
_NUMBERED = re.compile(r"(?P<name>.+?)(?:[ _.-]+\d+|[ _-]*\(\d+\))")
_HEADING = re.compile(r"#{1,6}\s+(?P<title>.*?)\s*#*")
_BETWEEN = re.compile(r"[;|,\n]")  # separators of pictures in one cell
Name = tuple[Path, str]  # folder, and a file's folded name without its suffix


@dataclass(frozen=True)
class Problem:
    """Something that was left out or is noteworthy."""

    kind: str  # such as duplicate, missing_picture, no_picture (kept, but found only by text), broken_picture
    place: str  # the file, or the table's row
    detail: str = ""  # in words, if there is more to say


@dataclass(frozen=True)
class Entry:
    """An entry of the base: something that pictures may show."""

    title: str
    paragraphs: tuple[str, ...]  # none of them empty
    pictures: Sequence[Path]
    place: str  # its file, or the table's row


@dataclass
class Source:
    """Entries in the order of their places, and problems."""

    entries: list[Entry] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    _known: dict[tuple[str, tuple[str, ...]], tuple[str, set[Path]]] = field(default_factory=dict)  # → place, pictures

    def note(self, kind: str, place: object, detail: str = "") -> None:
        """Add a problem to the list."""
        self.problems.append(Problem(kind, str(place), detail))

    def add(self, title: str, paragraphs: tuple[str, ...], pictures: Sequence[Path], place: str) -> None:
        """Add an entry, if it has a text, and a title, text or picture that earlier ones have not."""
        if not paragraphs:
            self.note("empty_text", place)
            return
        first, known = self._known.setdefault((fold(title), paragraphs), (place, set()))
        if first != place and known.issuperset(pictures):
            self.note("duplicate", place, f"the same as {first}")
            return
        known.update(pictures)
        if not pictures:
            self.note("no_picture", place)
        self.entries.append(Entry(title, paragraphs, pictures, place))


def read_source(path: Path) -> Source:
    """Read a folder, or a table.

    Raises:
        BadInput: it is neither, cannot be read, is a broken table, or holds no entry with a text.
    """
    _names_in.cache_clear()
    source = Source()
    if path.is_dir():
        _read_folder(path, source)
    elif path.suffix.lower() in TABLES:
        _read_table(path, source)
    else:
        raise BadInput("no such folder or table", file=path, expected=f"a folder, {' or '.join(TABLES)}")
    if not source.entries:
        counts = Counter(problem.kind for problem in source.problems)
        got = ", ".join(f"{count} × {kind}" for kind, count in counts.items()) or "nothing"
        raise BadInput("no entry", file=path, got=got, expected="name.txt or name.md with name.jpg beside it")
    return source


def _read_folder(root: Path, source: Source) -> None:
    """Read texts with the pictures of the same name, of that name and a number, or in a folder of that name."""
    texts: dict[Name, list[Path]] = defaultdict(list)
    pictures: list[Path] = []
    for path in sorted(_files(root)):
        if path.suffix.lower() in TEXTS:
            texts[path.parent, fold(path.stem)].append(path)
        elif is_picture(path):
            pictures.append(path)
        elif why := unread_picture(path):
            source.note("picture_of_another_kind", path.relative_to(root), why)
    shown: dict[Name, list[Path]] = defaultdict(list)
    for path in pictures:
        folder, name, inside = path.parent, fold(path.stem), fold(path.parent.name)
        numbered = _NUMBERED.fullmatch(name)
        candidates = [(folder, name), (folder, numbered["name"] if numbered else name), (folder.parent, inside)]
        if (owner := next((key for key in candidates if key in texts), None)) is not None:
            shown[owner].append(path)
        else:
            source.note("picture_without_text", path.relative_to(root))
    for key, (text, *others) in texts.items():
        place = text.relative_to(root)
        for other in others:
            source.note("duplicate", other.relative_to(root), f"{place} is taken")
        try:
            title, paragraphs = parse_text(read_text(text), markdown=text.suffix.lower() == ".md")
        except BadInput as error:
            source.note("unreadable_text", place, str(error))
            continue
        source.add(title or " ".join(text.stem.replace("_", " ").split()), paragraphs, shown[key], str(place))


def _files(root: Path) -> Iterator[Path]:
    def refuse(error: OSError) -> None:
        raise BadInput(f"a folder cannot be read: {error.strerror}", file=error.filename)

    for folder, inner, names in os.walk(root, onerror=refuse):
        inner[:] = [name for name in inner if not name.startswith(".")]
        yield from (Path(folder) / name for name in names if not name.startswith("."))


def parse_text(text: str, *, markdown: bool) -> tuple[str, tuple[str, ...]]:
    """Split a text into title and paragraphs at blank lines; white space in paragraphs is collapsed.

    In `markdown` the first heading is the title, and other headings are left out.
    """
    title, paragraphs, paragraph = "", [], list[str]()
    for line in [*text.splitlines(), ""]:
        heading = _HEADING.fullmatch(line.strip()) if markdown else None
        if heading is None and line.strip():
            paragraph += line.split()
            continue
        paragraphs.append(" ".join(paragraph))
        paragraph = []
        title = title or (heading["title"] if heading else "")
    return title, tuple(filter(None, paragraphs))


def _read_table(table: Path, source: Source) -> None:
    """Read a table; rows with the same title, and the same text or none, are one entry with several pictures."""
    merged: dict[tuple[str, tuple[str, ...]], tuple[str, list[Path], str]] = {}  # → title, pictures, place
    texts: dict[str, tuple[str, ...]] = {}
    for row, title, text, cells in _rows(table):
        place = f"{table.name}:{row}"
        name = fold(title)
        paragraphs = parse_text(text, markdown=False)[1] or texts.get(name, ())
        if not title:
            source.note("empty_text", place, "no title")
            continue
        texts.setdefault(name, paragraphs)
        pictures = merged.setdefault((name, paragraphs), (title, [], place))[1]
        for written, path in (pair for cell in cells for pair in find_pictures(table.parent, cell)):
            if path is None:
                source.note("missing_picture", place, written)
            elif why := unread_picture(path):
                source.note("picture_of_another_kind", place, f"{written}: {why}")
            else:
                pictures.append(path)
    for (_, paragraphs), (title, pictures, place) in merged.items():
        source.add(title, paragraphs, pictures, place)


def find_pictures(folder: Path, cell: str) -> list[tuple[str, Path | None]]:
    """List the pictures that a table's cell names, each with its file below a folder, None if there is none.

    A name may have backslashes, and other characters that look alike. A cell that is no file's name may hold several
    names, separated by ; | , or line breaks.
    """
    if (path := find_file(folder, cell)) is not None:
        return [(cell, path)]
    parts = [(name, find_file(folder, name)) for part in _BETWEEN.split(cell) if (name := part.strip())]
    return parts if any(path for _, path in parts) else [(cell, None)]


def find_file(folder: Path, name: str) -> Path | None:
    """Find the file of a name, with / or backslashes: as written, or after `fold`; None for no file."""
    if is_file(folder / name):
        return folder / name
    path = folder
    for part in Path(name.replace("\\", "/")).parts:
        names, look = _names_in(path), fold(part)
        path /= part if part == ".." else names.get(look) or names.get(look.casefold(), part)
    return path if path != folder and is_file(path) else None


@lru_cache(maxsize=64)
def _names_in(folder: Path) -> dict[str, str]:
    """Return folded name → name in a folder; in lower case too, where no other file has that name."""
    try:
        names = {fold(path.name): path.name for path in folder.iterdir()}
        return {name.casefold(): stored for name, stored in names.items()} | names
    except (OSError, ValueError):  # ValueError: a NUL in the name
        return {}


def _rows(table: Path) -> Iterator[tuple[int, str, str, list[str]]]:
    """Yield (row, title, text, cells that name pictures) of a table."""
    if table.suffix.lower() == ".csv":
        for row, cells in read_csv_records(table, ("title", "text", "image")):
            image = cells["image"].strip()
            yield row, cells["title"].strip(), cells["text"], [image] if image else []
        return
    for row, record in read_json_lines(table):
        field = Field(record, table, row)
        named = field.get_or("image", [])
        images = [named.value] if isinstance(named.value, str) else named.texts()
        yield row, field["title"].text().strip(), field["text"].text(), list(filter(None, images))
