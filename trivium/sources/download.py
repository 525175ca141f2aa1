"""Download one file so that it is complete and right, or absent: resumed, retried, checked, then renamed.

Bytes go to `<file>.part`; what identifies the version on the server (its ETag, else its date) stands beside in
`<file>.part.version`, and a resumed request carries it (`If-Range`, RFC 9110 §13.1.5), so that two versions of a file
are never spliced. The hub's token comes from the environment, goes to the hub's own host and nowhere else.
"""

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx
from tqdm import tqdm

from trivium.core.errors import BadInput
from trivium.core.redaction import redacted
from trivium.sources.disk import require_space, sha256_of

TOKEN = "HF_TOKEN"
LONGEST_REASON = 200  # characters of an error's text that are told
ATTEMPTS = 6  # tries in a row without a new byte
PAUSE, LONGEST_PAUSE = 1.0, 60.0  # seconds between tries: the first doubles up to the longest
SILENCE = 60.0  # seconds without an answer that end a try
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}


@dataclass(frozen=True)
class Request:
    """A file to fetch.

    Attributes:
        url: address.
        name: what to call it in messages, e.g. `PaulLerner/viquae_dataset: train.jsonl at revision 779bec4`.
        sha256: hexadecimal digest; None = unknown, whatever comes is accepted and its digest returned.
        size: bytes; None = unknown.
        page: where a person asks for access.
        agent: what to present ourselves as; empty = as httpx does.
    """

    url: str
    name: str
    sha256: str | None = None
    size: int | None = None
    page: str | None = None
    agent: str = ""


@dataclass(frozen=True)
class Fetched:
    """A file that is on disk now."""

    path: Path
    sha256: str
    size: int


class _Trouble(Exception):
    """Worth another try, after `wait` seconds if the server named them."""

    def __init__(self, what: str, wait: float = 0.0) -> None:
        super().__init__(what)
        self.wait = wait


def endpoint() -> str:
    """The hub's address: `HF_ENDPOINT`, or the public one."""
    return os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")


def authorization(url: str) -> dict[str, str]:
    """The token's header when `url` is on the hub's own host over TLS (or on this machine), else nothing."""
    token, address = os.environ.get(TOKEN), urlsplit(url)
    own = address.netloc == urlsplit(endpoint()).netloc
    if not token or not own or not (address.scheme == "https" or address.hostname in _LOOPBACK):
        return {}
    return {"Authorization": f"Bearer {token}"}


def download(request: Request, target: Path) -> Fetched:
    """Fetch a file, or go on where an earlier call stopped; a target that is already there is only checked.

    Raises:
        BadInput: not found; access refused (says where to ask and where to put the file); wrong digest or size (what
            came is removed); the server stopped answering (what came is kept); not enough disk.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists():
        return _checked(request, target, target)
    part = target.with_name(target.name + ".part")
    failures, furthest = 0, _length(part)
    while True:
        try:
            _receive(request, target, part)
            return _checked(request, part, target)
        except (httpx.RequestError, _Trouble) as trouble:
            failures = 0 if _length(part) > furthest else failures + 1
            furthest = max(furthest, _length(part))
            reason = str(trouble) or type(trouble).__name__
            if failures >= ATTEMPTS:
                raise BadInput(
                    f"{request.name}: gave up after {failures} tries without a new byte ({reason}); what came is kept, "
                    "run again to go on",
                    file=part,
                    got=f"{_length(part)} bytes",
                ) from None
            print(redacted(f"{request.name}: {reason}; trying again"), file=sys.stderr)
            wait = max(getattr(trouble, "wait", 0.0), PAUSE * 2 ** max(failures - 1, 0))
            time.sleep(min(wait, LONGEST_PAUSE))


def _receive(request: Request, target: Path, part: Path) -> None:
    """One request, from where the part ends; raises `_Trouble` when the body is not complete."""
    version = part.with_name(part.name + ".version")
    offset, known = _length(part), version.read_text() if version.exists() else ""
    if offset and not known and request.sha256 is None:
        offset = 0  # nothing could tell whether the rest belongs to the same version
    headers = {"Accept-Encoding": "identity", **authorization(request.url)}
    headers |= {"User-Agent": request.agent} if request.agent else {}
    if offset:
        headers |= {"Range": f"bytes={offset}-"} | ({"If-Range": known} if known else {})
    # httpx drops the Authorization header when a redirect leaves the host: the storage behind the hub never sees it.
    with (
        httpx.Client(follow_redirects=True, timeout=SILENCE) as client,
        client.stream("GET", request.url, headers=headers) as response,
    ):
        if response.status_code == 416 and offset in {_complete_length(response), request.size}:
            return  # stopped between the last byte and the new name
        if response.status_code == 416:
            _forget(part)
            raise _Trouble(f"the server has no byte {offset}, starting over")
        _refuse(response, request, target)
        resumed = response.status_code == 206
        if resumed and (_first_byte(response) != offset or (known and _version(response) not in {"", known})):
            _forget(part)
            raise _Trouble("the server sent another range or version than asked for, starting over")
        start = offset if resumed else 0
        length = response.headers.get("Content-Length")
        total = start + int(length) if length else request.size
        if request.size is not None and total != request.size:
            _forget(part)
            raise BadInput(f"{request.name}: wrong size", got=total, expected=f"{request.size} bytes")
        require_space(target.parent, (total or 0) - start, request.name)
        if not resumed:
            version.write_text(_version(response))
        every = 0.5 if sys.stderr.isatty() else 60  # seconds between lines of a log
        with (
            part.open("r+b" if resumed else "wb") as out,
            tqdm(
                desc=target.name, initial=start, total=total, unit="B", unit_scale=True, mininterval=every, leave=False
            ) as progress,
        ):
            out.seek(start)
            for chunk in response.iter_raw():  # as they come: a buffered rest would be lost when the connection breaks
                out.write(chunk)
                progress.update(len(chunk))
        if total is not None and _length(part) < total:
            raise _Trouble(f"cut at byte {_length(part)} of {total}")


def _refuse(response: httpx.Response, request: Request, target: Path) -> None:
    """Turn an error status into trouble (worth another try) or bad input (not)."""
    status = response.status_code
    if status < 400:
        return
    said = f"the server answered {status}{_reason(response)}"
    if status in {408, 425, 429} or status >= 500:
        after = response.headers.get("Retry-After", "")
        raise _Trouble(said, float(after) if after.isdigit() else 0.0)
    own = f"the file brought by you, as {target}"
    if status in {401, 403}:
        token = "was refused" if authorization(request.url) else "is not set, or not for this host"
        raise BadInput(
            f"{request.name}: access refused ({status}); the token in {TOKEN} {token}",
            file=target,
            expected=f"access asked for at {request.page or request.url} and a token in the environment variable "
            f"{TOKEN}, or {own}",
        )
    if status == 404:
        expected = f"a file of this revision, or {own}"
        raise BadInput(f"{request.name}: not found (404)", got=request.url, expected=expected)
    raise BadInput(f"{request.name}: {said}", got=request.url, expected=own)


def _reason(response: httpx.Response) -> str:
    """What a plain text says with an error status, its first line; nothing of HTML."""
    if not response.headers.get("Content-Type", "").startswith("text/plain"):
        return ""
    text = next(response.iter_text(LONGEST_REASON), "").strip().partition("\n")[0]
    return f": {text}" if text else ""


def _checked(request: Request, path: Path, target: Path) -> Fetched:
    """Compare size and digest, then give the file its name; a wrong one is removed."""
    size, digest = path.stat().st_size, sha256_of(path)
    for what, got, expected in (("size", size, request.size), ("sha256", digest, request.sha256)):
        if expected is not None and got != expected:
            _forget(path)
            raise BadInput(
                f"{request.name}: wrong {what}; the file was removed", file=path, got=got, expected=str(expected)
            )
    path.replace(target)
    target.with_name(target.name + ".part.version").unlink(missing_ok=True)
    return Fetched(target, digest, size)


def _length(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _forget(part: Path) -> None:
    part.unlink(missing_ok=True)
    part.with_name(part.name + ".version").unlink(missing_ok=True)


def _version(response: httpx.Response) -> str:
    """A strong ETag, else the date of the last change; `If-Range` allows nothing else."""
    tag = response.headers.get("ETag", "")
    return tag if tag.startswith('"') else response.headers.get("Last-Modified", "")


def _first_byte(response: httpx.Response) -> int | None:
    first = response.headers.get("Content-Range", "").removeprefix("bytes ").partition("-")[0]
    return int(first) if first.isdigit() else None


def _complete_length(response: httpx.Response) -> int | None:
    length = response.headers.get("Content-Range", "").rpartition("/")[2]
    return int(length) if length.isdigit() else None
