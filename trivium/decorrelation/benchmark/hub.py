"""Download models and data sets from the Hugging Face hub: only the files needed, none of them executable."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trivium.core.errors import BadInput

# Of the hub neither code nor pickles; sentencepiece's models bear the last suffix.
_FILES = ["*.json", "*.safetensors", "*.txt", "*.model", "*.jinja"]
_ROBOT = "SFconvertbot"


def hub_folder(name: str, field: str, patterns: Sequence[str], kind: str = "model", **options: Any) -> Path:
    """Download files of OWNER/NAME, a model or a dataset, that match `patterns`; returns the folder that keeps them.

    `field` is for messages, `options` are for `snapshot_download`. `BadInput`: the hub does not have it, or cannot
    be reached.
    """
    import huggingface_hub as hub
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    try:
        return Path(str(hub.snapshot_download(name, allow_patterns=[*patterns], repo_type=kind, **options)))
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise BadInput(f"cannot be had from the hub: {reason}", field=field, got=name) from None


def model_folder(source: str, owner: str = "") -> Path:
    """A model's folder: the `source` itself, or that of the hub's files; a name without one belongs to `owner`.

    Only what is needed is fetched, and nothing that could run. Raises as `hub_folder`.
    """
    if Path(source).is_dir():
        return Path(source)
    name = source if "/" in source or not owner else f"{owner}/{source}"
    folder = hub_folder(name, "--model", _FILES)
    if any(folder.rglob("*.safetensors")):
        return folder
    import huggingface_hub as hub

    # Of older models only a revision that the hub's own robot has proposed holds safetensors.
    proposed = hub.HfApi().get_repo_discussions(
        name, author=_ROBOT, discussion_type="pull_request", discussion_status="open"
    )
    for number in [proposal.num for proposal in proposed if proposal.author == _ROBOT][:1]:
        folder = hub_folder(name, "--model", _FILES, revision=f"refs/pr/{number}")
    return folder
