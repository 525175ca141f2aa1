"""Parameters of stages: what stands elsewhere in `params.yaml`."""

from pathlib import Path
from typing import Annotated, ClassVar, Literal

import pydantic
import pytest

from trivium.core.errors import BadInput
from trivium.core.parameters import Parameters, shared, used_values, validate, values_of

FILE = Path("params.yaml")


class Reading(Parameters):
    batch: int
    max_tokens: int
    model: str

    places: ClassVar = {"max_tokens": "kvqae.texts.max_tokens", "model": "kvqae.cells.{cell}.model"}


class Asking(Reading):
    depth: int = shared("kvqae.depth", ge=1)

    places: ClassVar = {"batch": "kvqae.texts.batch"}


def test_places_are_said_with_a_field_by_the_class_or_by_what_it_inherits_from():
    assert Asking.places == {"depth": "kvqae.depth", "batch": "kvqae.texts.batch", **Reading.places}
    with pytest.raises(pydantic.ValidationError, match="depth"):
        Asking(batch=1, max_tokens=1, model="clip", depth=0)


@pytest.mark.parametrize("own", [3, "clip", [1], 0])
def test_a_section_that_is_no_mapping_is_refused(own):
    with pytest.raises(BadInput, match=r"params\.yaml: field 'kvqae\.read': not a mapping of keys; got "):
        values_of({"kvqae": {"read": own}}, "kvqae.read", Reading, FILE, {})


TREE = {"kvqae": {"read": {"batch": 4}, "texts": {"max_tokens": 72}, "cells": {"a": {"model": "clip"}}}}


def test_a_value_said_elsewhere_is_found():
    values = values_of(TREE, "kvqae.read", Reading, FILE, {"cell": "a"})
    assert Reading.model_validate(values) == Reading(batch=4, max_tokens=72, model="clip")
    assert "max_tokens" not in TREE["kvqae"]["read"], "the tree is left as it is"


def test_the_section_itself_comes_first():
    tree = {"kvqae": TREE["kvqae"] | {"read": {"batch": 4, "max_tokens": 8}}}
    assert values_of(tree, "kvqae.read", Reading, FILE, {"cell": "a"})["max_tokens"] == 8


def test_what_is_not_there_is_named():
    with pytest.raises(BadInput, match=r"field 'kvqae.cells.b': no such key.*choices: a"):
        values_of(TREE, "kvqae.read", Reading, FILE, {"cell": "b"})
    tree = {"kvqae": TREE["kvqae"] | {"texts": {"words": 3}}}
    with pytest.raises(
        BadInput, match=r"field 'kvqae.texts.max_tokens': no such key; expected a value for kvqae.read.*words"
    ):
        values_of(tree, "kvqae.read", Reading, FILE, {"cell": "a"})


@pytest.mark.parametrize(("key", "value"), [("a", {"b": {"c": 3}, "d": None}), ("a.b.c", 3), ("a.d", None)])
def test_what_others_used_is_found_by_its_key(key, value, tmp_path):
    (tmp_path / "params.yaml").write_text("a: {b: {c: 3}, d: null}")
    assert used_values(tmp_path / "params.yaml", key) == value


class One(Parameters):
    kind: Literal["one"]
    size: int = pydantic.Field(default=1, ge=1)
    scale: float = 1.0


class Two(Parameters):
    kind: Literal["two"]
    two: dict[str, int] = pydantic.Field(default={})


class Nested(Parameters):
    models: dict[str, Annotated[One | Two, pydantic.Field(discriminator="kind")]] = pydantic.Field(default={})
    pairs: list[One] = pydantic.Field(default=[])
    shared: int = 0

    places: ClassVar = {"shared": "kvqae.{cell}.shared", "models": "kvqae.models"}


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ({"pairs": [{"kind": "one"}, {"kind": "one", "size": 0}]}, "kvqae.read.pairs.1.size"),
        ({"models": {"a": {"kind": "one", "size": 0}}}, "kvqae.models.a.size"),
        ({"models": {"a": {"kind": "two", "two": {"b": "x"}}}}, "kvqae.models.a.two.b"),
        ({"shared": "x"}, "kvqae.c1.shared"),
    ],
)
def test_a_bad_value_is_named_by_its_place(values, name):
    with pytest.raises(BadInput, match=rf"bad parameters\n  {name}: "):
        validate(Nested, values, "kvqae.read", FILE, {"cell": "c1"})
