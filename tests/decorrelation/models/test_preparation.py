"""When two preparations count as the same."""

import pytest
from open_clip.transform import PreprocessCfg, image_transform_v2
from torchvision.transforms import Compose, InterpolationMode, Resize, ToTensor

from trivium.decorrelation.models.preparation import CLIP, IMAGENET, PlainPreparation, Preparation

OURS = {"size": 16, "resize": 20, "standard": CLIP, "interpolation": InterpolationMode.BICUBIC, "smallest_crop": 1.0}


def digest(**changes):
    return Preparation(**OURS | changes).plain.scaling_digest


def open_clip_digest(**changes):
    steps = image_transform_v2(PreprocessCfg(**{"size": 16, "resize_mode": "longest"} | changes), is_train=False)
    assert isinstance(steps, Compose)
    return PlainPreparation(steps.transforms).scaling_digest


def test_standardisation_and_training_do_not_tell_scalings_apart():
    assert digest() == digest(standard=IMAGENET) == digest(smallest_crop=0.5)
    assert open_clip_digest() == open_clip_digest(mean=(0.5, 0.5, 0.5))


@pytest.mark.parametrize(
    "changes", [{"size": 15}, {"resize": 21}, {"resize": None}, {"interpolation": InterpolationMode.BILINEAR}]
)
def test_scalings_that_differ(changes):
    assert digest(**changes) != digest()


@pytest.mark.parametrize(
    "changes", [{"size": 15}, {"resize_mode": "squash"}, {"interpolation": "bilinear"}, {"fill_color": 9}]
)
def test_scalings_of_open_clip_that_differ(changes):
    assert open_clip_digest(**changes) != open_clip_digest()


def test_what_does_not_end_in_a_standardised_tensor():
    with pytest.raises(TypeError, match="does not end"):
        PlainPreparation([Resize(4), ToTensor()])
