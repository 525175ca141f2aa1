"""Every filling, found by its file: it names itself, describes its settings, and paints what it is given."""

import re
from pathlib import Path

import pytest

from trivium.core.arithmetic import PORTABLE
from trivium.decorrelation.painting.filling import FILLINGS
from trivium.decorrelation.painting.inpainting import InpaintParameters

PARAMETERS = InpaintParameters(dilate=0)


def test_the_papers_fillings_are_there():
    assert {"none", "zero", "mean", "blur", "cv2", "lama"} <= set(FILLINGS)


@pytest.mark.parametrize(("portable", "expected"), [("intel", False), ("x86", False), ("false", True)])
def test_lama_is_asked_for_bf16_where_other_arithmetic_is_allowed(portable, expected, monkeypatch):
    asked = []
    monkeypatch.setenv(PORTABLE, portable)
    monkeypatch.setattr("trivium.decorrelation.painting.fillings.lama.Inpainter", asked.append)
    FILLINGS["lama"](PARAMETERS.settings_of("lama"), Path("big-lama.pt"))
    assert ("--bf16" in asked[0]) == expected


def test_the_table_in_the_docs_has_each():
    table = (
        Path("docs/decorrelation.md")
        .read_text(encoding="utf-8")
        .partition("| Filling | Inside")[2]
        .partition("\n\n")[0]
    )
    named = re.findall(r"`(\w+)`", " ".join(line.split("|")[1] for line in table.splitlines()[1:]))
    assert sorted(named) == [name for name in FILLINGS if name != "none"]
