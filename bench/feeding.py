"""Is a GPU kept busy? Its feeding side on this machine's cores, beside a pretended GPU: `python -m bench.feeding`.

The pretended GPU takes as long for a batch as an H200 would: arithmetic of a ResNet-50 on 64 pictures at a tenth of its
bf16 rate. Decoding alone says what the cores can give; with the GPU in the loop nearly as much must come through, or it
waits for something else. `waited_share` says how much of the time it had nothing to do: here nearly all, as two cores
decode far less than it could take.
"""

import io
import time

import numpy as np
import torch
from PIL import Image
from torchvision import transforms

from bench import harness
from trivium.nets.feeding import Feed
from trivium.vision.decoding import decode

PICTURES, SIDE, BATCH = 512, 640, 64
BUSY = BATCH * 8.2e9 / (0.1 * 990e12)  # seconds: 4.1 GMAC a picture, 990 TFLOP/s
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


def main() -> None:
    """Pictures a second by the cores alone, and through the pretended GPU; and what one process does inline."""
    given, cores = photographs(), harness.cores()

    def make(number: int) -> torch.Tensor:
        batch = given[number * BATCH : (number + 1) * BATCH]
        return torch.stack([PREPARE(decode(data, max_side=1024, max_pixels=100_000_000)) for data in batch])

    def through(workers: int, busy: float) -> Feed[torch.Tensor]:
        feed = Feed(make, PICTURES // BATCH, workers)
        for _ in feed:
            time.sleep(busy)
        return feed

    alone = harness.measure(lambda: through(cores, 0.0), 5)
    fed = harness.measure(lambda: through(cores, BUSY), 5)
    inline = harness.measure(lambda: through(0, BUSY), 3)
    feed = through(cores, BUSY)
    harness.write(
        "feeding",
        {
            "pictures": PICTURES,
            "batch": BATCH,
            "workers": cores,
            "busy_seconds_a_batch": BUSY,
            "pictures_a_second_of_the_cores_alone": PICTURES / alone,
            "pictures_a_second_with_the_gpu_in_the_loop": PICTURES / fed,
            "pictures_a_second_decoded_inline": PICTURES / inline,
            "share_of_the_cores_rate": alone / fed,
            "times_faster_than_inline": inline / fed,
            "waited_share": feed.waited / feed.taken,
            "versions": harness.versions("torch", "torchvision", "pillow"),
        },
    )


if __name__ == "__main__":
    main()
