"""FrameNet's XML files as they stand: sentences, annotation sets and labels with their lines, read as a stream."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.sax import SAXParseException
from xml.sax.handler import ContentHandler

import defusedxml.sax
from defusedxml.common import DefusedXmlException

from trivium.core.errors import BadInput
from trivium.core.reading import open_text, whole_number
from trivium.formats.framed_texts import Span

CORE = {"Core": "core", "Core-Unexpressed": "core", "Peripheral": "peripheral", "Extra-Thematic": "extra-thematic"}


@dataclass
class Label:
    """`end` is exclusive here; no place for a null instantiation."""

    layer: str
    rank: int
    name: str
    span: Span | None
    line: int


@dataclass
class AnnotationSet:
    """An annotation set that names a frame."""

    frame: str
    lexical_unit: str
    status: str
    line: int
    labels: list[Label] = field(default_factory=list)


@dataclass
class Sentence:
    """A sentence with its annotation sets."""

    paragraph: str
    line: int
    id: str = ""
    text: str = ""
    sets: list[AnnotationSet] = field(default_factory=list)


class _Handler(ContentHandler):
    """Elements by local name; knows file and line."""

    roots: tuple[str, ...] = ()

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.open: list[str] = []

    @property
    def line(self) -> int:
        """Where the parser is."""
        locator: Any = self._locator  # type: ignore[attr-defined]
        return int(locator.getLineNumber())

    def startElement(self, name: str, attrs: Any) -> None:  # noqa: N802 - the interface's name
        local = name.rpartition(":")[2]
        if not self.open and local not in self.roots:
            expected = " or ".join(f"<{root}>" for root in self.roots)
            raise BadInput("another kind of XML", file=self.path, row=self.line, got=local, expected=expected)
        self.open.append(local)
        self._begin(local, dict(attrs))

    def endElement(self, name: str) -> None:  # noqa: N802 - the interface's name
        self._end(self.open.pop())

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""

    def _end(self, name: str) -> None:
        """An element ends."""

    def attribute(self, attributes: Mapping[str, str], name: str) -> str:
        """An attribute that must be there."""
        if not attributes.get(name, "").strip():
            raise BadInput("missing attribute", file=self.path, row=self.line, field=name, choices=attributes)
        return attributes[name]


class FrameFile(_Handler):
    """Collects the core types of a frame's elements."""

    roots = ("frame",)

    def __init__(self, path: Path, types: dict[tuple[str, str], str]) -> None:
        super().__init__(path)
        self.types = types
        self.frame = ""

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        if len(self.open) == 1:
            self.frame = self.attribute(attributes, "name")
        elif name == "FE" and len(self.open) == 2:
            core = self.attribute(attributes, "coreType")
            if core not in CORE:
                raise BadInput("unknown", file=self.path, row=self.line, field="coreType", got=core, choices=CORE)
            self.types[self.frame, self.attribute(attributes, "name")] = CORE[core]


class Annotated(_Handler):
    """Collects the sentences of a text, or of a lexical unit, with the annotation sets that name a frame.

    A file of full text names the frame in each annotation set, one of a lexical unit in its root. There a set of status
    UNANN without Target or FE has parts of speech and names only, and is passed over.
    """

    roots = ("fullTextAnnotation", "lexUnit")

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.title = path.stem
        self.unit: tuple[str, str] | None = None  # frame and name of the file's lexical unit
        self.sentences: list[Sentence] = []
        self.set: AnnotationSet | None = None
        self.layer, self.rank = "", 1

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        if name == "lexUnit" and len(self.open) == 1:
            self.unit = self.attribute(attributes, "frame"), self.attribute(attributes, "name")
        elif name == "document":
            self.title = attributes.get("name") or self.title
        elif name == "sentence":
            identifier = "" if self.unit is None else self.attribute(attributes, "ID")
            self.sentences.append(Sentence(attributes.get("paragNo", ""), self.line, identifier))
        elif name == "annotationSet" and (self.unit is not None or attributes.get("frameName")):
            if not self.sentences:
                raise BadInput("annotation set outside of a sentence", file=self.path, row=self.line)
            frame, unit = self.unit or (self.attribute(attributes, "frameName"), self.attribute(attributes, "luName"))
            self.set = AnnotationSet(frame, unit, attributes.get("status", ""), self.line)
            self.sentences[-1].sets.append(self.set)
        elif name == "layer" and self.set is not None:
            self.layer = self.attribute(attributes, "name")
            self.rank = self.number(attributes.get("rank", "1"), "rank", least=1)
        elif name == "label" and self.set is not None and self.layer in ("Target", "FE"):
            span = None
            if "start" in attributes or "itype" not in attributes:
                start, end = (self.number(self.attribute(attributes, side), side) for side in ("start", "end"))
                span = Span(start, end + 1)
            label = self.attribute(attributes, "name")
            self.set.labels.append(Label(self.layer, self.rank, label, span, self.line))

    def characters(self, content: str) -> None:
        """Text, in pieces."""
        if self.open[-2:] == ["sentence", "text"]:
            self.sentences[-1].text += content

    def _end(self, name: str) -> None:
        if name == "annotationSet" and self.set is not None:
            if self.unit is not None and self.set.status == "UNANN" and not self.set.labels:
                self.sentences[-1].sets.pop()
            self.set = None

    def number(self, value: str, name: str, least: int = 0) -> int:
        """A whole number from `least`."""
        try:
            number = whole_number(value)
        except ValueError:
            number = -1
        if number < least:
            expected = f"a whole number from {least} of at most 64 bits"
            raise BadInput(
                "not a whole number", file=self.path, row=self.line, field=name, got=value, expected=expected
            )
        return number


def parse(path: Path, handler: _Handler) -> None:
    """Let a handler see a whole file.

    Raises:
        BadInput: not XML (names the line), or XML with entity declarations or references to other files.
    """
    try:
        with open_text(path) as stream:
            defusedxml.sax.parse(stream, handler)
    except SAXParseException as error:
        raise BadInput(f"not XML: {error.getMessage()}", file=path, row=error.getLineNumber()) from None
    except DefusedXmlException as error:
        raise BadInput(f"XML that reaches out or expands itself is refused: {error}", file=path) from None
    except BadInput:
        raise
    except (LookupError, ValueError) as error:  # of the encoding that the file says it has
        raise BadInput(f"not XML: {error}", file=path, row=1) from None
