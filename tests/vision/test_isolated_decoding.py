"""Decoders in processes: the same pixels, and what breaks, hangs or grows stays in them."""

import contextlib
import io
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import psutil
import pytest
from PIL import Image

from trivium.vision import isolated_decoding
from trivium.vision.decoding import Unreadable, decode
from trivium.vision.isolated_decoding import LITTLE, PROCESSES, Decoders

LIMITS = {"max_side": 64, "max_pixels": 100_000_000}


def encoded(image, kind="PNG", **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def noise(width, height):
    return Image.fromarray(np.random.default_rng(0).integers(0, 256, (height, width, 3), dtype=np.uint8))


def children():
    """The decoders of this process."""
    of_this = psutil.Process().children()
    found = []
    for each in of_this:
        with contextlib.suppress(psutil.NoSuchProcess):
            if isolated_decoding._MODULE in each.cmdline():
                found.append(each)
    return found


@pytest.fixture
def decoders():
    with Decoders(**LIMITS) as made:
        yield made
    assert children() == []


def test_pixels_are_those_of_decode(decoders):
    for data in (encoded(noise(200, 100)), encoded(noise(50, 60), "JPEG"), encoded(Image.new("1", (1, 1)))):
        assert np.array_equal(decoders.decode(data), decode(data, **LIMITS))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "not_an_image"),
        (b"<svg/>", "not_an_image"),
        (encoded(noise(40, 30))[:1000], "corrupt"),
        (encoded(Image.new("1", (8_000, 5_001))), "too_large"),
    ],
)
def test_reasons_are_those_of_decode(decoders, data, reason):
    with pytest.raises(Unreadable) as error:
        decoders.decode(data)
    assert error.value.reason == reason


def test_fifty_at_once_have_two_processes(decoders):
    pictures = [encoded(Image.new("RGB", (90, 60), (number, 0, 0))) for number in range(50)]
    with ThreadPoolExecutor(50) as clients:
        decoded = list(clients.map(decoders.decode, pictures))
        assert len(children()) <= PROCESSES
    assert [picture.getpixel((0, 0)) for picture in decoded] == [(number, 0, 0) for number in range(50)]


def test_a_picture_that_needs_much_memory_gets_it_alone(decoders, monkeypatch):
    data = encoded(Image.new("RGB", (4_000, 4_000), "navy"), "WEBP", method=0)
    assert decoders.decode(data).getpixel((0, 0))[2] > 100
    monkeypatch.setattr(isolated_decoding, "MUCH", 100 * 2**20)
    with pytest.raises(Unreadable):
        decoders.decode(data)
    assert decoders.decode(encoded(noise(8, 6))).size == (8, 6)


def test_what_was_decoded_before_takes_nothing_from_a_picture(decoders):
    """One that needs nearly all that it may have, between a small and a large one."""
    one_row = encoded(Image.new("I;16", (40_000_000, 1)))
    others = [encoded(noise(side, side)) for side in (30, 2_000)]
    for other in others:
        assert decoders.decode(other).size in ((64, 64), (30, 30))
        assert decoders.decode(one_row).size == (64, 1)


def test_a_row_of_forty_million_pixels_in_colours_is_decoded(decoders):
    assert decoders.decode(encoded(Image.new("RGB", (40_000_000, 1)))).size == (64, 1)


def test_a_whole_png_for_which_there_is_no_memory_is_not_called_broken(decoders):
    """Its decoder holds three rows."""
    with pytest.raises(Unreadable, match="too_large: needs too much memory"):
        decoders.decode(encoded(Image.new("RGBA", (40_000_000, 1))))


def test_a_whole_jpeg_for_which_there_is_no_memory_is_not_called_broken(decoders, monkeypatch):
    """A progressive one, of which libjpeg holds all; of a plain one it holds a few rows."""
    white = Image.new("RGB", (6_000, 6_000), "white")
    whole, plain = (encoded(white, "JPEG", subsampling=0, progressive=each) for each in (True, False))
    monkeypatch.setattr(isolated_decoding, "MUCH", LITTLE)
    for data, reason in ((whole, "too_large"), (whole[:9_000], "too_large"), (plain[:9_000], "corrupt")):
        with pytest.raises(Unreadable) as error:
            decoders.decode(data)
        assert error.value.reason == reason
    assert decoders.decode(plain).getpixel((0, 0)) == (255, 255, 255)
    monkeypatch.undo()
    assert decoders.decode(whole).getpixel((0, 0)) == (255, 255, 255)
    with pytest.raises(Unreadable, match="corrupt"):
        decoders.decode(whole[:9_000])


def test_a_file_as_large_as_uploads_may_be_is_decoded(decoders):
    data = encoded(noise(3_300, 3_300), "PNG", compress_level=0)
    assert 2**25 > len(data) > 31 * 2**20
    for _ in range(PROCESSES + 1):
        assert decoders.decode(data).size == (64, 64)
        assert decoders.decode(encoded(noise(8, 6))).size == (8, 6)


def test_a_decoder_that_dies_or_hangs_is_replaced(decoders, monkeypatch):
    data = encoded(noise(8, 6))
    decoders.decode(data)
    decoders.decode(data)
    for each in children():
        each.send_signal(signal.SIGKILL)
    for _ in range(PROCESSES):
        with pytest.raises(Unreadable, match="broke"):
            decoders.decode(data)
    for _ in range(PROCESSES):
        decoders.decode(data)
    for each in children():
        each.suspend()
    monkeypatch.setattr(isolated_decoding, "PATIENCE", 0.2)
    for _ in range(PROCESSES):
        with pytest.raises(Unreadable, match="takes more than"):
            decoders.decode(data)
    monkeypatch.undo()
    assert decoders.decode(data).size == (8, 6)


def test_a_picture_has_so_much_of_the_processor(decoders, monkeypatch):
    data = encoded(Image.new("RGB", (6_000, 6_000)))
    monkeypatch.setattr(isolated_decoding, "SECONDS", 0.05)
    with pytest.raises(Unreadable, match="takes more than"):
        decoders.decode(data)
    monkeypatch.undo()
    assert decoders.decode(data).size == (64, 64)


def test_decoders_end_with_who_asks(tmp_path):
    """Also when it is killed: nobody is left at the other end of the line."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        made = Decoders(**LIMITS)
        made.decode(encoded(noise(8, 6)))
        os.write(writing, str(children()[0].pid).encode())
        signal.pause()
    decoder = psutil.Process(int(os.read(reading, 20)))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    end = time.monotonic() + 10
    while decoder.is_running() and decoder.status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < end
        time.sleep(0.05)


def test_large_pictures_stay_below_half_a_gibibyte(decoders):
    data = [
        encoded(Image.new("RGBA", (6_300, 6_300), (1, 2, 3, 100))),
        encoded(Image.new("RGB", (4_400, 4_400), "navy"), "WEBP", quality=10, method=0),
        encoded(Image.new("RGB", (10_000, 10_000), "navy"), "JPEG", progressive=True),
    ]
    most, done = 0, threading.Event()

    def watch():
        nonlocal most
        while not done.wait(0.02):
            with contextlib.suppress(psutil.NoSuchProcess):  # one has just ended
                most = max(most, sum(each.memory_info().rss for each in children()))

    watcher = threading.Thread(target=watch)
    watcher.start()
    with ThreadPoolExecutor(6) as clients:
        decoded = list(clients.map(decoders.decode, data * 2))
    done.set()
    watcher.join()
    assert [picture.size for picture in decoded] == [(64, 64)] * 6
    assert 150 * 2**20 < most < 2**29
