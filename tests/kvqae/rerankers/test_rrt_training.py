from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from sklearn.metrics import roc_auc_score

from tests.kvqae.tiny_features import GLOBAL, landmark_photographs, write
from trivium.core.tasks import Curve
from trivium.kvqae.rerankers import rrt_training
from trivium.kvqae.rerankers.rrt import build_rrt, score_pairs
from trivium.kvqae.rerankers.rrt_training import (
    Landmarks,
    RrtTrainingParameters,
    gather_pairs,
    mean_loss_gradient,
    nearest_others,
    split_landmarks,
    train_rrt,
    validate,
)

PARAMETERS = {
    "layers": 2,
    "heads": 1,
    "hidden": 16,
    "sharpness": 30.0,
    "pairs": 8,
    "hard_negatives": 3,
    "steps": 6,
    "learning_rate": 2e-3,
    "weight_decay": 1e-4,
    "warmup": 0.1,
    "held_out": 0.25,
    "validation_pairs": 20,
    "validate_every": 3,
    "batch": 7,
    "checkpoint_every": 2,
}


def parameters(**changes: object) -> RrtTrainingParameters:
    return RrtTrainingParameters.model_validate(PARAMETERS | changes)


def train(work: Path, **changes: object) -> tuple[dict[str, torch.Tensor], dict[str, float]]:
    features, shown = landmark_photographs(8, 3)
    folder = write(work / "features", features)
    given = {"features": folder, "landmarks": shown, "parameters": parameters(**changes), "seed": 1}
    metrics, _ = train_rrt(work, **given, out=work / "rrt", log=Curve(None))
    return load_file(work / "rrt" / "model.safetensors"), metrics


def test_nearest_images_of_other_landmarks_by_hand() -> None:
    angles = np.radians([0, 10, 20, 50, 90])
    overall = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float16)
    landmarks = np.array([0, 0, 1, 1, 2])
    expected = [[2, 3, 4], [2, 3, 4], [1, 0, 4], [1, 4, 0], [3, 2, 1]]
    # 50°: 10° and 90° are equally far.
    assert [sorted(row) if row[:2] == [4, 1] else row for row in nearest_others(overall, landmarks, 3).tolist()][
        :3
    ] == expected[:3]
    assert nearest_others(overall, landmarks, 3, chunk=2).tolist() == nearest_others(overall, landmarks, 3).tolist()
    assert nearest_others(overall, landmarks, 99).shape == (5, 3)


def test_pairs() -> None:
    features, shown = landmark_photographs(6, 3)
    rows = np.flatnonzero(shown != 2)
    landmarks = Landmarks.of(features, shown, rows, 4)
    pairs, same = landmarks.draw(40, np.random.default_rng(0))
    assert same.tolist() == [1] * 20 + [0] * 20
    assert ((shown[pairs[:, 0]] == shown[pairs[:, 1]]) == same).all()
    assert (pairs[:, 0] != pairs[:, 1]).all()
    assert set(pairs.ravel().tolist()) <= set(rows.tolist())
    assert set(pairs[:20].ravel().tolist()) & set(pairs[20:].ravel().tolist())
    cosines = features.overall.astype(float) @ features.overall.astype(float).T

    def near(image: int, other: int) -> bool:
        others = [row for row in rows if shown[row] != shown[image]]
        return other in sorted(others, key=lambda row: -cosines[image, row])[:5]  # one more than 4, for ties

    assert all(near(image, other) or near(other, image) for image, other in pairs[20:].tolist())


def test_no_image_alone_tells_which_pairs_are_of_one_landmark() -> None:
    """An image near all others is in as many positive pairs as negative ones."""
    features, shown = landmark_photographs(12, 2)
    landmarks = Landmarks.of(features, shown, np.arange(24), 1)
    hub = int(np.bincount(landmarks.negatives[:, 0]).argmax())
    pairs, same = landmarks.draw(20_000, np.random.default_rng(0))
    hubs = np.isin(shown[pairs], shown[hub]).sum(axis=1)
    assert hubs[same == 1].mean() == pytest.approx(hubs[same == 0].mean(), rel=0.1)


def test_no_landmark_is_on_both_sides() -> None:
    shown = np.repeat(np.arange(10), 3)
    readable = np.arange(30) != 4
    training, held = split_landmarks(shown, readable, 0.2, seed=0)
    assert not set(shown[training]) & set(shown[held])
    assert len(np.unique(shown[held])) == 2
    assert sorted([*training, *held, 4]) == list(range(30))


def test_validation_agrees_with_scikit_learn() -> None:
    features, _ = landmark_photographs(6, 3)
    torch.manual_seed(3)
    model = build_rrt(global_dimension=GLOBAL, layers=1, heads=2, hidden=8).eval()
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, 18, (50, 2))
    pairs[10:20] = pairs[:10]  # ties
    same = rng.integers(0, 2, 50).astype(np.float32)
    found = validate(model, features, pairs, same, batch=16)
    with torch.no_grad():
        scores = score_pairs(model, features, features, pairs, batch=50)
    assert found["validation_auc"] == pytest.approx(roc_auc_score(same, np.round(scores, 5)), abs=0.02)
    assert found["validation_accuracy"] == ((scores > 0) == same).mean()


def test_it_learns(tmp_path: Path) -> None:
    _, first = train(tmp_path / "first", steps=1)
    _, last = train(tmp_path / "last", steps=60, learning_rate=3e-3, pairs=16, checkpoint_every=1000)
    assert last["loss"] < 0.2 < first["loss"]
    assert last["validation_auc"] > 0.8


@pytest.mark.parametrize("workers", [0, 2])
def test_resumes_to_the_bit_whoever_draws_the_pairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    whole, metrics = train(tmp_path / "whole")
    monkeypatch.setattr(rrt_training, "feeders", lambda: workers)
    real = rrt_training.mean_loss_gradient
    calls = iter(range(100))

    def killed(*arguments: object) -> float:
        if next(calls) == 5:
            raise KeyboardInterrupt
        return real(*arguments)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(rrt_training, "mean_loss_gradient", killed)
        with pytest.raises(KeyboardInterrupt):
            train(tmp_path / "parts")
    resumed, again = train(tmp_path / "parts")
    assert metrics == again
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)


def test_the_gradient_does_not_depend_on_how_many_pairs_fit() -> None:
    features, _ = landmark_photographs(4, 2)
    torch.manual_seed(0)
    model = build_rrt(global_dimension=GLOBAL, layers=1, heads=2, hidden=8)
    pairs, same = np.array([[0, 1], [0, 2], [4, 5]]), np.array([1, 0, 1], np.float32)
    gradients = []
    for together in (3, 2):
        model.zero_grad()
        mean_loss_gradient(model, gather_pairs(features, pairs, same), together)
        gradients.append(model.global_projection.weight.grad.clone())
    torch.testing.assert_close(gradients[0], gradients[1])
