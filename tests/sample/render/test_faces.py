"""The real MTCNN finds the faces that are meant to be seen, and none elsewhere."""

import io

import numpy as np
import pytest
import torch
from PIL import Image

from sample.render.faces import portrait, shows_face
from sample.render.photo import encode
from sample.render.photographs import KINDS, render
from trivium.vision.faces import FaceDetector


@pytest.fixture(scope="module")
def detect():
    detector = FaceDetector(
        min_side=20, min_face=20, thresholds=(0.6, 0.7, 0.7), factor=0.709, device=torch.device("cpu")
    )
    return lambda images: detector([np.asarray(Image.open(io.BytesIO(encode(image)))) for image in images])


def test_mtcnn_finds_faces_where_they_are(detect, difficulty):
    alone = difficulty.model_copy(update={"company": 0})
    shown = [(identity, 1) for identity in range(24) if shows_face(identity, 1, alone)]
    portraits = [portrait(*key, size=144, difficulty=alone) for key in shown]
    found = detect([image for image, _ in portraits])
    errors = [
        np.abs(detection.best.landmarks - np.array(landmarks)).mean()
        for detection, (_, landmarks) in zip(found, portraits, strict=True)
        if detection.best
    ]
    assert len(errors) >= 0.95 * len(shown)
    assert np.median(errors) < 2  # pixels


def test_mtcnn_finds_none_elsewhere(detect, difficulty):
    hidden = difficulty.model_copy(update={"faceless": 1, "company": 0})
    pictures = [render("person", identity, 1, size=144, difficulty=hidden) for identity in range(6)]
    pictures += [
        render(kind, identity, 1, size=144, difficulty=difficulty) for kind in KINDS[1:] for identity in (0, 1)
    ]
    assert sum(detection.best is not None for detection in detect(pictures)) <= 1
