"""The worker: locked with the project's own versions, against OpenCV and a sum worked out here, clear when it fails."""

import re
import tomllib

import cv2
import numpy as np
import pytest
import torch

from tests.stages.decorrelation.test_inpaint import Greyed, needs_uv, picture
from trivium.decorrelation.painting.inpainter import ROOT, WORKER, Inpainter

OWN = {"lama-cleaner", "loguru", "standard-imghdr", "win32-setctime"}
SIZES = ((33, 47), (48, 64), (33, 47), (40, 41), (48, 64), (33, 47))


def pictures():
    found = []
    for number, (height, width) in enumerate(SIZES):
        mask = np.zeros((height, width), bool)
        mask[3 : 12 + number, 5:20] = True
        found.append((picture(number, height, width), mask))
    return found


def greyed(pixels, mask):
    """What `Greyed` gives inside a mask that is far from the borders: .3 + .7 · the mean of 5 × 5 pixels, holes black."""
    near = np.pad(np.where(mask[:, :, None], 0, pixels / 255), ((2, 2), (2, 2), (0, 0)))
    mean = np.lib.stride_tricks.sliding_window_view(near, (5, 5), axis=(0, 1)).mean(axis=(-2, -1))
    return 255 * (0.3 + 0.7 * mean)


@needs_uv
@pytest.mark.parametrize("precision", [(), ("--bf16",)])  # which is for a GPU
@pytest.mark.parametrize("device", ["", pytest.param("0", marks=pytest.mark.gpu)])
def test_lama_pads_scales_and_cuts_batches_of_several_sizes(tmp_path, precision, device, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", device)
    torch.jit.script(Greyed()).save(tmp_path / "big-lama.pt")
    arguments = ["lama", "--file", str(tmp_path / "big-lama.pt"), "--batch-size", "2", *precision]
    for (pixels, mask), painted in zip(pictures(), Inpainter(arguments).paint(pictures()), strict=True):
        off = np.abs(painted[mask] - greyed(pixels, mask)[mask])
        assert off.max() < (3 if device and precision else 1.01)  # 8 bits, cut off


@needs_uv
def test_cv2_is_opencvs_own_and_serves_request_after_request():
    painter = Inpainter(["cv2", "--flag", "INPAINT_TELEA", "--radius", "4"])
    both = [*painter.paint(pictures()[:2]), *painter.paint(pictures()[2:])]
    for (pixels, mask), painted in zip(pictures(), both, strict=True):
        own = cv2.inpaint(pixels[:, :, ::-1].copy(), mask.astype(np.uint8) * 255, 4, cv2.INPAINT_TELEA)[:, :, ::-1]
        np.testing.assert_array_equal(painted, own)


def locked(path):
    return tomllib.loads(path.read_text())["package"]


def test_the_worker_shares_its_packages_with_the_project():
    ours = {(each["name"], each.get("version")) for each in locked(ROOT / "uv.lock")}
    theirs = {(each["name"], each["version"]) for each in locked(WORKER.with_name(f"{WORKER.name}.lock"))}
    assert {name for name, _ in theirs - ours} == OWN  # the rest is linked from uv's cache: nothing to download
    assert ("lama-cleaner", "1.2.5") in theirs


def test_the_lock_names_the_public_index_only():
    lock = WORKER.with_name(f"{WORKER.name}.lock")
    assert {each["source"]["registry"] for each in locked(lock)} == {"https://pypi.org/simple"}
    assert set(re.findall(r"https?://([^/\"]+)", lock.read_text())) == {"pypi.org", "files.pythonhosted.org"}
    assert not re.search(r"file:|path =|\"/", lock.read_text())
