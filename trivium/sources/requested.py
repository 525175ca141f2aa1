"""Sets that their owners give on request only: listed, never downloaded."""

from collections.abc import Sequence
from pathlib import Path

from trivium.core.errors import BadInput
from trivium.sources.pins import Pins

REQUESTED = Path(__file__).with_name("requested.yaml")


def refuse_download(name: str, *, folders: Sequence[str] = ()) -> BadInput:
    """Why a set on request cannot be downloaded, and what to do.

    Args:
        name: of the set in `requested.yaml` and in `world`.
        folders: what else the user's folder must hold.
    """
    source = Pins(REQUESTED).source(name)
    needed = ", ".join(source.files or ()) + "".join(f" and {folder}/" for folder in folders)
    return BadInput(
        f"{source.description}, is given on request only ({source.licence})",
        field=f"world.{name}",
        got="hub",
        expected=f"ask for it at {source.page}, put {needed} into the folder "
        f"world.local.{name} names, and set world.{name}: local",
        choices=("sample", "local"),
    )
