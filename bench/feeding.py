"""Is a GPU kept busy? Its feeding side on this machine's cores, beside a pretended GPU: `python -m bench.feeding`.

The pretended GPU takes as long for a batch as an H200 would: arithmetic of a ResNet-50 on 64 pictures at a tenth of its
bf16 rate. Decoding alone says what the cores can give; with the GPU in the loop nearly as much must come through, or it
waits for something else. `waited_share` says how much of the time it had nothing to do: here nearly all, as two cores
decode far less than it could take.

Raced is the loop with the GPU. The popular way is torch's `DataLoader` as most use it, a picture an item; an expert has
threads decode, as Pillow leaves Python meanwhile, and keeps two batches a thread under way.
"""

import io
import time
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, default_collate
from torchvision import transforms

from bench import harness
from trivium.nets.feeding import Feed
from trivium.vision.decoding import decode

PICTURES, SIDE, BATCH = 512, 640, 64
BUSY = BATCH * 8.2e9 / (0.1 * 990e12)  # seconds: 4.1 GMAC a picture, 990 TFLOP/s
WHY = "processes are started, so that batches may be made in Python, at which threads would take turns"
PREPARE = transforms.Compose([transforms.Resize(224), transforms.CenterCrop(224), transforms.ToTensor()])


def photographs() -> list[bytes]:
    """JPEGs with some detail in them: noise, enlarged."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(PICTURES):
        noise = Image.fromarray(rng.integers(0, 256, (SIDE // 8, SIDE // 8, 3), dtype=np.uint8))
        out = io.BytesIO()
        noise.resize((SIDE, SIDE), Image.Resampling.BICUBIC).save(out, "JPEG", quality=90)
        found.append(out.getvalue())
    return found


class Pictures(Dataset[Tensor]):
    """One an item.

    Args:
        given: encoded pictures.
    """

    def __init__(self, given: list[bytes]) -> None:
        self._given = given

    def __len__(self) -> int:
        return len(self._given)

    def __getitem__(self, number: int) -> Tensor:
        return prepared(self._given[number])


def prepared(data: bytes) -> Tensor:
    """A decoded picture as a network takes it."""
    pixels: Tensor = PREPARE(decode(data, max_side=1024, max_pixels=100_000_000))
    return pixels


def by_feed(given: list[bytes], workers: int) -> Feed[Tensor]:
    """Our batches."""

    def make(number: int) -> Tensor:
        found: Tensor = default_collate([prepared(data) for data in given[number * BATCH : (number + 1) * BATCH]])
        return found

    return Feed(make, len(given) // BATCH, workers)


def by_threads(given: list[bytes], workers: int) -> Iterator[Tensor]:
    """The same by threads, each with a picture at a time."""
    ahead = 2 * workers * BATCH
    with ThreadPoolExecutor(workers) as pool:
        under_way: deque[Future[Tensor]] = deque(pool.submit(prepared, data) for data in given[:ahead])
        for start in range(0, len(given), BATCH):
            batch = torch.stack([under_way.popleft().result() for _ in range(BATCH)])
            under_way.extend(pool.submit(prepared, data) for data in given[start + ahead : start + ahead + BATCH])
            yield batch


def through(batches: Iterable[Tensor], busy: float) -> None:
    """All batches, with so many seconds of the GPU's for each."""
    for _ in batches:
        time.sleep(busy)


def main() -> None:
    """Race the loop, after all have given the same batches; what the cores give alone, and what one process does."""
    given, cores = photographs(), harness.cores()

    def popular() -> Iterable[Tensor]:
        loader: DataLoader[Any] = DataLoader(Pictures(given), batch_size=BATCH, num_workers=cores)
        return loader

    for ours, *others in zip(by_feed(given, cores), popular(), by_threads(given, cores), strict=True):
        for other in others:
            np.testing.assert_array_equal(other, ours)
    pixels = 3 * len(given) * (SIDE**2 + 4 * 224**2)  # of bytes decoded, and of floats
    race = harness.race(
        lambda: through(by_feed(given, cores), BUSY),
        harness.Peer("torch's DataLoader", lambda: through(popular(), BUSY)),
        harness.Peer("threads", lambda: through(by_threads(given, cores), BUSY)),
        gigabytes=1e-9 * (sum(map(len, given)) + pixels),
        why=WHY,
    )
    alone = harness.measure(lambda: through(by_feed(given, cores), 0.0), 3)
    inline = harness.measure(lambda: through(by_feed(given, 0), BUSY), 3)
    feed = by_feed(given, cores)
    through(feed, BUSY)
    harness.write(
        "feeding",
        {
            "pictures": PICTURES,
            "batch": BATCH,
            "workers": cores,
            "busy_seconds_a_batch": BUSY,
            "races": {f"{PICTURES} pictures, {cores} workers": race},
            "pictures_a_second_of_the_cores_alone": PICTURES / alone,
            "pictures_a_second_with_the_gpu_in_the_loop": PICTURES / race["seconds"],
            "pictures_a_second_decoded_inline": PICTURES / inline,
            "share_of_the_cores_rate": alone / race["seconds"],
            "times_faster_than_inline": inline / race["seconds"],
            "waited_share": feed.waited / feed.taken,
            "versions": harness.versions("torch", "torchvision", "pillow"),
        },
    )


if __name__ == "__main__":
    main()
