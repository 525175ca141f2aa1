"""Download one file so that it is complete and right, or absent: resumed, retried, checked, then renamed.

Bytes are written to `<file>.part`. A later call continues a part only if a digest can show that both halves are of one
version. The hub's token comes from the environment and is sent to the hub's own host only.
"""

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from huggingface_hub.errors import HfHubHTTPError
from huggingface_hub.file_download import http_get

from trivium.core.errors import BadInput, redact
from trivium.sources.brought import require_space, sha256_of
from trivium.sources.pins import FilePin

# Which HTTP library huggingface_hub stands on changes with its versions; its errors have one root.
HTTP_ERROR = next(
    kind for kind in HfHubHTTPError.__mro__ if kind.__name__ == "HTTPError" and issubclass(kind, Exception)
)
TOKEN = "HF_TOKEN"
ATTEMPTS = 6  # tries in a row without a new byte
PAUSE = 2.0  # seconds before the second try, twice as many before each other one
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}


@dataclass(frozen=True)
class Request:
    """A file to fetch.

    Attributes:
        url: address.
        name: what messages call it, e.g. `PaulLerner/viquae_dataset: train.jsonl at revision 779bec4`.
        sha256: hexadecimal digest; None: unknown, any file is accepted and its digest returned.
        size: size in bytes; None: unknown.
        page: address of the page where a person can ask for access.
        agent: the User-Agent header; empty: huggingface_hub's.
    """

    url: str
    name: str
    sha256: str | None = None
    size: int | None = None
    page: str | None = None
    agent: str = ""


def endpoint() -> str:
    """The hub's address: `HF_ENDPOINT`, or the public one."""
    return os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")


def authorization(url: str) -> dict[str, str]:
    """The token's header when `url` is on the hub's own host over TLS (or on this machine), else nothing."""
    token, address = os.environ.get(TOKEN), urlsplit(url)
    is_hub = address.netloc == urlsplit(endpoint()).netloc
    if not token or not is_hub or not (address.scheme == "https" or address.hostname in _LOOPBACK):
        return {}
    return {"Authorization": f"Bearer {token}"}


def download(request: Request, target: Path) -> FilePin:
    """Fetch a file, or continue where an earlier call stopped, and return its digest and size.

    A target that is already there is only checked.

    Raises:
        BadInput: not found; access refused (says where to ask and where to put the file); wrong digest or size (the
            file is removed); the server stopped answering (the part is kept); not enough disk.
    """
    part = target.with_name(f"{target.name}.part")
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        if request.sha256 is None:
            part.unlink(missing_ok=True)
        require_space(target.parent, (request.size or 0) - _length(part), request.name)
        if request.size is None or _length(part) != request.size:  # else it was stopped before it got its name
            _receive(request, part, target)
    path = target if target.exists() else part
    size, digest = path.stat().st_size, sha256_of(path)
    for what, got, expected in (("size", size, request.size), ("sha256", digest, request.sha256)):
        if expected is not None and got != expected:
            path.unlink()
            raise BadInput(
                f"{request.name}: wrong {what}; the file was removed", file=path, got=got, expected=str(expected)
            )
    path.replace(target)
    return FilePin(sha256=digest, size=size)


def _receive(request: Request, part: Path, target: Path) -> None:
    """Append the missing bytes to a part; after a broken connection it tries again as long as new bytes arrive."""
    headers = {"Accept-Encoding": "identity", **authorization(request.url)}
    headers |= {"User-Agent": request.agent} if request.agent else {}
    failures, reason = 0, ""
    while failures < ATTEMPTS:
        length = _length(part)
        try:
            with part.open("ab") as out:
                # A redirect that leaves the host loses the token: the storage behind the hub never gets it.
                http_get(request.url, out, resume_size=length, headers=headers, displayed_filename=target.name)
            return
        except HfHubHTTPError as error:
            status = error.response.status_code
            if status == 416:  # the part is not the beginning of this file
                part.unlink()
            elif status < 500 and status not in {408, 425, 429}:
                raise _refusal(request, target, status, error.server_message) from None
            reason = f"the server answered {status}"
        except HTTP_ERROR as error:
            reason = str(error) or type(error).__name__
        except OSError as error:
            if error.errno is not None:  # of the disk
                raise
            raise BadInput(f"{request.name}: {error}", got=request.url) from None  # HF_HUB_OFFLINE, another length
        failures = 0 if _length(part) > length else failures + 1
        if failures < ATTEMPTS:
            print(redact(f"{request.name}: {reason}; trying again"), file=sys.stderr)
            time.sleep(PAUSE * 2 ** max(failures - 1, 0))
    raise BadInput(
        f"{request.name}: gave up after {failures} tries without a new byte ({reason}); what came is kept, run again "
        "to go on",
        file=part,
        got=f"{_length(part)} bytes",
    )


def _refusal(request: Request, target: Path, status: int, message: str | None) -> BadInput:
    """Make the error for a status that further tries would not change."""
    own = f"the file brought by you, as {target}"
    if status in {401, 403}:
        token = "was refused" if authorization(request.url) else "is not set, or not for this host"
        return BadInput(
            f"{request.name}: access refused ({status}); the token in {TOKEN} {token}",
            file=target,
            expected=f"access asked for at {request.page or request.url} and a token in the environment variable "
            f"{TOKEN}, or {own}",
        )
    if status == 404:
        expected = f"a file of this revision, or {own}"
        return BadInput(f"{request.name}: not found (404)", got=request.url, expected=expected)
    detail = f": {message.splitlines()[0]}" if message else ""
    return BadInput(f"{request.name}: the server answered {status}{detail}", got=request.url, expected=own)


def _length(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
