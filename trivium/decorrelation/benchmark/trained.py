"""Models that a graph has trained, of all kinds, asked as its stage `decorrelation-retrieve` asks them.

So the figures are the graph's: BLIP's best candidates are scored again by its matching head (decorrelation.md §4).
"""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from PIL import Image

from trivium.core.engine import LocalEngine
from trivium.decorrelation.benchmark.answers import SetAnswers, answers_of
from trivium.decorrelation.benchmark.benchmark_set import BenchmarkSet
from trivium.decorrelation.benchmark.embedder import SetVectors
from trivium.decorrelation.retrieval.ranking import Retriever
from trivium.decorrelation.retrieval.sharded_model import ShardedModel, encode_gallery, load_once


class TrainedModel:
    """A model as `RetrievalModel.save` has left it; as an `Embedder` it gives its embeddings.

    Raises:
        BadInput: not such a folder, or weights that do not fit.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._model = load_once(folder)
        self.module = self._model.module
        self.match = self._model.match

    def encode_images(self, images: Sequence[Image.Image]) -> torch.Tensor:
        """(n, d)."""
        pixels = torch.from_numpy(np.stack([self._model.plain.scaled(image) for image in images]))
        return self._model.encode_images(self._model.plain.standardised(pixels.to(self._device)))

    def encode_texts(self, texts: Sequence[str]) -> torch.Tensor:
        """(n, d)."""
        tokens = self._model.tokenize(texts)
        return self._model.encode_texts({name: each.to(self._device) for name, each in tokens.items()})

    @property
    def _device(self) -> torch.device:
        return next(self.module.parameters()).device

    def ask(self, asked: BenchmarkSet) -> tuple[SetVectors, SetAnswers]:
        """The model's vectors of a set and its answers, with the settings of the graph's stage."""
        settings = asked.retrieve
        threads = torch.get_num_threads()
        torch.set_num_threads(settings.threads or threads)
        try:
            with TemporaryDirectory() as work:
                model, other = (
                    ShardedModel(
                        self._folder, settings.picture_batch, settings.caption_batch, LocalEngine(1), Path(work) / part
                    )
                    for part in ("gallery", "pairs")
                )
                gallery = encode_gallery(model, asked.captions.texts)
                retriever = Retriever(model, asked.captions, gallery, settings.candidates_of(asked.dataset))
                without = encode_gallery(other, asked.pairs.texts)
                answers = answers_of(retriever, asked, without)
                pictures, painted = (
                    retriever.encoded(pictures).vectors for pictures in (asked.pictures, asked.painted)
                )
        finally:
            torch.set_num_threads(threads)
        return SetVectors(pictures, painted, gallery, without), answers
