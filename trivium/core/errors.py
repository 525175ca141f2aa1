"""Messages: the error that every room raises for input that cannot be used; passwords of addresses are hidden.

An address such as `MLFLOW_TRACKING_URI` may hold a password, and gets into messages, logs and files through libraries.
"""

import logging
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from reprlib import Repr
from typing import Any, TextIO
from urllib.parse import unquote

_ABSENT = object()
_LISTED = 100  # choices
_SHORT = Repr()  # never the whole of a value: it may be gigabytes, or nested deeper than `repr` goes
_SHORT.maxlevel = 4
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = _SHORT.maxset = _SHORT.maxfrozenset = 40
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 1000
HIDDEN = "[hidden]"
_ADDRESSES = ("_URI", "_URL", "_ENDPOINT", "_PROXY")  # ends of the names of variables
_SHORTEST = 4  # characters of a password that is hidden alone; a shorter one is in half of all words
_USER = re.compile(
    r"(://)(?:[^\s/?#]*"  # RFC 3986 §3.2.1, and @ in a password
    r"|[^\s/?#@:]*:(?!\d{1,5}(?![^\s/?#'\"),;]))\S*)@"  # / ? # in a password, where it is not a port before a path
)
_QUERY = re.compile(
    r"((?:[?&;]|%3B)[\w.-]*(?:pass|pwd|secret|token|key|credential|sig)[\w.-]*(?:=|%3D))(?:(?!%3B|%26)[^\s&;#'\"])+",
    re.IGNORECASE,
)


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


def redact(text: str) -> str:
    """The text without user names, passwords and keys of addresses, nor the passwords of those in the environment.

    Libraries name a part of an address that they cannot parse, so that these are hidden alone, too.
    """
    for password in _environment_passwords():
        text = text.replace(password, HIDDEN)
    return _QUERY.sub(rf"\1{HIDDEN}", _USER.sub(rf"\1{HIDDEN}@", text))


def _environment_passwords() -> list[str]:
    """The passwords of the addresses in the environment, as written and decoded, the longest first."""
    addresses = [value for name, value in os.environ.items() if name.upper().endswith(_ADDRESSES) and "@" in value]
    users = [part for value in addresses for part in (value.partition("@")[0], value.rpartition("@")[0])]
    written = [user.partition("//")[2].partition(":")[2] for user in users]
    passwords = {password for password in (*written, *map(unquote, written)) if len(password) >= _SHORTEST}
    return sorted(passwords, key=len, reverse=True)


class _Redacted:
    """A text stream that shows no password; all else is the stream's own."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(redact(text))
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def redact_output() -> None:
    """Redact all that this process prints from now on, tracebacks, warnings and logs among it."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, _Redacted):
            continue
        shown: Any = _Redacted(stream)
        setattr(sys, name, shown)
        for logger in (logging.root, *logging.root.manager.loggerDict.values()):
            for handler in getattr(logger, "handlers", ()):
                if isinstance(handler, logging.StreamHandler) and handler.stream is stream:
                    handler.setStream(shown)
