"""A model of the Hugging Face hub as a folder: what is needed of it, and nothing that could run."""

import re
from pathlib import Path

from huggingface_hub import snapshot_download
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

from trivium.errors import BadInput

# Neither code nor pickles; sentencepiece's models bear the last suffix.
_WANTED = ["*.json", "*.safetensors", "*.txt", "*.model"]
_NAME = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?")


def check_name(where: str, file: str) -> None:
    """Refuse what is neither a folder with this file nor a name that the hub could have.

    Raises:
        BadInput: neither.
    """
    folder = Path(where)
    if folder.is_dir() and not (folder / file).is_file():
        raise BadInput("no configuration", file=folder / file)
    if not folder.is_dir() and not _NAME.fullmatch(where):
        raise BadInput("no such folder", field="--model", got=where, expected="a folder, or the hub's OWNER/NAME")


def model_folder(where: str, owner: str = "") -> Path:
    """The folder itself, or that in which the hub's files are kept.

    Args:
        where: a folder, or the hub's name of a model.
        owner: of names without one.

    Raises:
        BadInput: the hub does not have it, or cannot be reached.
    """
    if Path(where).is_dir():
        return Path(where)
    name = where if "/" in where or not owner else f"{owner}/{where}"
    try:
        return Path(snapshot_download(name, allow_patterns=_WANTED))
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise BadInput(f"cannot be had from the hub: {reason}", field="--model", got=where) from None
