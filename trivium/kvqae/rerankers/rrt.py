"""Load, save and run a Re-Ranking Transformer on pairs of images (kvqae.md §4)."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from trivium.core.atomic import write_folder
from trivium.core.errors import BadInput
from trivium.core.tables import read_json, write_json
from trivium.kvqae.rerankers.model_files import CONFIG
from trivium.kvqae.retrieval.image_search import rank_passages
from trivium.measures.runs import PADDING, Run
from trivium.nets.device import autocast, pick_device
from trivium.nets.feeding import Pipeline, Transfer, feeders
from trivium.nets.reranking_transformer import Described, RerankingTransformer
from trivium.nets.weights import WEIGHTS, load_weights, read_weights, save_weights
from trivium.vision.local_descriptors.folder import LOCAL_DIMENSION, SCALES, FeatureFolder

SIZES = ("global_dimension", "layers", "heads", "hidden")


def build_rrt(**sizes: int) -> RerankingTransformer:
    """Make a network of these `SIZES` with random weights."""
    return RerankingTransformer(width=LOCAL_DIMENSION, scales=SCALES, **sizes)


def load_rrt(folder: Path) -> RerankingTransformer:
    """Load the network of a folder with `config.json` and `model.safetensors`, on the GPU if there is one.

    `BadInput`: a size is missing or impossible, or the weights are of another size (the layer is named).
    """
    config = read_json(folder / CONFIG)
    for name in SIZES:
        if not isinstance(config.get(name), int) or config[name] < 1:
            raise BadInput("bad size", file=folder / CONFIG, field=name, got=config.get(name), expected="a count")
    if LOCAL_DIMENSION % config["heads"]:
        raise BadInput("heads do not divide the width", file=folder / CONFIG, field="heads", got=config["heads"],
                       expected=f"a divisor of {LOCAL_DIMENSION}")  # fmt: skip
    model = build_rrt(**{name: config[name] for name in SIZES})
    load_weights(model, read_weights(folder / WEIGHTS), folder / WEIGHTS)
    return model.eval().requires_grad_(False).to(pick_device())


def save_rrt(model: RerankingTransformer, folder: Path) -> None:
    """Write `config.json` and `model.safetensors`; the folder is complete or absent."""
    with write_folder(folder) as target:
        write_json(target / CONFIG, model.sizes)
        save_weights(model, target / WEIGHTS)


def read_features(folder: Path, model: RerankingTransformer) -> FeatureFolder:
    """Open a folder of features; `BadInput` for those of another extractor, which do not fit the network."""
    features, expected = FeatureFolder.read(folder), model.sizes["global_dimension"]
    if features.overall.shape[1] != expected:
        raise BadInput("global descriptors of another size than the re-ranker's", file=folder / "global.npy",
                       got=features.overall.shape[1], expected=str(expected))  # fmt: skip
    return features


def gather_features(features: FeatureFolder, rows: NDArray[np.int64]) -> Described:
    """Gather the stored features of these images, padded to the largest number of local descriptors."""
    counts = features.counts[rows]
    most = max(1, int(counts.max(initial=0)))
    present = np.arange(most) < counts[:, None]
    matrices = features.overall[rows], features.local[rows, :most], features.scales[rows, :most], present
    return Described(*map(torch.from_numpy, matrices))


def widen(images: Described, device: torch.device) -> Described:
    """Move stored features to the device and convert them there to the network's input types."""
    overall, local, scales, present = (tensor.to(device, non_blocking=True) for tensor in images)
    return Described(overall.float(), local.float(), scales.long(), present)


def score_pairs(
    model: RerankingTransformer,
    queries: FeatureFolder,
    targets: FeatureFolder,
    pairs: NDArray[np.int64],
    *,
    batch: int,
) -> NDArray[np.float64]:
    """Compute the logit of "same" of each pair, (n,).

    `pairs` are (n, 2) rows of `queries` and of `targets`, features of the readable images on either side; `batch` pairs
    are scored at once, fewer when GPU memory runs out.
    """
    # Sorted by length, longest first: little padding, and memory runs out at the start or never.
    order = np.argsort(-(queries.counts[pairs[:, 0]] + targets.counts[pairs[:, 1]]), kind="stable")
    device = model.classifier.weight.device

    def make(places: Sequence[int]) -> tuple[Described, Described]:
        chosen = pairs[list(places)]
        return gather_features(queries, chosen[:, 0]), gather_features(targets, chosen[:, 1])

    def launch(images: tuple[Described, Described]) -> Transfer:
        with torch.inference_mode(), autocast(device):
            return Transfer(model(*(widen(side, device) for side in images)))

    def collect(_: object, transfer: Transfer) -> NDArray[np.float32]:
        return transfer.wait()[0].numpy()

    pipeline = Pipeline(order.tolist(), batch, make=make, launch=launch, collect=collect, workers=feeders())
    scores = np.empty(len(pairs))
    scores[order] = np.concatenate([*pipeline.with_progress("image pairs", "pair"), []])
    return scores


def image_pairs(
    run: Run, images: NDArray[np.int64], image_of: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """List the distinct image pairs of a run's passages; the passages of an article share one.

    `images` is (queries,), `image_of` (passages,): the row of each question's image, and of the image of each passage's
    article, -1 without a readable one. Returns (pairs, 2) rows of question images and article images; (queries, depth)
    number of the pair of each passage, -1 where one of the images is missing.
    """
    targets = np.where(run.documents != PADDING, image_of[run.documents], -1)
    queries = np.broadcast_to(images[:, None], targets.shape)
    both = (queries >= 0) & (targets >= 0)
    pairs, numbers = np.unique(np.stack([queries[both], targets[both]], axis=1), axis=0, return_inverse=True)
    places = np.full(targets.shape, -1, np.int64)
    places[both] = numbers.reshape(-1)
    return pairs, places


def rerank(
    best: Run,
    images: NDArray[np.int64],
    image_of: NDArray[np.int64],
    question_features: FeatureFolder,
    base_features: FeatureFolder,
    model: RerankingTransformer,
    *,
    batch: int,
) -> tuple[Run, dict[str, float]]:
    """Re-rank a run, scoring `batch` image pairs at once; returns counts, too. For `images`, … see `image_pairs`.

    A passage's score is its article's minus 1e-8 times its position: passages of one article keep their order. A
    passage whose article has no readable image is left out, and so is every passage of a question without one.
    """
    pairs, places = image_pairs(best, images, image_of)
    scores = score_pairs(model, question_features, base_features, pairs, batch=batch)
    shown = places >= 0
    of_articles = np.zeros(places.shape)
    of_articles[shown] = scores[places[shown]]
    without_locals = (question_features.counts[pairs[:, 0]] == 0) | (base_features.counts[pairs[:, 1]] == 0)
    present = best.documents != PADDING
    counts: dict[str, float] = {
        "questions_without_image": int((images < 0).sum()),
        "passages": int(present.sum()),
        "passages_without_image": int((present & (images >= 0)[:, None] & (places < 0)).sum()),
        "pairs": len(pairs),
        "pairs_without_locals": int(without_locals.sum()),
    }
    return rank_passages(best, of_articles, shown, "rrt"), counts
