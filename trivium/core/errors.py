"""The error that every room raises for input that cannot be used."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from reprlib import Repr

from trivium.core.redaction import redact

_ABSENT = object()
_LISTED = 100  # choices
_SHORT = Repr()  # never the whole of a value: it may be gigabytes, or nested deeper than `repr` goes
_SHORT.maxlevel = 4
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = _SHORT.maxset = _SHORT.maxfrozenset = 40
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 1000


class BadInput(ValueError):
    """Input that cannot be used: the problem in a few words, where it is, what was got (shortened) and expected.

    Rows are counted from 1; `choices` are the valid values. No address in the message shows a password.
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
            shown = redact(_SHORT.repr(redact(got) if isinstance(got, str) else got))  # whole addresses, then cut
            message += f"; got {shown if len(shown) <= 120 else shown[:117] + '...'}"
        if expected is not None:
            message += f"; expected {expected}"
        if choices is not None:
            listed = list(map(str, islice(choices, _LISTED + 1)))
            message += f" (choices: {', '.join(listed[:_LISTED])}{', ...' if len(listed) > _LISTED else ''})"
        super().__init__(redact(message))


@contextmanager
def naming(shown: Path, *, instead_of: Path) -> Iterator[None]:
    """Let the messages of `BadInput` that are raised inside name another file or folder than a temporary one."""
    try:
        yield
    except BadInput as error:
        error.args = (str(error).replace(str(instead_of), str(shown)),)
        raise


def how_to_install(extra: str) -> str:
    """The command that installs the packages of an extra; never from a public index, where the name is not ours."""
    if (Path(__file__).parents[2] / "pyproject.toml").is_file():
        return "`make setup` brings it, then `source .venv/bin/activate`"
    return f"`pip install '.[{extra}]'` in a clone, or install the release's wheel with [{extra}] behind its name"
