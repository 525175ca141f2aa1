"""Every factor, by what its own class says of it: found by its file, whole, and right on the tiny world."""

from collections import Counter

import pytest

from tests.complexity.factor_world import ADAPTATION, EXAMPLES, SYNTAX, TEXTS, TRAINING
from tests.complexity.paper_factors import PARAMETERS
from tests.page.test_complexity_parts import PUBLISHED
from trivium.complexity.factors.corpora import Corpora, known_inflections, lexical_units
from trivium.complexity.factors.registry import FACTORS, AnyFactors


def test_the_seven_of_the_paper_are_found_and_run():
    assert list(FACTORS)[:7] == PUBLISHED["table_2"]["factors"] == ["f0", "f1", "f2", "f3", "f4", "f5", "f6"]
    assert [factor.name for factor in AnyFactors.model_validate(PARAMETERS).chosen()] == list(PARAMETERS)


@pytest.mark.parametrize("name", FACTORS)
def test_a_class_says_what_it_is(name):
    factor = FACTORS[name]
    assert factor.description.endswith("?")


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_factor_says_of_the_tiny_world_what_its_class_tells(name):
    corpora = Corpora(
        adaptation={frame: Counter({f"{frame}.verb": count}) for frame, count in ADAPTATION.items()},
        training=lexical_units(TRAINING),
        syntax=SYNTAX,
        inflections=known_inflections(SYNTAX, [*TRAINING, *TEXTS]),
    )
    (factor,) = AnyFactors.model_validate({name: PARAMETERS[name]}).chosen()
    judged = factor.judge(EXAMPLES, corpora)
    assert tuple(judged.says) == factor.tiny
    assert judged.columns.keys() == factor.columns.keys()
    assert all(len(values) == len(EXAMPLES) for values in judged.columns.values())
    assert all(key.startswith(f"{name}_") for key in judged.metrics)
