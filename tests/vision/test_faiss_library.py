"""faiss multiplies with the kernels of this processor, and nobody else hears of it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from trivium.vision.neighbours import CORE, named_kernels

ASKED = """
import ctypes, glob, os, importlib.util
from trivium.vision.neighbours import faiss
libraries = os.path.join(os.path.dirname(os.path.dirname(faiss.__file__)), "faiss*.libs", "libopenblas*")
library = ctypes.CDLL(next(iter(glob.glob(libraries))))
library.openblas_get_corename.restype = ctypes.c_char_p
print(library.openblas_get_corename().decode(), os.environ.get("OPENBLAS_CORETYPE"))
"""


def asked(**environment):
    """The kernels of faiss's OpenBLAS in a fresh process, and what its environment says after."""
    inherited = {name: value for name, value in os.environ.items() if name != CORE}
    done = subprocess.run(
        [sys.executable, "-c", ASKED], env=inherited | environment, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


@pytest.mark.skipif(
    not Path("/proc/cpuinfo").exists() or "avx2" not in Path("/proc/cpuinfo").read_text(), reason="needs AVX2 and Linux"
)
def test_no_processor_is_taken_for_an_old_one():
    core, told = asked()
    assert core in {"SkylakeX", "Haswell", "Zen", "Cooperlake", "Sapphirerapids"}
    assert told == "None"
    assert asked(**{CORE: "Haswell"}) == ["Haswell", "Haswell"]


@pytest.mark.parametrize(
    ("flags", "core"), [("fma avx2 avx512bw", "SkylakeX"), ("fma avx2", "Haswell"), ("sse4_2", None), (None, None)]
)
def test_the_fastest_kernels_that_the_processor_has_are_named(flags, core, tmp_path, monkeypatch):
    monkeypatch.delenv(CORE, raising=False)
    if flags is not None:
        (tmp_path / "cpuinfo").write_text(f"processor : 0\nflags : {flags}\n")
    with named_kernels(tmp_path / "cpuinfo"):
        assert os.environ.get(CORE) == core
    assert CORE not in os.environ
    monkeypatch.setenv(CORE, "Zen")
    with named_kernels(tmp_path / "cpuinfo"):
        assert os.environ[CORE] == "Zen"
    assert os.environ[CORE] == "Zen"
