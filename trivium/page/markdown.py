"""Tables in Markdown."""

import re
from collections.abc import Iterable, Sequence

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#])")


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: bool = False) -> str:
    """A table of cells that are Markdown already; with `numbers` all columns but the first are aligned right."""
    rule = ["---", *(("---:" if numbers else "---") for _ in head[1:])]
    lines = ["|" + "".join(f" {cell} |" if cell else " |" for cell in cells) for cells in (head, *rows)]
    return "\n".join([lines[0], f"|{'|'.join(rule)}|", *lines[1:]])


def plain(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
