"""Noun phrases of COCO's captions, found by rule and matched with 80 classes in two processes."""

from pathlib import Path

from bench.matching import captions, ours
from trivium.core.parameters import read_parameters
from trivium.decorrelation.captions.phrases import Settings
from trivium.language.english.word_lists import WORDS

SIZE, UNIT = 616_435, "captions"


def make(folder: Path, size: int) -> None:
    (folder / "captions.txt").write_text("\n".join(captions(size)), encoding="utf-8")


def run(folder: Path, out: Path) -> None:
    texts = (folder / "captions.txt").read_text(encoding="utf-8").split("\n")
    ours(texts, Settings(tuple(read_parameters(WORDS)["classes"]), "strict", "rules", "none"), 2)
