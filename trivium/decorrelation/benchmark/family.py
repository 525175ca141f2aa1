"""Where models come from, and how one is found by what a person typed (docs/odmap.md).

open_clip:ViT-B-32/openai   hf:openai/clip-vit-base-patch32   sentence_transformers:clip-ViT-B-32
npy:my_embeddings           ./my_model
"""

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from huggingface_hub import HfApi, snapshot_download
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

from trivium.core.errors import BadInput
from trivium.core.registry import Registry

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


FAMILY = "trivium.decorrelation.benchmark.families"


class Family(ABC):
    """One kind of models.

    Attributes:
        name: of its module.
        file: by which a folder of it is known.
    """

    name: ClassVar[str]
    file: ClassVar[str]

    @staticmethod
    @abstractmethod
    def check(where: str) -> None:
        """Refuse what can be refused before anything is downloaded or loaded.

        Raises:
            BadInput: no such model.
        """

    @staticmethod
    @abstractmethod
    def load(where: str) -> Any:
        """An `Embedder` in float32 on its device, or `KeptEmbeddings`; its `note` says what to know of its results.

        Raises:
            BadInput: it cannot be had, or is no model of pictures and texts.
        """


FAMILIES: Registry[Family] = Registry(FAMILY, "kind of model", "--model")


@dataclass(frozen=True)
class NamedModel:
    """A model as it was asked for.

    Attributes:
        name: on the leaderboard.
        family: a name of `FAMILIES`.
        where: what the family loads.
    """

    name: str
    family: str
    where: str

    def load(self) -> Any:
        """See `Family.load`."""
        return FAMILIES[self.family].load(self.where)


def find_model(asked: str) -> NamedModel:
    """The model of `FAMILY:WHERE`, of a folder, or of `NAME=` and one of these; checked as far as can be done quickly.

    Raises:
        BadInput: no such family, a folder that no family knows, or what its family refuses.
    """
    given, equals, rest = asked.partition("=")
    if not equals or not given or re.search(r"[:/\\]", given):
        given, rest = "", asked
    family, colon, where = rest.partition(":")
    if not colon or Path(rest).is_dir():
        folder = Path(rest)
        if not folder.is_dir():
            raise BadInput("no such folder, and no kind of model", field="--model", got=rest,
                           expected="a folder, or KIND:MODEL", choices=[f"{each}:" for each in FAMILIES])  # fmt: skip
        family, where = _family_of(folder), rest
    found = FAMILIES[family]
    if not where:
        raise BadInput("a kind of model without a model", field="--model", got=rest, expected=f"{family}:MODEL")
    found.check(where)
    return NamedModel(given or (Path(rest).resolve().name if Path(rest).is_dir() else rest), family, where)


def _family_of(folder: Path) -> str:
    # The folder of a sentence-transformers model may hold a configuration of transformers, too.
    known = {name: FAMILIES[name].file for name in ("open_clip", "sentence_transformers", "hf", "npy")}
    for name, file in known.items():
        if (folder / file).is_file():
            return name
    raise BadInput(
        "a folder without a model that is known", file=folder, expected=f"one of {', '.join(known.values())}"
    )
