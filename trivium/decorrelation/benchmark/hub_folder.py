"""A model of the Hugging Face hub as a folder: what is needed of it, and nothing that could run."""

import re
from pathlib import Path

from huggingface_hub import HfApi, snapshot_download
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

from trivium.core.errors import BadInput

# Neither code nor pickles; sentencepiece's models bear the last suffix.
_WANTED = ["*.json", "*.safetensors", "*.txt", "*.model"]
_ROBOT = "SFconvertbot"
_NAME = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?")


def _converted(name: str) -> str | None:
    """The revision with safetensors that the hub's own robot has proposed: older models have none but there.

    openai/clip-vit-base-patch32 is one of them; transformers looks there, too.
    """
    proposed = HfApi().get_repo_discussions(
        name, author=_ROBOT, discussion_type="pull_request", discussion_status="open"
    )
    return next((f"refs/pr/{each.num}" for each in proposed if each.author == _ROBOT), None)


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
        folder = Path(snapshot_download(name, allow_patterns=_WANTED))
        if not any(folder.rglob("*.safetensors")) and (revision := _converted(name)):
            folder = Path(snapshot_download(name, revision=revision, allow_patterns=_WANTED))
        return folder
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise BadInput(f"cannot be had from the hub: {reason}", field="--model", got=where) from None
