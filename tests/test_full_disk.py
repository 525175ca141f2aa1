"""A full disk, whatever the library that meets it calls it; files that are not there or not text."""

import errno
import os
import shutil
from types import SimpleNamespace

import pytest

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.matrices import write_matrix

NO_WORD = "unexpected pos 768 vs 662"  # what torch.save says


@pytest.fixture
def full(monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(total=1, used=1, free=0))


def fail(target, error):
    with write_atomically(target) as beside:
        beside.write_text("half")
        raise error


def test_a_library_that_says_so_in_words(tmp_path):
    """Safetensors: its own exception, and its part of the file is gone, hence space is free again."""
    with pytest.raises(OSError, match="No space left") as caught:
        fail(tmp_path / "model", RuntimeError("I/O error: No space left on device (os error 28)"))
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(tmp_path / "model"))
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("full")
@pytest.mark.parametrize("error", [RuntimeError(NO_WORD), OSError("500000 requested and 131056 written")])
def test_a_library_that_does_not_say_so(tmp_path, error):
    with pytest.raises(OSError, match="No space left") as caught:
        fail(tmp_path / "model", error)
    assert caught.value.errno == errno.ENOSPC
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("full")
def test_bad_input_on_a_full_disk_stays_bad_input(tmp_path):
    with pytest.raises(BadInput, match="no good"):
        fail(tmp_path / "model", BadInput("no good"))


def test_a_matrix_that_does_not_fit_is_refused_before_it_is_filled(tmp_path, monkeypatch):
    """Writing to a mapped hole on a full disk would end the process with SIGBUS."""

    def no_space(file, offset, size):
        assert size >= 3 * 5 * 2
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", no_space)
    with pytest.raises(OSError, match="No space left") as caught, write_matrix(tmp_path / "m.npy", 3, 5):
        raise AssertionError("mapped")
    assert caught.value.filename == str(tmp_path / "m.npy")
    assert not list(tmp_path.iterdir())
