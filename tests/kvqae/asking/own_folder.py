"""A folder of texts and pictures, and a tiny encoder of pictures, as a person would bring them."""

import errno
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.kvqae.tiny_encoders import write_clip
from trivium.kvqae.asking.asker import Asker
from trivium.kvqae.asking.encoding import VERSION, BaseSettings
from trivium.kvqae.asking.own_base import OwnBase


def write_picture(path: Path, seed: int, side: int = 40) -> Path:
    """A picture of its own: coarse coloured squares."""
    path.parent.mkdir(parents=True, exist_ok=True)
    squares = np.random.default_rng(seed).integers(0, 256, (4, 4, 3), np.uint8)
    Image.fromarray(squares).resize((side, side), Image.Resampling.NEAREST).save(path)
    return path


def write_entry(folder: Path, name: str, seed: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.txt").write_text(f"{name} stands in Bern. It was built in {1800 + seed}.", "utf-8")
    write_picture(folder / f"{name}.png", seed)


def write_folder(folder: Path, entries: int) -> Path:
    for number in range(entries):
        write_entry(folder, f"tower_{number:02d}", number)
    return folder


def close(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody may read this folder, not even root."""
    scandir = os.scandir

    def refusing(path: Any = ".") -> Any:
        if Path(path) == folder:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)


def settings(root: Path, source: Path, **changes) -> BaseSettings:
    """Of a base with one tiny encoder of whole pictures, and BM25."""
    if not (root / "clip").exists():
        write_clip(root / "clip")
    return BaseSettings(version=VERSION, source=source, image_encoders={"clip": str(root / "clip")}, **changes)


def open_asker(folder: Path, foreign: Any, *reader: Any) -> Asker:
    return Asker(lambda: OwnBase(folder, foreign, *reader))
