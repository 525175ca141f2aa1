"""LaMa (Suvorov et al. 2022), in the place of the paper's Yu et al. 2018, through lama-cleaner."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import Field

from trivium.core.arithmetic import is_portable
from trivium.decorrelation.painting.filling import Filling, Settings
from trivium.decorrelation.painting.inpainter import Inpainter
from trivium.formats.masks import Mask, Pixels


class LamaSettings(Settings):
    """Settings of LaMa's workers."""

    batch: int = Field(default=8, ge=1, description="Pictures of one size together; halved when GPU memory runs out")
    workers: int = Field(default=1, ge=1, description="Processes, or processes a GPU, each with the model")


class Lama(Filling[LamaSettings]):
    """LaMa by one worker with the model a process, kept from shard to shard."""

    name = "lama"
    label = "LaMa"
    inpaints = True
    teraflop = 0.5
    Settings = LamaSettings
    weights = "lama"

    def __init__(self, settings: LamaSettings, weights: Path | None = None) -> None:
        super().__init__(settings)
        precision = [] if is_portable() else ["--bf16"]
        self._worker = Inpainter(["lama", "--file", str(weights), "--batch-size", str(settings.batch), *precision])

    @classmethod
    def processes(cls, settings: LamaSettings) -> int:
        """The `workers` of the settings: every process holds the model."""
        return settings.workers

    def paint(self, pictures: Sequence[tuple[Pixels, Mask]]) -> Iterator[Pixels]:
        """Paint by the network."""
        return self._worker.paint(pictures)
