"""Where a package goes: a new folder, or a repository of the hub in one commit."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
from huggingface_hub import CommitOperationAdd, HfApi
from huggingface_hub.errors import HfHubHTTPError, RepositoryNotFoundError

from trivium.commands.sharing.package import Package
from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.sources.download import TOKEN

_OF_THE_HUB = {".gitattributes"}


def require_new(folder: Path) -> None:
    """Refuse a folder that is there."""
    if folder.exists():
        raise BadInput("the folder exists already", file=folder, expected="a new folder")


def write_folder(package: Package, folder: Path) -> None:
    """Copy the files; the folder is complete or absent.

    Raises:
        BadInput: it is there.
    """
    require_new(folder)
    with write_atomically(folder) as beside:
        for name, each in package.files.items():
            (beside / name).parent.mkdir(parents=True, exist_ok=True)
            if isinstance(each, bytes):
                (beside / name).write_bytes(each)
            else:
                shutil.copyfile(each, beside / name)


def hub_api() -> HfApi:
    """The hub, with the token of the environment and no other.

    Raises:
        BadInput: there is none.
    """
    if not (token := os.environ.get(TOKEN)):
        raise BadInput("no token", field=TOKEN, expected="one that may write, in this environment variable")
    return HfApi(endpoint=os.environ.get("HF_ENDPOINT"), token=token)


def send(package: Package, repository: str, api: HfApi, *, public: bool = False) -> str:
    """Put the files into a repository in one commit; it is made where there is none, private unless `public`.

    A repository that is there keeps who may see it.

    Returns:
        The commit's address.

    Raises:
        BadInput: it holds files that the package lacks and that its card would say nothing of, or the hub refuses.
    """
    there = _asked(repository, lambda: _files(package, repository, api))
    if others := sorted(there - set(package.files) - _OF_THE_HUB):
        raise BadInput("the repository holds other files", field="--hub", got=others[:3],
                       expected="a new one, or one that the same output was sent to")  # fmt: skip
    operations = [
        CommitOperationAdd(name, each if isinstance(each, bytes) else str(each))
        for name, each in sorted(package.files.items())
    ]

    def commit() -> str:
        api.create_repo(repository, repo_type=package.kind, private=not public, exist_ok=True)
        made = api.create_commit(
            repository, operations, commit_message="Share an output of Trivium's graph", repo_type=package.kind
        )
        return str(made.commit_url)

    return str(_asked(repository, commit))


def _files(package: Package, repository: str, api: HfApi) -> set[str]:
    try:
        return set(api.list_repo_files(repository, repo_type=package.kind))
    except RepositoryNotFoundError:
        return set()


def _asked(repository: str, ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except (HfHubHTTPError, httpx.HTTPError, OSError) as error:
        reason = str(error).strip().replace("\n", " ")
        raise BadInput(f"the hub refuses: {reason}", field="--hub", got=repository) from None
