"""A preparation that cannot be taken apart is refused."""

import pytest
from torchvision.transforms import Resize, ToTensor

from trivium.decorrelation.models.interface import PlainPreparation


def test_what_does_not_end_in_a_standardised_tensor():
    with pytest.raises(TypeError, match="does not end"):
        PlainPreparation([Resize(4), ToTensor()])
