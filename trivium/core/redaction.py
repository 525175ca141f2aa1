"""Hiding the passwords of addresses, such as `MLFLOW_TRACKING_URI`, in files and messages."""

import logging
import os
import re
import sys
from typing import Any, TextIO
from urllib.parse import unquote

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
