"""Train a Re-Ranking Transformer on pairs of photographs of landmarks (kvqae.md §4; Tan et al. 2021).

Half of a step's pairs show one landmark twice, the other half show a landmark and another whose global descriptor is
among the nearest (hard negatives). The loss is binary cross-entropy, the optimiser AdamW. Some landmarks are held out
for validation.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from torch.nn import functional
from torch.optim.lr_scheduler import LambdaLR

from trivium.core.errors import BadInput
from trivium.core.parameters import Parameters
from trivium.core.tasks import Curve, Metrics, Point
from trivium.kvqae.rerankers.rrt import build_rrt, gather_features, save_rrt, score_pairs, widen
from trivium.nets.device import autocast, pick_device
from trivium.nets.feeding import feed, feeders
from trivium.nets.reranking_transformer import Described, RerankingTransformer
from trivium.nets.training import Validation, add_gradient, rise_and_fall, train
from trivium.vision.local_descriptors.folder import FeatureFolder

Rows = NDArray[np.int64]


class RrtTrainingParameters(Parameters):
    """Part `training` of section `kvqae.rrt`."""

    layers: int = Field(ge=1, description="Layers of the Transformer")
    heads: int = Field(ge=1, description="Attention heads; a divisor of 128, the width")
    hidden: int = Field(ge=1, description="Width inside the feed-forward networks")
    sharpness: float | None = Field(
        gt=0, description="Of the matching that the first layer begins with; null: random weights, as the authors"
    )
    pairs: int = Field(ge=2, multiple_of=2, description="Pairs a step, half of them of one landmark")
    hard_negatives: int = Field(
        ge=1,
        description="Nearest images of other landmarks that negatives are drawn from; many where global descriptors "
        "are poor, else likeness itself tells that a pair is negative",
    )
    steps: int = Field(ge=1, description="Optimiser steps")
    learning_rate: float = Field(gt=0, description="AdamW's, at its highest")
    weight_decay: float = Field(ge=0, description="AdamW's")
    warmup: float = Field(ge=0, lt=1, description="Share of the steps in which the learning rate rises; then it falls")
    held_out: float = Field(default=0.1, gt=0, lt=1, description="Share of the landmarks that only validation shows")
    validation_pairs: int = Field(ge=2, multiple_of=2, description="Pairs of held-out landmarks, half of them of one")
    validate_every: int = Field(ge=1, description="Steps between validations")
    batch: int = Field(ge=1, description="Pairs scored together in validation")
    checkpoint_every: int = Field(ge=1, description="Steps between checkpoints")


@dataclass(frozen=True)
class Landmarks:
    """Images to draw pairs from.

    Attributes:
        rows: (n,) rows of the images in the features.
        positives: for each image the other images of its landmark, at least one, as places in `rows`.
        negatives: (n, k) places of the nearest images of other landmarks.
    """

    rows: Rows
    positives: list[Rows]
    negatives: Rows

    @classmethod
    def of(cls, features: FeatureFolder, landmarks: Rows, rows: Rows, nearest: int) -> "Landmarks":
        """Collect the images of `rows` whose landmark has several; `landmarks` has the landmark of each image.

        `BadInput`: fewer than two landmarks with two images.
        """
        shown, place, views = np.unique(landmarks[rows], return_inverse=True, return_counts=True)
        rows = rows[views[place] > 1]
        shown, place = np.unique(landmarks[rows], return_inverse=True)
        if len(shown) < 2:
            raise BadInput("no pairs can be drawn", field="landmarks", got=len(shown),
                           expected="two landmarks with two readable images each, on either side")  # fmt: skip
        of_landmark = [np.flatnonzero(place == number) for number in range(len(shown))]
        positives = [of_landmark[number][of_landmark[number] != image] for image, number in enumerate(place)]
        return cls(rows, positives, nearest_others(features.overall[rows], place, nearest))

    def draw(self, pairs: int, rng: np.random.Generator) -> tuple[Rows, NDArray[np.float32]]:
        """Draw (pairs, 2) rows of images, and (pairs,) whether both show one landmark: the first half do.

        Each positive pair has an image of a negative one, on a random side. Otherwise images that are near many others
        would be mostly in negative pairs, and a network could classify pairs by one image alone.
        """
        half = pairs // 2
        anchors = rng.choice(len(self.rows), half)
        others = np.array([rng.choice(self.negatives[image]) for image in anchors])
        negative = np.stack([anchors, others], axis=1)
        again = negative[np.arange(half), np.arange(half) % 2]
        positive = np.stack([again, [rng.choice(self.positives[image]) for image in again]], axis=1)
        drawn = rng.permuted(np.concatenate([positive, negative]), axis=1)
        return self.rows[drawn], np.repeat(np.array([1, 0], np.float32), half)


def nearest_others(overall: NDArray[np.float16], landmarks: Rows, count: int, chunk: int = 1024) -> Rows:
    """Find the nearest images (cosine) of other landmarks, (n, ≤ count), nearest first.

    `overall` is (n, g), global descriptors of length 1, `landmarks` (n,); `chunk` images are compared at a time.
    """
    device = pick_device()
    vectors = torch.from_numpy(overall.astype(np.float32)).to(device)
    labels = torch.from_numpy(landmarks).to(device)
    count = min(count, len(landmarks) - int(np.bincount(landmarks).max()))
    parts = []
    for start in range(0, len(vectors), chunk):
        cosines = vectors[start : start + chunk] @ vectors.T
        cosines[labels[start : start + chunk, None] == labels] = -torch.inf
        parts.append(cosines.topk(count, dim=1).indices.cpu().numpy())
    return np.concatenate(parts)


def split_landmarks(landmarks: Rows, readable: NDArray[np.bool_], held_out: float, seed: int) -> tuple[Rows, Rows]:
    """Split rows into training and held-out images; all images of a landmark are in the same part."""
    shown = np.unique(landmarks)
    chosen = np.random.default_rng([seed, 0]).permutation(shown)[: max(1, round(held_out * len(shown)))]
    is_held_out = np.isin(landmarks, chosen)
    return np.flatnonzero(~is_held_out & readable), np.flatnonzero(is_held_out & readable)


def validate(
    model: RerankingTransformer, features: FeatureFolder, pairs: Rows, same: NDArray[np.float32], batch: int
) -> dict[str, float]:
    """Compute `validation_auc` (ties count half) and `validation_accuracy` (logit above 0 means "same")."""
    scores = score_pairs(model, features, features, pairs, batch=batch)
    positive, negative = scores[same == 1], np.sort(scores[same == 0])
    below = np.searchsorted(negative, positive, side="left") + np.searchsorted(negative, positive, side="right")
    return {
        "validation_auc": float(below.mean() / 2 / len(negative)),
        "validation_accuracy": float(((scores > 0) == same).mean()),
    }


# Stored features of both sides of pairs, and (pairs,) whether both show the same landmark.
Pairs = tuple[Described, Described, torch.Tensor]


def gather_pairs(features: FeatureFolder, pairs: Rows, same: NDArray[np.float32]) -> Pairs:
    """Gather the features of drawn pairs."""
    return gather_features(features, pairs[:, 0]), gather_features(features, pairs[:, 1]), torch.from_numpy(same)


def mean_loss_gradient(model: RerankingTransformer, pairs: Pairs, micro_batch: int) -> float:
    """Add the gradient of the pairs' mean loss, computed in micro-batches; returns the loss."""
    device = model.classifier.weight.device
    left, right, same = pairs

    def share(part: slice) -> torch.Tensor:
        parts = (Described(*(tensor[part] for tensor in side)) for side in (left, right))
        with autocast(device):
            logits = model(*(widen(side, device) for side in parts))
        targets = same[part].to(device)
        return functional.binary_cross_entropy_with_logits(logits, targets, reduction="sum") / len(same)

    return add_gradient(len(same), micro_batch, share)


def train_rrt(
    checkpoints: Path,
    *,
    features: Path,
    landmarks: Rows,
    parameters: RrtTrainingParameters,
    seed: int,
    out: Path,
    log: Curve,
) -> tuple[Metrics, list[Point]]:
    """Train on features of photographs and the landmark of each, as a task; the last weights are kept.

    While a GPU trains, processes draw the next pairs and gather their features.
    """
    described = FeatureFolder.read(features)
    torch.manual_seed(seed)
    sizes = {name: getattr(parameters, name) for name in ("layers", "heads", "hidden")}
    model = build_rrt(global_dimension=described.overall.shape[1], **sizes)
    if parameters.sharpness is not None:
        model.begin_as_matcher(parameters.sharpness)
    model.to(pick_device())
    training, held_out = (
        Landmarks.of(described, landmarks, rows, parameters.hard_negatives)
        for rows in split_landmarks(landmarks, described.counts >= 0, parameters.held_out, seed)
    )
    validation = held_out.draw(parameters.validation_pairs, np.random.default_rng([seed, 2]))
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=parameters.learning_rate, weight_decay=parameters.weight_decay, fused=True
    )
    rising = round(parameters.warmup * parameters.steps)

    def batch(step: int) -> Pairs:
        return gather_pairs(described, *training.draw(parameters.pairs, np.random.default_rng([seed, 1, step])))

    def batches(first: int) -> Iterable[Pairs]:
        return feed(lambda number: batch(first + number), parameters.steps - first, feeders(), ahead=1)

    progress = train(
        model,
        optimizer,
        LambdaLR(optimizer, partial(rise_and_fall, rising=rising, steps=parameters.steps)),
        steps=parameters.steps,
        batches=batches,
        gradient=lambda pairs, micro_batch: (mean_loss_gradient(model, pairs, micro_batch), {}),
        micro_batch=parameters.pairs,
        unit="pairs",
        max_gradient_norm=None,
        work=checkpoints,
        checkpoint_every=parameters.checkpoint_every,
        log=log,
        name="re-ranker",
        validation=Validation(
            lambda: validate(model, described, *validation, parameters.batch), parameters.validate_every
        ),
    )
    counts = {"training_images": float(len(training.rows)), "held_out_images": float(len(held_out.rows))}
    save_rrt(model, out)
    return {"loss": progress.loss, **progress.scores, **counts}, log.points
