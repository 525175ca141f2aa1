"""The worker: locked with the project's own versions, the same as lama-cleaner called directly, clear when it fails."""

import re
import subprocess
import sys
import tomllib

import numpy as np
import pytest
import torch

from tests.stages.decorrelation.test_inpaint import Greyed, needs_uv, picture
from trivium.core.errors import BadInput
from trivium.decorrelation.painting import inpainter
from trivium.decorrelation.painting.inpainter import ROOT, WORKER, Inpainter, find_uv, worker_environment

OWN = {"lama-cleaner", "loguru", "standard-imghdr", "win32-setctime"}
SIZES = ((33, 47), (48, 64), (33, 47), (40, 41), (48, 64), (33, 47))
DIRECT = """
import sys, cv2, numpy as np, torch
from loguru import logger
logger.remove()
from lama_cleaner.model.lama import LaMa
from lama_cleaner.model.opencv2 import OpenCV2
from lama_cleaner.schema import Config, HDStrategy
config = Config(ldm_steps=1, hd_strategy=HDStrategy.ORIGINAL, hd_strategy_crop_margin=0, cv2_radius=4,
                hd_strategy_crop_trigger_size=0, hd_strategy_resize_limit=0, cv2_flag="INPAINT_TELEA")
given = np.load(sys.argv[1])
for model in OpenCV2(torch.device("cpu")), LaMa(torch.device("cpu")):
    pairs = [(given[f"image{i}"], given[f"mask{i}"]) for i in range(len(given) // 2)]
    np.savez(f"{sys.argv[2]}/{model.name}.npz", *(model(*pair, config)[:, :, ::-1].astype("uint8") for pair in pairs))
"""


def pictures():
    found = []
    for number, (height, width) in enumerate(SIZES):
        mask = np.zeros((height, width), bool)
        mask[3 : 12 + number, 5:20] = True
        found.append((picture(number, height, width), mask))
    return found


@pytest.fixture(scope="module")
def directly(tmp_path_factory):
    """The folder of a tiny LaMa, and what lama-cleaner's own calls give, one picture at a time: cv2.npz, lama.npz."""
    if find_uv() is None:
        pytest.skip("no uv: run make setup")
    folder = tmp_path_factory.mktemp("direct")
    torch.jit.script(Greyed()).save(folder / "big-lama.pt")
    arrays = {f"image{number}": pixels for number, (pixels, _) in enumerate(pictures())}
    arrays |= {f"mask{number}": mask.astype(np.uint8) * 255 for number, (_, mask) in enumerate(pictures())}
    np.savez(folder / "given.npz", **arrays)
    uv = str(find_uv())
    subprocess.run([uv, "sync", "-q", "--frozen", "--python", sys.executable, "--script", WORKER], check=True)
    find = [uv, "python", "find", "--script", WORKER]
    python = subprocess.run(find, capture_output=True, text=True, check=True).stdout.strip()
    variables = worker_environment() | {"LAMA_MODEL_URL": str(folder / "big-lama.pt")}
    subprocess.run([python, "-c", DIRECT, folder / "given.npz", folder], check=True, env=variables)
    return folder


def lama_in_batches(folder, *precision):
    arguments = ["lama", "--file", str(folder / "big-lama.pt"), "--batch-size", "2", *precision]
    return Inpainter(arguments).paint(pictures())


@pytest.mark.parametrize("precision", [(), ("--bf16",)])  # which is for a GPU
def test_batches_of_lama_equal_its_own_call_with_one_picture(directly, precision, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")  # the same arithmetic as the direct call's
    expected = np.load(directly / "lama.npz").values()
    for (_, mask), one, own in zip(pictures(), lama_in_batches(directly, *precision), expected, strict=True):
        np.testing.assert_array_equal(one[mask], own[mask])


@pytest.mark.gpu
def test_on_a_gpu_lama_differs_by_rounding_alone(directly):
    expected = np.load(directly / "lama.npz").values()
    for (_, mask), one, own in zip(pictures(), lama_in_batches(directly), expected, strict=True):
        assert np.abs(one[mask].astype(int) - own[mask]).max() <= 1


def test_cv2_equals_its_own_call_and_serves_request_after_request(directly):
    painter = Inpainter(["cv2", "--flag", "INPAINT_TELEA", "--radius", "4"])
    both = [*painter.paint(pictures()[:2]), *painter.paint(pictures()[2:])]
    for one, own in zip(both, np.load(directly / "cv2.npz").values(), strict=True):
        np.testing.assert_array_equal(one, own)


@needs_uv
def test_a_file_that_is_no_module_is_named_and_kept(tmp_path):
    module = tmp_path / "big-lama.pt"
    module.write_bytes(b"no module")
    with pytest.raises(BadInput, match=r"(?s)worker ended with exit code 255.*Failed to load model \S*big-lama\.pt"):
        list(Inpainter(["lama", "--file", str(module), "--batch-size", "2"]).paint(pictures()))
    assert module.read_bytes() == b"no module"  # lama-cleaner deletes what it cannot load, unless it is told the MD5


def test_without_uv_it_says_where_it_looked(monkeypatch):
    monkeypatch.setattr(inpainter, "find_uv", lambda: None)
    with pytest.raises(BadInput, match=r"uv not found, on the PATH or in \.uv.*make setup"):
        Inpainter(["cv2"])


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
