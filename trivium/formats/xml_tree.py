"""Read XML as a tree with line numbers; entities are refused, and names lose their prefix."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn
from xml.sax import SAXParseException
from xml.sax.handler import ContentHandler

import defusedxml.sax
from defusedxml.common import DefusedXmlException

from trivium.core.errors import BadInput
from trivium.core.reading import open_text, whole_number


@dataclass
class Node:
    """An element; `text` is its own, without that of its children."""

    name: str
    attributes: dict[str, str]
    path: Path
    line: int
    children: list["Node"] = field(default_factory=list)
    text: str = ""

    def walk(self, name: str) -> Iterator["Node"]:
        """The elements of this name below this one, at any depth, in the order of the file."""
        left = self.children[::-1]
        while left:
            node = left.pop()
            if node.name == name:
                yield node
            left += node.children[::-1]

    def attribute(self, name: str) -> str:
        """An attribute that must be there."""
        value = self.attributes.get(name, "")
        if not value.strip():
            raise BadInput("missing attribute", file=self.path, row=self.line, field=name, choices=self.attributes)
        return value

    def number(self, name: str, least: int = 0) -> int:
        """An attribute that must be a whole number from `least`."""
        value = self.attribute(name)
        try:
            number = whole_number(value)
        except ValueError:
            number = -1
        if number < least:
            expected = f"a whole number from {least} of at most 64 bits"
            self.refuse("not a whole number", name, value, expected=expected)
        return number

    def refuse(self, problem: str, name: str, got: object, **details: Any) -> NoReturn:
        """Raise `BadInput` here."""
        raise BadInput(problem, file=self.path, row=self.line, field=name, got=got, **details)


class _Builder(ContentHandler):
    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path, self.open = path, [Node("", {}, path, 0)]

    def startElement(self, name: str, attrs: Any) -> None:  # noqa: N802 - the interface's name
        locator: Any = self._locator  # type: ignore[attr-defined]
        node = Node(name.rpartition(":")[2], dict(attrs), self.path, int(locator.getLineNumber()))
        self.open[-1].children.append(node)
        self.open.append(node)

    def endElement(self, name: str) -> None:  # noqa: N802 - the interface's name
        self.open.pop()

    def characters(self, content: str) -> None:
        self.open[-1].text += content


def read_tree(path: Path, *roots: str) -> Node:
    """The root of a file, which must have one of these names.

    Raises:
        BadInput: not XML (names the line), another root, or XML with entity declarations or references to other files.
    """
    builder = _Builder(path)
    try:
        with open_text(path) as stream:
            defusedxml.sax.parse(stream, builder)
    except SAXParseException as error:
        raise BadInput(f"not XML: {error.getMessage()}", file=path, row=error.getLineNumber()) from None
    except DefusedXmlException as error:
        raise BadInput(f"XML that reaches out or expands itself is refused: {error}", file=path) from None
    except BadInput:
        raise
    except (LookupError, ValueError) as error:  # of the encoding that the file says it has
        raise BadInput(f"not XML: {error}", file=path, row=1) from None
    (root,) = builder.open[0].children
    if root.name not in roots:
        expected = " or ".join(f"<{name}>" for name in roots)
        raise BadInput("another kind of XML", file=path, row=root.line, got=root.name, expected=expected)
    return root
