"""`trivium push`: what the graph has made leaves with a true card, for a folder or a repository of the hub.

trivium push
trivium push models/decorrelation/cells/coco_clip_ours_0 --folder shared/my_clip --send
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from trivium.core.errors import BadInput


def parser() -> argparse.ArgumentParser:
    """What the command takes."""
    made = argparse.ArgumentParser(
        prog="trivium push",
        description="Share a model or a data set that the graph has made, with a card that says what it is, where it "
        "is from and how to load it. Nothing leaves without --send: the card and the files are shown.",
        epilog="What can leave, and what the card says: docs/sharing.md.",
    )
    made.add_argument("output", nargs="?", metavar="OUTPUT", help="a path of the project; without one all are listed")
    where = made.add_mutually_exclusive_group()
    where.add_argument("--folder", type=Path, metavar="FOLDER", help="a new folder to write it to")
    where.add_argument("--hub", metavar="OWNER/NAME", help="a repository of the hub; the token is in HF_TOKEN")
    made.add_argument("--send", action="store_true", help="write or upload the files; without this they are only shown")
    made.add_argument("--public", action="store_true", help="make a new repository public, not private")
    return made


def main(argv: Sequence[str] | None = None) -> None:
    """List, show or send."""
    read = parser()
    arguments = read.parse_args(argv)
    if arguments.output and arguments.folder is None and arguments.hub is None:
        read.error("--folder or --hub is needed")
    if not arguments.output and (arguments.send or arguments.folder or arguments.hub):
        read.error("OUTPUT is needed")
    if arguments.public and not arguments.hub:
        read.error("--public is only for --hub")
    try:
        print("\n".join(_listed() if not arguments.output else _pushed(arguments)))
    except BadInput as error:
        print(f"push: {error}", file=sys.stderr)
        raise SystemExit(1) from None


def _listed() -> list[str]:
    from trivium.commands.sharing.package import shareable

    found = shareable(Path())
    width = max(map(len, found), default=0)
    lines = [f"{path:{width}}  {kind.kind}" for path, kind in found.items()]
    return lines or ["Nothing that can be shared was made yet: run `make repro` first."]


def _pushed(arguments: argparse.Namespace) -> list[str]:
    from trivium.commands.sharing.destination import hub_api, require_new, send, write_folder
    from trivium.commands.sharing.package import Target
    from trivium.commands.sharing.packing import packed

    target = Target(arguments.hub or str(arguments.folder), hub=arguments.hub is not None)
    if not target.hub:
        require_new(arguments.folder)
    api = hub_api() if target.hub and arguments.send else None
    with packed(Path(), arguments.output, target) as package:
        if api is not None:
            return [f"Sent: {send(package, target.name, api, public=arguments.public)}"]
        if arguments.send:
            write_folder(package, arguments.folder)
            return [f"Written: {arguments.folder}"]
        files = [f"{size:>14,}  {name}" for name, size in package.sizes().items()]
        where = f"the {package.kind} repository {target.name}" if target.hub else f"the folder {target.name}"
        return [package.card, *files, f"Nothing was sent. With --send this goes to {where}."]


if __name__ == "__main__":
    main()
