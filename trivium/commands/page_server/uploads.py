"""The field that a picture is dropped into, and what lies in the folder of uploads."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from trivium.commands.ask import read_image
from trivium.core.errors import BadInput

if TYPE_CHECKING:  # seconds to import
    import gradio

HOUR = 3600  # seconds that an upload is kept


def read_upload(path: Path, uploads: Path) -> bytes:
    """The bytes of an upload.

    Raises:
        BadInput: it is none, or has gone.
    """
    try:
        if not path.resolve().is_relative_to(uploads.resolve()):
            raise BadInput("not an upload", file=path)
        return read_image(path)
    except BadInput:
        raise BadInput("the picture is no longer there: choose it again") from None


def picture_field() -> "gradio.Image":
    """Where a picture is dropped; whoever answers decodes it, with limits and messages of its own."""
    import gradio

    picture = gradio.Image(
        label="Picture", sources=["upload", "clipboard"], type="filepath", height=280, elem_id="picture"
    )
    picture.preprocess = _path  # type: ignore[method-assign]
    picture.async_move_resource_to_block_cache = _stays  # type: ignore[method-assign, assignment]
    return picture


def _path(payload: Any) -> str | None:
    return None if payload is None else str(payload.path)


async def _stays(path: str) -> str:
    """An upload stays where it is; in gradio this is where a copy is made, and an address is fetched."""
    return path
