"""Hiding the passwords of addresses, such as `MLFLOW_TRACKING_URI`, in files and messages."""

import logging
import re
import sys
from typing import Any, TextIO

HIDDEN = "[hidden]"
_USER = re.compile(
    r"(://)(?:[^\s/?#]*"  # RFC 3986 §3.2.1, and @ in a password
    r"|[^\s/?#@:]*:(?!\d{1,5}(?![^\s/?#'\"),;]))\S*)@"  # / ? # in a password, where it is not a port before a path
)
_QUERY = re.compile(
    r"((?:[?&;]|%3B)[\w.-]*(?:pass|pwd|secret|token|key|credential|sig)[\w.-]*(?:=|%3D))(?:(?!%3B|%26)[^\s&;#'\"])+",
    re.IGNORECASE,
)


def redacted(text: str) -> str:
    """The text without user names, passwords and keys of the addresses in it."""
    return _QUERY.sub(rf"\1{HIDDEN}", _USER.sub(rf"\1{HIDDEN}@", text))


class _Redacted:
    """A text stream that shows no password; all else is the stream's own."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(redacted(text))
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
