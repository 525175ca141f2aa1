"""Download files so that they are complete and right, or absent, one by one or as whole sources of the pins file.

Bytes are written to `<file>.part`. A later call continues a part only if a digest can show that both halves are of one
version. The hub's token comes from the environment and is sent to the hub's own host only.

A source's files are named by the pins file, or listed by the hub at the pinned revision. Where the pins file has no
digest, the digest that the hub states for a large file is checked, and that of the download is recorded. A download's
path depends only on its address and revision: no change of code or parameters repeats it.
"""

import hashlib
import os
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from urllib.parse import urlsplit

from huggingface_hub import HfApi, hf_hub_url
from huggingface_hub.errors import HfHubHTTPError
from huggingface_hub.file_download import http_get
from huggingface_hub.hf_api import RepoFile

from trivium.core.atomic import write_folder
from trivium.core.errors import BadInput, redact
from trivium.sources.brought import require_space, sha256_of
from trivium.sources.pins import FilePin, Pins

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
    """A file to fetch."""

    url: str
    name: str  # what messages call it, e.g. `PaulLerner/viquae_dataset: train.jsonl at revision 779bec4`
    sha256: str | None = None  # None: unknown, any file is accepted and its digest returned
    size: int | None = None  # bytes; None: unknown
    page: str | None = None  # address of the page where a person can ask for access
    agent: str = ""  # the User-Agent header; empty: huggingface_hub's


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
            problem = f"{request.name}: wrong {what}; the file was removed"
            raise BadInput(problem, file=path, got=got, expected=str(expected))
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
    problem = f"gave up after {failures} tries without a new byte ({reason}); what came is kept, run again to go on"
    raise BadInput(f"{request.name}: {problem}", file=part, got=f"{_length(part)} bytes")


def _refusal(request: Request, target: Path, status: int, message: str | None) -> BadInput:
    """Make the error for a status that further tries would not change."""
    own = f"the file brought by you, as {target}"
    if status in {401, 403}:
        token = "was refused" if authorization(request.url) else "is not set, or not for this host"
        access = f"access asked for at {request.page or request.url} and a token in the environment variable {TOKEN}"
        problem = f"{request.name}: access refused ({status}); the token in {TOKEN} {token}"
        return BadInput(problem, file=target, expected=f"{access}, or {own}")
    if status == 404:
        expected = f"a file of this revision, or {own}"
        return BadInput(f"{request.name}: not found (404)", got=request.url, expected=expected)
    detail = f": {message.splitlines()[0]}" if message else ""
    return BadInput(f"{request.name}: the server answered {status}{detail}", got=request.url, expected=own)


def _length(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


class Hub:
    """Fetches whole sources of the pins file into `folder/<source>/<revision>/`, where they stay until dropped.

    A source is used by one stage only. Digests that are not pinned are recorded in `pins`, by default the project's.
    """

    def __init__(self, folder: Path, pins: Pins | None = None) -> None:
        self.folder, self.pins = folder, pins or Pins()

    def fetch(self, name: str) -> dict[str, Path]:
        """Download every file of a source; returns its files by name, in order; raises as `download`."""
        source, paths = self.pins.source(name), {}
        revision = self._revision(name) if source.hub else None
        files, stated = list(source.files or ()), dict[str, FilePin]()
        if source.list or (source.hub and any(self.pins.file(name, file).sha256 is None for file in files)):
            stated = self._listing(name, str(revision))
            patterns = (source.list or "").split()
            matching = (file for file in stated if any(fnmatch(file, pattern) for pattern in patterns))
            files = files or sorted(file for file in matching if ".." not in file)
            if not files:
                raise BadInput("no file matches", file=source.hub, field="list", got=source.list, choices=stated)
        for file in files:
            pin, listed = self.pins.file(name, file), stated.get(file, FilePin())
            at_hub = {"repo_type": source.kind, "revision": revision, "endpoint": endpoint()}
            request = Request(
                url=f"{source.url}/{file}" if source.url else hf_hub_url(str(source.hub), file, **at_hub),
                name=f"{source.hub or name}: {file}" + (f" at revision {revision}" if revision else ""),
                sha256=pin.sha256 or listed.sha256,
                size=listed.size if pin.size is None else pin.size,
                page=source.page or (source.hub and f"{endpoint()}/{self._place(name)}"),
            )
            paths[file] = self._folder_of(name) / file
            self.pins.record_file(name, file, download(request, paths[file]))
        return paths

    def bytes_there(self, name: str) -> int:
        """Count the bytes of a source that earlier runs downloaded."""
        return sum(path.stat().st_size for path in self._folder_of(name).rglob("*") if path.is_file())

    def drop(self, *names: str) -> None:
        """Remove the downloads of these sources, of all revisions."""
        for name in names:
            shutil.rmtree(self.folder / name, ignore_errors=True)

    def _folder_of(self, name: str) -> Path:
        """Return where the files of a source lie, by its revision, or by its address if it is a folder on the web."""
        source = self.pins.source(name)
        address = hashlib.sha256(str(source.url).encode()).hexdigest()[:16]
        return self.folder / name / (str(self.pins.revision(name)) if source.hub else address)

    def _place(self, name: str) -> str:
        source = self.pins.source(name)
        return f"datasets/{source.hub}" if source.kind == "dataset" else str(source.hub)

    def _revision(self, name: str) -> str:
        """Return the full commit of a repository: the known one, else the newest that begins as pinned."""
        revision = self.pins.revision(name)
        if revision is None:
            source = self.pins.source(name)
            with self._asking(name) as api:
                log = api.list_repo_commits(str(source.hub), repo_type=source.kind)
            commits = [commit.commit_id for commit in log]
            revision = next((commit for commit in commits if commit.startswith(source.revision or "")), None)
            if revision is None:
                raise BadInput("no such revision", file=source.hub, got=source.revision, choices=commits)
            self.pins.record_revision(name, revision)
        return revision

    def _listing(self, name: str, revision: str) -> dict[str, FilePin]:
        """List the files of a repository, with size and (for large files) digest as the hub states them."""
        source = self.pins.source(name)
        with self._asking(name) as api:
            tree = api.list_repo_tree(str(source.hub), recursive=True, revision=revision, repo_type=source.kind)
            files = [entry for entry in tree if isinstance(entry, RepoFile)]
        return {file.path: FilePin(sha256=file.lfs.sha256 if file.lfs else None, size=file.size) for file in files}

    @contextmanager
    def _asking(self, name: str) -> Iterator[HfApi]:
        """Yield the hub's client; `BadInput` says why the hub does not answer about a source."""
        token = os.environ[TOKEN] if authorization(f"{endpoint()}/") else False
        try:
            yield HfApi(endpoint=endpoint(), token=token)
        except HfHubHTTPError as error:
            status = error.response.status_code
            problem = f"{self.pins.source(name).hub}: the hub refused to list the repository ({status})"
            got = f"revision {self.pins.revision(name) or self.pins.source(name).revision}"
            access = f"access asked for at {endpoint()}/{self._place(name)} and a token in {TOKEN}"
            expected = f"a repository that exists; if it is gated, {access}"
            raise BadInput(problem, got=got, expected=expected) from None
        except HTTP_ERROR as error:
            raise BadInput(f"{endpoint()} cannot be reached: {error}", expected="a network, or a local world") from None


Files = dict[str, Path]


@contextmanager
def fetch_into(names: Sequence[str], out: Path, downloads: Path) -> Iterator[tuple[Path, dict[str, Files], Pins]]:
    """Yield a folder beside `out`, the files of each source, and their pins; on success the folder takes its place.

    Downloads stay in their folder until everything is written, even if the run is interrupted; then they are removed.
    """
    hub = Hub(downloads)
    needed = 2 * sum(hub.pins.source(name).bytes for name in names) - sum(map(hub.bytes_there, names))
    require_space(downloads, needed, ", ".join(names))
    files = {name: hub.fetch(name) for name in names}
    with write_folder(out) as temporary:
        yield temporary, files, hub.pins
    hub.drop(*names)
