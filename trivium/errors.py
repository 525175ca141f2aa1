"""What every room raises when input cannot be used."""

from collections.abc import Iterable
from pathlib import Path

from trivium.redaction import redacted

_ABSENT = object()


class BadInput(ValueError):
    """Input that cannot be used; the message says where it is, what was got and what was expected.

    No address in it shows a password.

    Args:
        problem: what is wrong, in a few words.
        file, row, field: where; rows are counted from 1.
        got: the offending value (shortened).
        expected: what would have been right.
        choices: the valid values.
    """

    def __init__(
        self,
        problem: str,
        *,
        file: Path | str | None = None,
        row: int | str | None = None,
        field: str | None = None,
        got: object = _ABSENT,
        expected: str | None = None,
        choices: Iterable[object] | None = None,
    ) -> None:
        place = ":".join(str(part) for part in (file, row) if part is not None)
        parts = [f"field {field!r}"] if field is not None else []
        parts.append(problem)
        message = ": ".join(([place] if place else []) + parts)
        if got is not _ABSENT:
            shown = redacted(repr(got))  # before it is cut: half an address would not be known for one
            message += f"; got {shown if len(shown) <= 120 else shown[:117] + '...'}"
        if expected is not None:
            message += f"; expected {expected}"
        if choices is not None:
            message += f" (choices: {', '.join(map(str, choices))})"
        super().__init__(redacted(message))
