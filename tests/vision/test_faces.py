from pathlib import Path

import insightface
import numpy as np
import pytest
import torch
from facenet_pytorch import MTCNN
from PIL import Image

from tests.kvqae.tiny_encoders import write_onnx
from trivium.vision.align import TEMPLATE, align, similarity_transform
from trivium.vision.faces import Detection, FaceDetector, FaceEncoder

CPU = torch.device("cpu")
DEFAULTS = {"min_side": 20, "min_face": 20, "thresholds": (0.6, 0.7, 0.7), "factor": 0.709}


@pytest.fixture(scope="module")
def detector() -> FaceDetector:
    return FaceDetector(**DEFAULTS, device=CPU)


@pytest.fixture(scope="module")
def group() -> np.ndarray:
    """The group photograph packaged with insightface: six people."""
    path = Path(insightface.__file__).parent / "data" / "images" / "t1.jpg"
    return np.asarray(Image.open(path).convert("RGB"))


def same(first: Detection, second: Detection) -> None:
    assert first.faces == second.faces
    assert (first.best is None) == (second.best is None)
    if first.best is not None:
        assert first.best.probability == pytest.approx(second.best.probability, abs=1e-5)
        assert np.allclose(first.best.box, second.best.box, atol=1e-2)
        assert np.allclose(first.best.landmarks, second.best.landmarks, atol=1e-2)


def test_six_faces_of_the_group_photograph(detector: FaceDetector, group: np.ndarray) -> None:
    # Left, top of each face as read off the picture.
    places = {(908, 62), (55, 263), (743, 346), (268, 150), (465, 262), (1135, 276)}
    [detection] = detector([group])
    boxes, probabilities, landmarks = MTCNN(select_largest=False).detect(Image.fromarray(group), landmarks=True)
    assert detection.faces == len(boxes) == 8  # six people, and a hand and a cup that look like faces to it
    sure = probabilities.astype(float) > 0.9
    found = boxes[sure].astype(float)
    assert all(min(np.hypot(*(box[:2] - place)) for box in found) < 10 for place in places)
    assert len(found) == 6
    for face in landmarks[sure].astype(float):
        matrix = similarity_transform(face, TEMPLATE)
        distance = np.linalg.norm(face @ matrix[:, :2].T + matrix[:, 2] - TEMPLATE, axis=1)
        assert distance.mean() < 7  # of 112 pixels; the three-quarter views are the farthest
        assert distance.max() < 11
    assert detection.best is not None
    assert np.allclose(detection.best.box, found[0], atol=1e-3)
    assert detection.best.probability == pytest.approx(float(probabilities.max()))


def test_batches_of_any_order_and_size_equal_single_images(detector: FaceDetector, group: np.ndarray) -> None:
    corners = [(880, 40), (30, 240), (720, 330), (240, 130), (440, 240), (1110, 250), (600, 600), (300, 0)]
    images = [group[y : y + 180, x : x + 160] for x, y in corners]
    images += [group[y + 10 : y + 170, x : x + 160] for x, y in corners[::2]]  # another size
    order = np.random.default_rng(0).permutation(len(images))
    together = detector([images[index] for index in order])
    assert sum(detection.best is not None for detection in together) >= 8
    assert any(detection.faces == 0 for detection in together)
    for index, detection in zip(order, together, strict=True):
        same(detection, detector([images[index]])[0])


def test_small_images_are_not_searched(detector: FaceDetector) -> None:
    sizes = [(1, 1), (19, 300), (300, 19), (20, 20), (20, 300)]
    found = detector([np.full((*size, 3), 127, np.uint8) for size in sizes])
    assert [detection.faces for detection in found] == [None, None, None, 0, 0]


def test_most_probable_face_and_the_larger_of_equals(detector: FaceDetector, monkeypatch: pytest.MonkeyPatch) -> None:
    def found(boxes: list[list[float]], probabilities: list[float]) -> Detection:
        answer = np.array([boxes]), np.array([probabilities]), np.arange(10.0 * len(boxes)).reshape(1, -1, 5, 2)
        monkeypatch.setattr(detector._mtcnn, "detect", lambda images, landmarks: answer)
        return detector([np.zeros((30, 30, 3), np.uint8)])[0]

    small, large = [0, 0, 5, 5], [0, 0, 10, 10]
    likely = found([large, small], [0.8, 0.9]).best
    assert likely is not None
    assert likely.box.tolist() == small
    assert likely.landmarks.ravel().tolist() == list(range(10, 20))
    equal = found([small, large], [1.0, 1.0]).best
    assert equal is not None
    assert equal.box.tolist() == large


def test_one_failure_does_not_spoil_the_batch(
    detector: FaceDetector, group: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    detect = detector._mtcnn.detect

    def stumble(images: np.ndarray, landmarks: bool) -> object:
        if (images == 0).all(axis=(1, 2, 3)).any():
            raise IndexError("The shape of the mask does not match")
        return detect(images, landmarks=landmarks)

    monkeypatch.setattr(detector._mtcnn, "detect", stumble)
    face = group[240:420, 30:190]
    first, second, third = detector([face, np.zeros_like(face), face])
    assert second == Detection(faces=None)
    assert first.faces == third.faces == 1


def test_embedding_is_the_standardised_rgb_crop_of_length_one(tmp_path: Path) -> None:
    encoder = FaceEncoder(write_onnx(tmp_path / "model.onnx"), CPU)
    crop = np.empty((112, 112, 3), np.uint8)
    crop[:] = 255, 0, 204
    expected = np.array([1, -1, (204 - 127.5) / 127.5])
    assert encoder.dimension == 3
    assert np.allclose(encoder([crop]), [expected / np.sqrt(1 + 1 + 0.36)], atol=5e-5)
    assert encoder([]).shape == (0, 3)


def test_fixed_and_free_batch_agree(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(3, 8))
    crops = list(rng.integers(0, 256, (5, 112, 112, 3), dtype=np.uint8))
    free = FaceEncoder(write_onnx(tmp_path / "free.onnx", weights), CPU)(crops)
    fixed = FaceEncoder(write_onnx(tmp_path / "fixed.onnx", weights, batch=1), CPU)(crops)
    assert np.allclose(free, fixed, atol=1e-6)
    assert np.allclose(np.linalg.norm(free, axis=1), 1, atol=1e-6)


@pytest.mark.gpu
def test_gpu_agrees(tmp_path: Path, detector: FaceDetector, group: np.ndarray) -> None:
    device = torch.device("cuda")
    [here], [there] = detector([group]), FaceDetector(**DEFAULTS, device=device)([group])
    assert here.best is not None
    assert there.best is not None
    assert np.allclose(here.best.landmarks, there.best.landmarks, atol=0.5)
    path = write_onnx(tmp_path / "model.onnx", np.random.default_rng(0).normal(size=(3, 8)))
    crops = [align(group, here.best.landmarks)]
    encoder = FaceEncoder(path, device)
    assert encoder._model.session.get_providers()[0] == "CUDAExecutionProvider"
    assert np.allclose(FaceEncoder(path, CPU)(crops), encoder(crops), atol=1e-3)
