"""`trivium push`: share a model or a data set that the graph has made, in a folder or a repository of the hub.

    trivium push
    trivium push models/decorrelation/cells/coco_clip_ours_0 --folder shared/my_clip --send

A card says what it is, where it is from and how to load it. Nothing leaves without --send: the card and the files are
shown. What can leave, and what the card says: docs/sharing.md.
"""

import os
import re
import shutil
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput

TOKEN = "HF_TOKEN"
Files = Mapping[str, Path]  # {path there: a file}


def options(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("output", nargs="?", metavar="OUTPUT", help="a path of the project; without one all are listed")
    target = parser.add_mutually_exclusive_group()
    target.add_argument("--folder", type=Path, metavar="FOLDER", help="a new folder to write it to")
    target.add_argument("--hub", metavar="OWNER/NAME", help="a repository of the hub; the token is in HF_TOKEN")
    add("--send", action="store_true", help="write or upload the files; without this they are only shown")


def run(arguments: Namespace) -> None:
    """List, show or send outputs.

    Raises:
        BadInput: see `pack_output` and `send`; the folder exists already, or there is no token.
    """
    folder, hub = arguments.folder, arguments.hub
    if arguments.output and folder is None and hub is None:
        arguments.refuse("--folder or --hub is needed")
    if not arguments.output and (arguments.send or folder or hub):
        arguments.refuse("OUTPUT is needed")
    from trivium.commands.sharing import shareable
    from trivium.commands.sharing_kinds import pack_output
    from trivium.nets.cards import CARD

    kinds = shareable(Path())
    if not arguments.output:
        width = max(map(len, kinds), default=0)
        lines = [f"{name:{width}}  {kind}" for name, kind in kinds.items()]
        print("\n".join(lines) or "Nothing that can be shared was made yet: run `make repro` first.")
        return
    path = str(PurePosixPath(arguments.output))
    if hub and not re.fullmatch(r"[\w-][\w.-]*/[\w-][\w.-]*", hub):
        raise BadInput("not a repository's name", field="--hub", got=hub, expected="OWNER/NAME")
    if folder and folder.exists():
        raise BadInput("the folder exists already", file=folder, expected="a new folder")
    if hub and arguments.send and not os.environ.get(TOKEN):
        raise BadInput("no token", field=TOKEN, expected="one that may write, in this environment variable")
    with pack_output(Path(), path, hub or str(folder), hub=bool(hub)) as files:
        if arguments.send and hub:
            print(f"Sent: {send(files, hub, kinds[path])}")
        elif arguments.send:
            write_folder(files, folder)
            print(f"Written: {folder}")
        else:
            target = f"the {kinds[path]} repository {hub}" if hub else f"the folder {folder}"
            rows = [f"{file.stat().st_size:>14,}  {name}" for name, file in sorted(files.items())]
            card = files[CARD].read_text("utf-8")
            print("\n".join([card, *rows, f"Nothing was sent. With --send this goes to {target}."]))


def write_folder(files: Files, folder: Path) -> None:
    """Copy the files; the folder is complete or absent."""
    with write_atomically(folder) as part:
        for name, file in files.items():
            (part / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, part / name)


def send(files: Files, repository: str, kind: str) -> str:
    """Put the files into a repository of the hub in one commit; a new one is private.

    A repository that is there keeps who may see it. The token is the environment's and no other.

    Returns:
        The commit's address.

    Raises:
        BadInput: it holds files that are not sent and that its card would say nothing of, or the hub refuses.
    """
    from huggingface_hub import CommitOperationAdd, HfApi

    from trivium.sources.download import HTTP_ERROR

    api = HfApi(endpoint=os.environ.get("HF_ENDPOINT"), token=os.environ[TOKEN])
    operations = [CommitOperationAdd(name, str(file)) for name, file in files.items()]
    try:
        api.create_repo(repository, repo_type=kind, private=True, exist_ok=True)
        if others := sorted({*api.list_repo_files(repository, repo_type=kind)} - {*files, ".gitattributes"}):
            raise BadInput("the repository holds other files", field="--hub", got=others[:3],
                           expected="a new one, or one that the same output was sent to")  # fmt: skip
        message = "Share an output of Trivium's graph"
        return str(api.create_commit(repository, operations, commit_message=message, repo_type=kind).commit_url)
    except (HTTP_ERROR, OSError) as error:
        reason = str(error).strip().replace("\n", " ")
        raise BadInput(f"the hub refuses: {reason}", field="--hub", got=repository) from None
