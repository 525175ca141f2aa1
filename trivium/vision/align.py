"""Align faces: warp five landmarks onto the 112 × 112 template that ArcFace was trained on (kvqae.md §3)."""

import cv2
import numpy as np
from numpy.typing import NDArray

SIZE = 112
# Left eye, right eye, nose, left and right corner of the mouth, as (x, y): InsightFace's template.
TEMPLATE = np.array(
    [[38.2946, 51.6963], [73.5318, 51.5014], [56.0252, 71.7366], [41.5493, 92.3655], [70.7299, 92.2041]]
)


def similarity_transform(source: NDArray[np.floating], target: NDArray[np.floating]) -> NDArray[np.float64]:
    """Compute the rotation R, scale c and translation t that minimise Σᵢ ‖targetᵢ − (c R sourceᵢ + t)‖².

    With the covariance Σ = (1/n) Σᵢ (targetᵢ − μₜ)(sourceᵢ − μₛ)ᵀ = U D Vᵀ and S = diag(1, det(U) det(V)), which
    forbids mirroring: R = U S Vᵀ, c = tr(D S) / σ²ₛ, t = μₜ − c R μₛ. Source: Umeyama, PAMI 13(4), 1991.

    Points are (n, 2), the result is the (2, 3) matrix [c R | t]. `ValueError`: the source points coincide.
    """
    source, target = np.asarray(source, dtype=np.float64), np.asarray(target, dtype=np.float64)
    source_mean, target_mean = source.mean(axis=0), target.mean(axis=0)
    centred = source - source_mean
    variance = (centred**2).sum() / len(source)
    if not variance > 0:
        raise ValueError(f"landmarks coincide: {source.tolist()}")
    left, singular, right = np.linalg.svd((target - target_mean).T @ centred / len(source))
    sign = np.array([1.0, np.linalg.det(left) * np.linalg.det(right)])
    rotation = (left * sign) @ right
    scale = (singular * sign).sum() / variance
    return np.column_stack([scale * rotation, target_mean - scale * rotation @ source_mean])


def align(image: NDArray[np.uint8], landmarks: NDArray[np.floating]) -> NDArray[np.uint8]:
    """Warp a face of an image (height, width, 3) onto the template: (112, 112, 3), bilinear, black outside the image.

    Landmarks are (5, 2), (x, y) in pixels, in the template's order.
    """
    return cv2.warpAffine(image, similarity_transform(landmarks, TEMPLATE), (SIZE, SIZE))  # type: ignore[return-value]
