# /// script
# requires-python = ">=3.11"
# dependencies = ["lama-cleaner==1.2.5"]
#
# # lama-cleaner is an application: it asks for a web server, diffusers and an old transformers. What its two models
# # import is listed here instead, so that this environment holds nothing but packages of the project's own lock,
# # lama-cleaner and loguru. (Python 3.13 dropped imghdr.)
# [[tool.uv.dependency-metadata]]
# name = "lama-cleaner"
# version = "1.2.5"
# requires-dist = [
#     "loguru", "numpy", "opencv-python-headless", "packaging", "pillow", "pydantic", "rich", "torch",
#     "standard-imghdr; python_version >= '3.13'",
# ]
# ///
"""The in-painting worker: paints what comes on standard input, through lama-cleaner, in an environment of its own.

Started by `trivium.decorrelation.painting.inpainter`, never by hand. After a change of the lines above:
`uv lock --script trivium/decorrelation/painting/worker.py`. It ends when its standard input is closed.
"""

import argparse
import contextlib
import hashlib
import io
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch

from trivium.formats.masks import Pixels

Paint = Callable[[Sequence[tuple[Pixels, np.ndarray]]], Iterable[Pixels]]  # pixels and region, see `inpainter`


def opencv(flag: str, radius: int) -> Paint:
    """lama-cleaner's model without weights: OpenCV's `inpaint`.

    Args:
        flag: `INPAINT_TELEA` (fast marching) or `INPAINT_NS` (Navier-Stokes).
        radius: pixels around a point that its colour comes from.
    """
    from lama_cleaner.model.opencv2 import OpenCV2
    from lama_cleaner.schema import Config, HDStrategy

    cv2.setNumThreads(1)  # `inpaint` is not parallel, its callers are
    model = OpenCV2(torch.device("cpu"))
    config = Config(
        ldm_steps=1,  # LDM's, but without a default
        hd_strategy=HDStrategy.ORIGINAL,  # at full size, in one piece
        hd_strategy_crop_margin=0,
        hd_strategy_crop_trigger_size=0,
        hd_strategy_resize_limit=0,
        cv2_flag=flag,
        cv2_radius=radius,
    )
    # The model gives BGR.
    return lambda pictures: (model(*pair, config)[:, :, ::-1].astype(np.uint8) for pair in pictures)


_IN_FLOAT32 = ("fft_rfftn", "fft_irfftn", "complex")


def in_bf16(device: str) -> torch.autocast:
    """A context in which this kind of device ("cuda", "cpu") computes in bf16, but Fourier transforms in float32.

    LaMa is a TorchScript module, whose operations cannot be rewritten; autocast reaches them. It has no rule for
    Fourier transforms on a GPU, which take no bf16, nor for making complex numbers: both get one here.
    """
    _rules(device)
    return torch.autocast(device, dtype=torch.bfloat16)


@cache  # the rules hold as long as the library is referred to
def _rules(device: str) -> torch.library.Library:
    library = torch.library.Library("aten", "IMPL")
    for name in _IN_FLOAT32:
        operation = getattr(torch.ops.aten, name).default
        library.impl(name, partial(_in_float32, operation, device), f"Autocast{device.upper()}")
    return library


def _in_float32(operation: Any, device: str, *arguments: Any, **named: Any) -> Any:
    whole = [
        argument.float() if isinstance(argument, torch.Tensor) and argument.is_floating_point() else argument
        for argument in arguments
    ]
    with torch.autocast(device, enabled=False):
        return operation(*whole, **named)


def lama(file: Path, batch_size: int, bf16: bool) -> Paint:
    """LaMa, loaded once through lama-cleaner; pictures of equal padded size go through it together.

    lama-cleaner calls the TorchScript module of `file`, (image, mask) → image, with one picture; padding, scaling
    and rounding here are its own. `batch_size` pictures go at a time, halved when GPU memory runs out; with `bf16`
    a GPU computes in bf16 but for the Fourier transforms; else, and on a CPU, all is float32.
    """
    # lama-cleaner loads what this address names when it is a file. It deletes a file that does not load and has
    # another MD5 than expected: so the expected one is the file's own.
    os.environ["LAMA_MODEL_URL"] = str(file)
    os.environ["LAMA_MODEL_MD5"] = hashlib.md5(file.read_bytes(), usedforsecurity=False).hexdigest()
    from lama_cleaner.helper import norm_img, pad_img_to_modulo
    from lama_cleaner.model.lama import LaMa

    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False  # float32 in full
    on_gpu = torch.cuda.is_available()
    model = LaMa(torch.device("cuda" if on_gpu else "cpu"))
    precision = in_bf16("cuda") if bf16 and on_gpu else contextlib.nullcontext()

    @torch.no_grad()
    def network(images: Sequence[np.ndarray], masks: Sequence[np.ndarray]) -> np.ndarray:
        """(n, 3, h, w) in 0…1 and (n, 1, h, w) in {0, 1} → (n, h, w, 3), 8 bits."""
        inputs = (torch.from_numpy(np.stack(arrays)).to(model.device) for arrays in (images, masks))
        with precision:
            painted = model.model(*inputs).float().permute(0, 2, 3, 1).cpu().numpy()
        return np.clip(painted * 255, 0, 255).astype(np.uint8)

    def paint(pictures: Sequence[tuple[Pixels, np.ndarray]]) -> Iterator[Pixels]:
        nonlocal batch_size
        padded = [[norm_img(pad_img_to_modulo(array, mod=model.pad_mod)) for array in pair] for pair in pictures]
        same_size: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for place, (image, _) in enumerate(padded):
            same_size[image.shape].append(place)
        painted: dict[int, Pixels] = {}
        sent = 0
        for places in same_size.values():
            while places:
                batch = places[:batch_size]
                try:
                    results = network([padded[i][0] for i in batch], [(padded[i][1] > 0) * 1 for i in batch])
                except torch.OutOfMemoryError:
                    if batch_size == 1:
                        raise
                    torch.cuda.empty_cache()
                    batch_size = (batch_size + 1) // 2
                    continue
                for place, result in zip(batch, results, strict=True):
                    height, width = pictures[place][1].shape
                    painted[place] = result[:height, :width]
                places = places[len(batch) :]
                while sent in painted:  # the other side uses them meanwhile
                    yield painted.pop(sent)
                    sent += 1

    return paint


def main() -> None:
    """Answer requests until standard input is closed."""
    from loguru import logger

    parser = argparse.ArgumentParser(description=__doc__)
    fillings = parser.add_subparsers(dest="filling", required=True)
    of_opencv = fillings.add_parser("cv2")
    of_opencv.add_argument("--flag", required=True)
    of_opencv.add_argument("--radius", type=int, required=True)
    of_lama = fillings.add_parser("lama")
    of_lama.add_argument("--file", type=Path, required=True)
    of_lama.add_argument("--batch-size", type=int, required=True)
    of_lama.add_argument("--bf16", action="store_true")
    arguments = vars(parser.parse_args())

    logger.remove()  # lama-cleaner logs every picture
    logger.add(sys.stderr, level="ERROR")
    requests = Connection(os.dup(sys.stdin.fileno()), writable=False)
    replies = Connection(os.dup(sys.stdout.fileno()), readable=False)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what libraries print must not get between the pictures
    models: dict[str, Callable[..., Paint]] = {"cv2": opencv, "lama": lama}
    paint = models[arguments.pop("filling")](**arguments)
    with contextlib.suppress(EOFError):
        while True:
            parts = list(np.load(io.BytesIO(requests.recv_bytes())).values())
            for painted in paint(list(zip(parts[::2], parts[1::2], strict=True))):
                replies.send_bytes(painted.tobytes())


if __name__ == "__main__":
    main()
