"""Fillings: what one is, how it is found by its name, and what all share (decorrelation.md §1).

A filling is a module of `fillings/` with one subclass of `Filling`. Its name is the module's, stands in `params.yaml`
(`decorrelation.paintings`, `decorrelation.cells`) and in paths. No other list names it: a new file is a new filling.

Pictures are (height, width, 3) RGB, 8 bits; a mask is boolean (height, width), true where the picture is painted.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Generic, TypeVar

import numpy as np
from pydantic import AfterValidator

from trivium.core.parameters import Parameters
from trivium.core.registry import Registry
from trivium.formats.masks import Mask, Pixels

FAMILY = "trivium.decorrelation.painting.fillings"


class Settings(Parameters):
    """The settings of a filling that has none; others have a subclass of it, with a default for each field."""


S = TypeVar("S", bound=Settings)


class Filling(ABC, Generic[S]):
    """One way to paint an object out.

    Attributes:
        name: of its module.
        label: for tables, as in "pictures painted over with …".
        Settings: what `decorrelation.inpaint.fillings.<name>` may say.
        inpaints: whether it invents what could be behind, as the paper's own filling; table 3 has one row for these.
        teraflop, core_seconds: what a picture of 640 × 480 takes, for `make plan`; the core also reads and writes it.
        weights: folder of its weights in `models/decorrelation/base`, of which `__init__` gets the file; or None.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    Settings: ClassVar[type[Settings]] = Settings
    inpaints: ClassVar[bool] = False
    teraflop: ClassVar[float] = 0.0
    core_seconds: ClassVar[float] = 0.02
    weights: ClassVar[str | None] = None

    def __init__(self, settings: S, weights: Path | None = None) -> None:
        self.settings = settings

    @classmethod
    def processes(cls, settings: S) -> int | None:
        """The number of processes that paint side by side; None: as many as the harness gives."""
        return None

    @abstractmethod
    def paint(self, pictures: Sequence[tuple[Pixels, Mask]]) -> Iterable[Pixels]:
        """The painted pictures, in their order; what they are outside the mask is not used."""


FILLINGS: Registry[Filling] = Registry(FAMILY, "filling", "filling")
FillingName = Annotated[str, AfterValidator(FILLINGS.check)]


def composite(picture: Pixels, painted: Pixels, mask: Mask) -> Pixels:
    """The painted pixels within the mask, the picture's own, bit for bit, everywhere else."""
    return np.where(mask[:, :, None], painted, picture)
