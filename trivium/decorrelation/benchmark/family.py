"""Where models come from, and how one is found by what a person typed (docs/odmap.md).

    open_clip:ViT-B-32/openai   hf:openai/clip-vit-base-patch32   sentence_transformers:clip-ViT-B-32
    npy:my_embeddings           ./my_model

A family is a module of `families/` with one subclass of `Family`; its name is the module's, and the prefix of its
models. A folder without a prefix belongs to the family that knows its files.
"""

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from trivium.core.errors import BadInput
from trivium.core.registry import Registry

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
