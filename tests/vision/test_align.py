import numpy as np
import pytest
from insightface.utils import face_align
from skimage.transform import SimilarityTransform

from trivium.vision.align import TEMPLATE, align, similarity_transform


def moved(points: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    return points @ matrix[:, :2].T + matrix[:, 2]


def faces(count: int) -> list[np.ndarray]:
    """Landmarks as a detector gives them: the template turned, scaled, shifted, and noise."""
    rng = np.random.default_rng(0)
    result = []
    for _ in range(count):
        angle, scale = rng.uniform(-np.pi, np.pi), rng.uniform(0.2, 3)
        turn = scale * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        result.append(TEMPLATE @ turn.T + rng.uniform(-50, 300, 2) + rng.normal(0, 3, (5, 2)))
    return result


def test_quarter_turn_double_size_and_shift() -> None:
    source = np.array([[0, 0], [1, 0], [0, 1]])
    target = np.array([[5, 7], [5, 9], [3, 7]])  # (x, y) → (5 − 2y, 7 + 2x)
    assert np.allclose(similarity_transform(source, target), [[0, -2, 5], [2, 0, 7]], atol=1e-12)


def test_template_stays_where_it_is() -> None:
    assert np.allclose(similarity_transform(TEMPLATE, TEMPLATE), [[1, 0, 0], [0, 1, 0]], atol=1e-9)


def test_never_mirrors() -> None:
    mirrored = TEMPLATE * [-1, 1]
    matrix = similarity_transform(mirrored, TEMPLATE)
    assert np.linalg.det(matrix[:, :2]) > 0


def test_agrees_with_scikit_image() -> None:
    for landmarks in faces(20):
        reference = SimilarityTransform()
        assert reference.estimate(landmarks, TEMPLATE)
        assert np.allclose(similarity_transform(landmarks, TEMPLATE), reference.params[:2], atol=1e-8)


def test_no_small_change_fits_better() -> None:
    rng = np.random.default_rng(1)
    for landmarks in faces(5):
        best = similarity_transform(landmarks, TEMPLATE)
        error = ((moved(landmarks, best) - TEMPLATE) ** 2).sum()
        for _ in range(50):
            a, b, x, y = rng.normal(0, 1e-3, 4)
            other = best + np.array([[a, -b, x], [b, a, y]])  # still a similarity
            assert ((moved(landmarks, other) - TEMPLATE) ** 2).sum() > error


def test_agrees_with_insightface() -> None:
    rng = np.random.default_rng(2)
    image = rng.integers(0, 256, (240, 320, 3), dtype=np.uint8)
    for landmarks in faces(10):
        reference = face_align.norm_crop(image, landmarks.astype(np.float32))
        difference = np.abs(align(image, landmarks.astype(np.float32)).astype(int) - reference)
        assert difference.max() <= 8  # the warp's own fixed-point steps, where the transforms differ by 1e-6
        assert difference.mean() < 0.01


def test_turning_the_picture_does_not_change_the_crop() -> None:
    y, x = np.mgrid[:200, :160]
    image = np.stack([x, y, (x + y) / 2], axis=-1).astype(np.uint8)
    landmarks = TEMPLATE * 1.1 + [10, 20]
    turned = np.column_stack([landmarks[:, 1], 160 - 1 - landmarks[:, 0]])  # np.rot90: (x, y) → (y, width − 1 − x)
    assert np.abs(align(image, landmarks).astype(int) - align(np.rot90(image), turned)).max() <= 1


def test_crop_of_an_unmoved_face_is_the_picture() -> None:
    image = np.random.default_rng(3).integers(0, 256, (130, 120, 3), dtype=np.uint8)
    assert np.array_equal(align(image, TEMPLATE), image[:112, :112])


def test_coinciding_landmarks() -> None:
    with pytest.raises(ValueError, match="coincide"):
        similarity_transform(np.ones((5, 2)), TEMPLATE)
