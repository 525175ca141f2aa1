"""What a person brings: a folder of texts with pictures beside them, or a table of title, text and image.

What is wrong with a single entry or picture is listed, and the rest is taken; only a source that cannot be read, or
that holds no entry, is an error.
"""

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from trivium.core.errors import BadInput
from trivium.core.reading import is_file, read_text
from trivium.core.tables import read_csv_records, read_json_lines
from trivium.formats.picture_files import PICTURES

Kind = Literal[
    "duplicate",  # of another entry, or a picture that its entry has already; left out
    "shared_picture",  # two entries have the same picture; kept
    "same_title",  # two entries have it; kept
    "missing_picture",  # named by a table, and not there
    "no_picture",  # an entry without one; found by its text alone
    "picture_without_text",  # left out
    "empty_text",  # an entry that says nothing; left out
    "unreadable_text",  # no UTF-8, or not to be opened; left out
    "unreadable_picture",  # cannot be opened; left out
    "broken_picture",  # cannot be decoded; left out
]
TEXTS = (".md", ".txt")
TABLES = (".csv", ".jsonl")
_NUMBERED = re.compile(r"(?P<name>.+?)(?:[ _.-]+\d+|[ _-]*\(\d+\))")
_HEADING = re.compile(r"#{1,6}\s+(?P<title>.*?)\s*#*")


@dataclass(frozen=True)
class Problem:
    """Something that was listed.

    Attributes:
        kind: see `Kind`.
        place: the file, or the table's row.
        detail: in words, if there is more to say.
    """

    kind: Kind
    place: str
    detail: str = ""


@dataclass(frozen=True)
class Entry:
    """A thing or person of the base.

    Attributes:
        title: what it is called.
        paragraphs: its text, none of them empty.
        pictures: their files; perhaps none.
        place: where it came from.
    """

    title: str
    paragraphs: tuple[str, ...]
    pictures: tuple[Path, ...]
    place: str


@dataclass
class Source:
    """What was found.

    Attributes:
        entries: in the order of their places.
        problems: what was left out, or is worth knowing.
    """

    entries: list[Entry] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def note(self, kind: Kind, place: object, detail: str = "") -> None:
        """List a problem."""
        self.problems.append(Problem(kind, str(place), detail))


def read_source(path: Path) -> Source:
    """Read a folder, or a table.

    Raises:
        BadInput: it is neither, cannot be read, is a broken table, or holds no entry with a text.
    """
    if path.is_dir():
        source = _read_folder(path)
    elif path.suffix.lower() in TABLES:
        source = _read_records(path)
    elif path.exists():
        raise BadInput("neither a folder nor a table", file=path, expected=f"a folder, {' or '.join(TABLES)}")
    else:
        raise BadInput("no such folder or table", file=path)
    source.entries = _distinct(source)
    if not source.entries:
        counts = Counter(problem.kind for problem in source.problems)
        found = ", ".join(f"{count} × {kind}" for kind, count in counts.items()) or "nothing"
        raise BadInput("no entry", file=path, got=found, expected="name.txt or name.md with name.jpg beside it")
    return source


def _read_folder(root: Path) -> Source:
    """Texts with the pictures of the same name, of the same name and a number, or in a folder of that name."""
    source = Source()
    texts: dict[tuple[Path, str], list[Path]] = defaultdict(list)
    pictures: dict[tuple[Path, str], list[Path]] = defaultdict(list)
    for path in sorted(_files(root)):
        kind = path.suffix.lower()
        if kind in TEXTS:
            texts[path.parent, path.stem].append(path)
        elif kind in PICTURES:
            pictures[path.parent, path.stem].append(path)
    owners = _owners(texts, pictures)
    shown: dict[tuple[Path, str], list[Path]] = defaultdict(list)
    for key, several in pictures.items():
        if (owner := owners.get(key)) is None:
            for path in several:
                source.note("picture_without_text", path.relative_to(root))
        else:
            shown[owner] += several
    for key, (text, *others) in texts.items():
        place = text.relative_to(root)
        for other in others:
            source.note("duplicate", other.relative_to(root), f"{place} is taken")
        try:
            title, paragraphs = parse_text(read_text(text), markdown=text.suffix.lower() == ".md")
        except BadInput as error:
            source.note("unreadable_text", place, str(error))
            continue
        _add(source, title or _spoken(key[1]), paragraphs, shown[key], str(place))
    return source


def _files(root: Path) -> Iterator[Path]:
    def refuse(error: OSError) -> None:
        raise BadInput(f"a folder cannot be read: {error.strerror}", file=error.filename)

    for folder, inner, names in os.walk(root, onerror=refuse):
        inner[:] = [name for name in inner if not name.startswith(".")]
        yield from (Path(folder) / name for name in names if not name.startswith("."))


def _owners(
    texts: Iterable[tuple[Path, str]], pictures: Iterable[tuple[Path, str]]
) -> dict[tuple[Path, str], tuple[Path, str]]:
    """The text that each picture belongs to."""
    known, alone = set(texts), defaultdict(list)
    for folder, name in known:
        alone[folder].append((folder, name))
    owners = {}
    for folder, name in pictures:
        numbered = _NUMBERED.fullmatch(name)
        candidates = [(folder, name), (folder, numbered["name"] if numbered else name), (folder.parent, folder.name)]
        candidates += alone[folder] if len(alone[folder]) == 1 and folder.name == alone[folder][0][1] else []
        owner = next((each for each in candidates if each in known), None)
        if owner is not None:
            owners[folder, name] = owner
    return owners


def parse_text(text: str, *, markdown: bool) -> tuple[str, tuple[str, ...]]:
    """Title and paragraphs; blank lines part paragraphs, and white space within them is collapsed.

    Args:
        text: of a file.
        markdown: headings are told from text: the first one is the title, the others are left out.
    """
    title, paragraphs, lines = "", [], []
    for line in [*text.removeprefix("\ufeff").splitlines(), ""]:
        heading = _HEADING.fullmatch(line.strip()) if markdown else None
        if heading is None and line.strip():
            lines.append(line)
            continue
        paragraphs.append(" ".join(" ".join(lines).split()))
        lines = []
        if heading is not None:
            title = title or heading["title"]
    return title, tuple(paragraph for paragraph in paragraphs if paragraph)


def _spoken(name: str) -> str:
    return " ".join(name.replace("_", " ").split())


def _read_records(table: Path) -> Source:
    """Rows with one title and no other text are one entry with several pictures."""
    source = Source()
    taken: dict[tuple[str, tuple[str, ...]], tuple[list[Path], str]] = {}
    texts: dict[str, tuple[str, ...]] = {}
    for row, title, text, names in _rows(table):
        place = f"{table.name}:{row}"
        paragraphs = parse_text(text, markdown=False)[1] or texts.get(title, ())
        if not title:
            source.note("empty_text", place, "no title")
            continue
        texts.setdefault(title, paragraphs)
        pictures = taken.setdefault((title, paragraphs), ([], place))[0]
        for name in names:
            path = table.parent / name
            if is_file(path):
                pictures.append(path)
            else:
                source.note("missing_picture", place, name)
    for (title, paragraphs), (pictures, place) in taken.items():
        _add(source, title, paragraphs, pictures, place)
    return source


def _rows(table: Path) -> Iterator[tuple[int, str, str, list[str]]]:
    """(row, title, text, names of pictures) of each row."""
    if table.suffix.lower() == ".csv":
        for row, cells in read_csv_records(table, ("title", "text", "image")):
            image = cells["image"].strip()
            yield row, cells["title"].strip(), cells["text"], [image] if image else []
        return
    for row, record in read_json_lines(table):
        for name in ("title", "text"):
            if not isinstance(record.get(name), str):
                raise BadInput("not a text", file=table, row=row, field=name, got=record.get(name))
        images = record.get("image") or []
        images = [images] if isinstance(images, str) else images
        if not isinstance(images, list) or not all(isinstance(image, str) for image in images):
            raise BadInput("not a name, or a list of names", file=table, row=row, field="image", got=images)
        yield row, record["title"].strip(), record["text"], images


def _add(source: Source, title: str, paragraphs: tuple[str, ...], pictures: Sequence[Path], place: str) -> None:
    if not paragraphs:
        source.note("empty_text", place)
        return
    if not pictures:
        source.note("no_picture", place)
    source.entries.append(Entry(title, paragraphs, tuple(pictures), place))


def _distinct(source: Source) -> list[Entry]:
    """Without entries that say the same of the same title and show no other pictures; like titles are listed."""
    kept: list[Entry] = []
    seen: dict[tuple[str, tuple[str, ...]], set[Path]] = {}
    titles: dict[str, str] = {}
    for entry in source.entries:
        key = entry.title, entry.paragraphs
        if key in seen and not set(entry.pictures) - seen[key]:
            source.note("duplicate", entry.place, f"the same as {titles[entry.title]}")
            continue
        seen.setdefault(key, set()).update(entry.pictures)
        if entry.title in titles:
            source.note("same_title", entry.place, f"as {titles[entry.title]}")
        titles.setdefault(entry.title, entry.place)
        kept.append(entry)
    return kept
