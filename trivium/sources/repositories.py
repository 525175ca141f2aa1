"""Fetch whole sources of the pins file: files named there, or listed by the hub at the pinned revision.

Where the pins file has no digest, the digest that the hub states for a large file is checked, and that of the download
is recorded. A download's path depends only on its address and revision: no change of code or parameters repeats it.
"""

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import Any
from urllib.parse import quote

from huggingface_hub import HfApi
from huggingface_hub.errors import HfHubHTTPError
from huggingface_hub.hf_api import RepoFile

from trivium.core.atomic import write_folder
from trivium.core.errors import BadInput
from trivium.sources.brought import require_space
from trivium.sources.download import HTTP_ERROR, TOKEN, Request, authorization, download, endpoint
from trivium.sources.pins import FilePin, Pins


class Hub:
    """Fetches whole sources of the pins file into `folder/<source>/<revision>/`; a source is used by one stage only.

    Args:
        folder: where downloads go; kept between runs, until they are dropped.
        pins: what the files must be; digests that are not pinned are recorded there. None: the project's pins file.
    """

    def __init__(self, folder: Path, pins: Pins | None = None) -> None:
        self.folder, self.pins = folder, pins or Pins()

    def fetch(self, name: str) -> dict[str, Path]:
        """Download every file of a source; returns its files by name, in order.

        Raises:
            BadInput: see `download`; or the repository, its revision or every file of its list is missing.
        """
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
            address = f"{source.url}/{file}" if source.url else self._address(name, str(revision), file)
            request = Request(
                url=address,
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

    def _address(self, name: str, revision: str, file: str) -> str:
        return f"{endpoint()}/{self._place(name)}/resolve/{revision}/{quote(file)}"

    def _revision(self, name: str) -> str:
        """Return the full commit of a repository: the known one, else the newest that begins as pinned."""
        revision = self.pins.revision(name)
        if revision is None:
            source = self.pins.source(name)
            log = self._ask(name, lambda api: api.list_repo_commits(str(source.hub), repo_type=source.kind))
            commits = [commit.commit_id for commit in log]
            revision = next((commit for commit in commits if commit.startswith(source.revision or "")), None)
            if revision is None:
                raise BadInput("no such revision", file=source.hub, got=source.revision, choices=commits)
            self.pins.record_revision(name, revision)
        return revision

    def _listing(self, name: str, revision: str) -> dict[str, FilePin]:
        """List the files of a repository, with size and (for large files) digest as the hub states them."""
        source = self.pins.source(name)

        def tree(api: HfApi) -> list[Any]:
            return list(api.list_repo_tree(str(source.hub), recursive=True, revision=revision, repo_type=source.kind))

        files = [entry for entry in self._ask(name, tree) if isinstance(entry, RepoFile)]
        return {file.path: FilePin(sha256=file.lfs.sha256 if file.lfs else None, size=file.size) for file in files}

    def _ask(self, name: str, question: Callable[[HfApi], list[Any]]) -> list[Any]:
        token = os.environ[TOKEN] if authorization(f"{endpoint()}/") else False
        try:
            return question(HfApi(endpoint=endpoint(), token=token))
        except HfHubHTTPError as error:
            status = error.response.status_code
            raise BadInput(
                f"{self.pins.source(name).hub}: the hub refused to list the repository ({status})",
                got=f"revision {self.pins.revision(name) or self.pins.source(name).revision}",
                expected="a repository that exists; if it is gated, access asked for at "
                f"{endpoint()}/{self._place(name)} and a token in {TOKEN}",
            ) from None
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
