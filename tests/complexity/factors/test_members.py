"""Every factor, by what its own class says of it: found by its file, whole, and right on the tiny world."""

from collections import Counter

import pytest
import yaml

from tests.complexity.factor_world import ADAPTATION, EXAMPLES, SYNTAX, TEXTS, TRAINING
from tests.complexity.paper_factors import PARAMETERS
from tests.page.test_complexity_parts import PUBLISHED
from trivium.complexity import members as families
from trivium.complexity.factors.corpora import Corpora, lexical_units
from trivium.complexity.factors.inflections import known_inflections
from trivium.complexity.factors.registry import AnyFactors, factor_classes
from trivium.page.complexity.reasons import PROPERTIES

CLASSES = factor_classes()


def test_the_seven_of_the_paper_are_found_and_run():
    assert list(CLASSES)[:7] == PUBLISHED["table_2"]["factors"] == ["f0", "f1", "f2", "f3", "f4", "f5", "f6"]
    assert [factor.name for factor in AnyFactors.model_validate(PARAMETERS).chosen()] == list(PARAMETERS)


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_says_what_it_is(name):
    found = CLASSES[name]
    assert found.description.endswith("?")
    assert found.published in {None, *PUBLISHED["table_2"]["factors"]}
    assert found.defining in {None, *PROPERTIES}


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


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ("{}", "at least one factor"),
        ("{f9: {}}", "f9\n.*Extra inputs"),
        ("{f4: {arcs: 0}}", "f4.arcs"),
        ("f4:", "at least one factor"),
    ],
)
def test_the_section_is_checked(section, message):
    with pytest.raises(ValueError, match=message):
        AnyFactors.model_validate(yaml.safe_load(section))


def test_factors_stand_in_the_order_of_their_numbers(tmp_path):
    for name in ("f10", "f9", "f2"):
        (tmp_path / f"{name}.py").touch()
    (tmp_path / "__init__.py").touch()
    family = type(families)("family")
    family.__path__ = [str(tmp_path)]
    assert families.names_of(family) == ["f2", "f9", "f10"]


def test_a_module_without_its_class_is_refused(tmp_path, monkeypatch):
    (tmp_path / "odd_family").mkdir()
    for name in ("__init__", "f8"):
        (tmp_path / f"odd_family/{name}.py").write_text("class Other:\n    name = 'f9'\n")
    monkeypatch.syspath_prepend(tmp_path)
    import odd_family.f8

    with pytest.raises(TypeError, match=r"odd_family\.f8: expected one class with name = 'f8', found 0"):
        families.member(odd_family.f8, "name")
