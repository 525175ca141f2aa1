"""Pictures in-painted a second and kept as PNG, compared with two peers: `python -m bench.inpaint`.

Ours works as the stage does: workers with lama-cleaner, pictures and masks through their pipes, the composite, a PNG.
One worker a core runs already; threads replace the stage's processes. The popular way is a loop over `cv2.inpaint`; an
expert runs it in threads, since OpenCV and Pillow release Python's lock. The bytes must be the same. All are far from
the limit, to read and write every pixel once: holes close pixel by pixel, and a PNG is compressed byte by byte.
LaMa itself, the network as published (Suvorov et al. 2022, 51 million parameters), is timed by `bench.gpu`.
"""

import math
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import cv2
import numpy as np
import torch
from torch import Tensor, nn

from bench import harness
from trivium.core.engine import count_cores
from trivium.decorrelation.painting.filling import composite
from trivium.decorrelation.painting.inpainter import Inpainter
from trivium.decorrelation.painting.inpainting import encode
from trivium.formats.masks import Mask, Pixels

RADIUS = 4
SIZES = {"sample": (48, 48, 1024), "coco": (480, 640, 16)}  # height, width, pictures
WHY = (
    "lama-cleaner, through which LaMa paints as well, has packages and so a process of its own: pictures cross pipes, "
    "and it pads them and puts the known pixels back"
)

Given = Sequence[tuple[Pixels, Mask]]


class Spectral(nn.Module):
    """A 1 × 1 convolution of the whole picture's Fourier coefficients."""

    def __init__(self, inner: int, outer: int) -> None:
        super().__init__()
        half = outer // 2
        self.into = nn.Sequential(nn.Conv2d(inner, half, 1, bias=False), nn.BatchNorm2d(half), nn.ReLU())
        self.mix = nn.Sequential(nn.Conv2d(2 * half, 2 * half, 1, bias=False), nn.BatchNorm2d(2 * half), nn.ReLU())
        self.out = nn.Conv2d(half, outer, 1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """(n, c, h, w) → (n, outer, h, w)."""
        x = self.into(x)
        waves = torch.fft.rfftn(x, dim=(-2, -1), norm="ortho")
        real, imaginary = self.mix(torch.cat([waves.real, waves.imag], 1)).chunk(2, 1)
        size = [x.shape[-2], x.shape[-1]]
        return self.out(x + torch.fft.irfftn(torch.complex(real, imaginary), s=size, dim=(-2, -1), norm="ortho"))


class FastFourier(nn.Module):
    """Local channels through 3 × 3 convolutions, global ones through the spectrum, each to both (Chi et al. 2020)."""

    def __init__(self, local: int, whole: int) -> None:
        super().__init__()

        def conv(inner: int, outer: int) -> nn.Module:
            return nn.Conv2d(inner, outer, 3, padding=1, padding_mode="reflect", bias=False)

        self.l2l, self.l2g, self.g2l = conv(local, local), conv(local, whole), conv(whole, local)
        self.g2g = Spectral(whole, whole)
        self.norm_l = nn.Sequential(nn.BatchNorm2d(local), nn.ReLU())
        self.norm_g = nn.Sequential(nn.BatchNorm2d(whole), nn.ReLU())

    def forward(self, near: Tensor, far: Tensor) -> tuple[Tensor, Tensor]:
        """Both parts of the channels, mixed."""
        return self.norm_l(self.l2l(near) + self.g2l(far)), self.norm_g(self.l2g(near) + self.g2g(far))


class Block(nn.Module):
    """Two fast Fourier convolutions with a shortcut."""

    def __init__(self, local: int, whole: int) -> None:
        super().__init__()
        self.first, self.second = FastFourier(local, whole), FastFourier(local, whole)

    def forward(self, near: Tensor, far: Tensor) -> tuple[Tensor, Tensor]:
        """Both parts of the channels."""
        a, b = self.first(near, far)
        a, b = self.second(a, b)
        return near + a, far + b


class Lama(nn.Module):
    """The big LaMa: three halvings to 512 channels, of which 3/4 are global, 18 blocks, three doublings."""

    def __init__(self, width: int = 64, blocks: int = 18) -> None:
        super().__init__()
        layers: list[nn.Module] = [nn.ReflectionPad2d(3), nn.Conv2d(4, width, 7, bias=False), nn.BatchNorm2d(width)]
        for scale in (1, 2, 4):
            down = nn.Conv2d(width * scale, 2 * width * scale, 3, stride=2, padding=1, bias=False)
            layers += [nn.ReLU(), down, nn.BatchNorm2d(2 * width * scale)]
        self.down = nn.Sequential(*layers, nn.ReLU())
        self.local = 2 * width
        self.blocks = nn.ModuleList(Block(2 * width, 6 * width) for _ in range(blocks))
        layers = []
        for scale in (8, 4, 2):
            half = width * scale // 2
            up = nn.ConvTranspose2d(width * scale, half, 3, stride=2, padding=1, output_padding=1)
            layers += [up, nn.BatchNorm2d(half), nn.ReLU()]
        self.up = nn.Sequential(*layers, nn.ReflectionPad2d(3), nn.Conv2d(width, 3, 7), nn.Sigmoid())

    def forward(self, image: Tensor, mask: Tensor) -> Tensor:
        """(n, 3, h, w) in 0…1 and (n, 1, h, w) in {0, 1} → (n, 3, h, w)."""
        x = self.down(torch.cat([image * (1 - mask), mask.to(image.dtype)], 1))
        near, far = x[:, : self.local], x[:, self.local :]
        for block in self.blocks:
            near, far = block(near, far)
        return mask * self.up(torch.cat([near, far], 1)) + (1 - mask) * image


def pictures(height: int, width: int, count: int) -> list[tuple[Pixels, Mask]]:
    """Make smooth random pictures, each with a box of about a tenth of its area."""
    rng = np.random.default_rng(0)
    pairs = []
    for _ in range(count):
        coarse = rng.integers(0, 256, (8, 8, 3), dtype=np.uint8)
        mask = np.zeros((height, width), bool)
        top, left = rng.integers(0, height // 2), rng.integers(0, width // 2)
        mask[top : top + height // 3, left : left + width // 3] = True
        pairs.append((cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC).astype(np.uint8), mask))
    return pairs


def painted(painter: Inpainter, examples: Given) -> list[Pixels]:
    """Paint as the stage does."""
    results = painter.paint(examples)
    return [composite(picture, own, mask) for (picture, mask), own in zip(examples, results, strict=True)]


def ours(painters: Sequence[Inpainter], examples: Given) -> list[bytes]:
    """Paint one shard on each worker, which encodes a picture once it is painted."""
    size = math.ceil(len(examples) / len(painters))
    shards = [examples[start : start + size] for start in range(0, len(examples), size)]

    def kept(painter: Inpainter, shard: Given) -> list[bytes]:
        return [encode(picture, "png") for picture in painted(painter, shard)]

    with ThreadPoolExecutor(len(painters)) as pool:
        return [data for shard in pool.map(kept, painters, shards) for data in shard]


def by_opencv(example: tuple[Pixels, Mask]) -> bytes:
    """Paint one picture as one would without lama-cleaner."""
    picture, mask = example
    filled = cv2.inpaint(picture, mask.astype(np.uint8), RADIUS, cv2.INPAINT_TELEA)
    return encode(filled.astype(np.uint8, copy=False), "png")


def in_a_loop(examples: Given) -> list[bytes]:
    """Paint pictures one after the other."""
    return [by_opencv(example) for example in examples]


def by_threads(examples: Given, threads: int) -> list[bytes]:
    """Paint pictures in parallel threads."""
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(by_opencv, examples))


def main() -> None:
    """Time the start of a worker, and race at both sizes, after checking that all give the same bytes.

    Raises:
        AssertionError: a peer's bytes differ.
    """
    cv2.setNumThreads(1)
    cores = count_cores()
    started = time.perf_counter()
    arguments = ["cv2", "--flag", "INPAINT_TELEA", "--radius", str(RADIUS)]
    painters = [Inpainter(arguments)]
    list(painters[0].paint(pictures(8, 8, 1)))
    seconds = time.perf_counter() - started
    painters += [Inpainter(arguments) for _ in range(cores - 1)]
    figures: dict[str, object] = {"worker_start_seconds": seconds}
    races = {}
    for name, (height, width, count) in SIZES.items():
        examples = pictures(height, width, count)
        mine, popular = partial(ours, painters, examples), partial(in_a_loop, examples)
        expert = partial(by_threads, examples, cores)
        expected = mine()
        for peer, call in (("a plain loop", popular), ("threads", expert)):
            differ = sum(one != other for one, other in zip(expected, call(), strict=True))
            if differ:
                raise AssertionError(f"{differ} pictures are others by {peer}")
        race = harness.race(
            mine,
            harness.Peer("OpenCV in a plain loop", popular),
            harness.Peer("OpenCV in threads", expert),
            gigabytes=1e-9 * sum(2 * picture.nbytes + mask.nbytes for picture, mask in examples),
            why=WHY,
        )
        races[f"{count} pictures of {height} × {width}, {cores} workers"] = race
        figures[f"{name}_images_per_second"] = count / race["seconds"]
    versions = harness.versions("opencv-python-headless", "torch")
    harness.write("inpaint", figures | {"races": races, "versions": versions})


if __name__ == "__main__":
    main()
