"""Every face of a picture, where a person may choose one."""

from collections.abc import Sequence
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray

from trivium.vision.faces import Face, FaceDetector
from trivium.vision.image_encoder import FaceEncoderParameters


class EveryFace(FaceDetector):
    """The same detector; it tells of the less probable faces, too."""

    @classmethod
    def of(cls, parameters: FaceEncoderParameters, device: torch.device) -> Self:
        """With an encoder's settings."""
        return cls(
            min_side=parameters.min_side,
            min_face=parameters.min_face,
            thresholds=parameters.thresholds,
            factor=parameters.factor,
            device=device,
        )

    def every(self, image: NDArray[np.uint8]) -> Sequence[Face]:
        """The faces of an RGB image (height, width, 3), from left to right."""
        if not self([image])[0].faces:  # None where it is too small, or the detector stumbles
            return []
        boxes, probabilities, landmarks = self._mtcnn.detect(image, landmarks=True)
        faces = [
            Face(float(probability), np.asarray(box, np.float32), np.asarray(points, np.float32))
            for box, probability, points in zip(boxes, probabilities, landmarks, strict=True)
        ]
        return sorted(faces, key=lambda face: float(face.box[0] + face.box[2]))
