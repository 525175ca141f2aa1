"""Small trainings of every kind give the same digests natively and on an emulated processor without AVX-512."""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from trivium.core.arithmetic import SETTINGS

ROOT = Path(__file__).parents[2]
MODULE = "tests.core.portable_digests"


def emulator():
    """`qemu-x86_64`, 7.2 or newer: older ones do not know AVX2."""
    if platform.machine() != "x86_64":
        pytest.skip("this processor is no x86")
    path = shutil.which("qemu-x86_64")
    if path is None:
        pytest.skip("qemu-x86_64 is not there (Debian: apt-get install qemu-user)")
    told = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout.split("version ")[1]
    if tuple(map(int, told.split()[0].split(".")[:2])) < (7, 2):
        pytest.skip(f"qemu-x86_64 {told.split()[0]}: 7.2 or newer is needed")
    return path


def digests(folder, setting, *before):
    environment = {name: value for name, value in os.environ.items() if name not in SETTINGS["intel"]}
    folder.mkdir()
    told = subprocess.run(
        [*before, sys.executable, "-m", MODULE, setting],
        cwd=ROOT, env=environment | {"TMPDIR": str(folder)}, capture_output=True, text=True,
    )  # fmt: skip
    assert told.returncode == 0, told.stderr
    return dict(line.split() for line in told.stdout.splitlines())


@pytest.mark.slow
def test_the_same_bits_natively_and_on_a_haswell(tmp_path):
    qemu = emulator()
    native = digests(tmp_path / "native", "haswell")
    assert len(native) == 9
    assert digests(tmp_path / "emulated", "haswell", qemu, "-cpu", "Haswell") == native


@pytest.mark.slow
def test_a_training_has_the_same_bits_twice(tmp_path):
    first = digests(tmp_path / "first", "intel")
    assert digests(tmp_path / "second", "intel") == first
