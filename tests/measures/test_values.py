"""What measures take and give are values: nobody changes one that others hold too."""

from dataclasses import FrozenInstanceError, fields

import pytest

from trivium.measures.agreement import HardnessAgreement
from trivium.measures.effects import ClusteredDifference
from trivium.measures.frames import PlacedWord, SetScore
from trivium.measures.fusion import Candidates, Scale
from trivium.measures.rank_tests import FrameLevel
from trivium.measures.rasch import Rasch
from trivium.measures.runs import Qrels, Run
from trivium.measures.trainings import Difference, Sides
from trivium.measures.weight_search import WeightSearch


@pytest.mark.parametrize(
    "value",
    [
        Candidates, ClusteredDifference, Difference, FrameLevel, HardnessAgreement, PlacedWord, Qrels, Rasch, Run, Scale,
        SetScore, Sides, WeightSearch,
    ],
    ids=lambda value: value.__name__,
)  # fmt: skip
def test_a_value_does_not_change(value):
    one = object.__new__(value)
    for field in fields(value):
        with pytest.raises(FrozenInstanceError):
            setattr(one, field.name, None)
