"""Facts differ in their factor alone, by the pipeline's own definitions; corpora give frames opposite roles."""

import random
from collections import Counter
from typing import Any

import pytest

from sample.french.cast import draw_names
from sample.french.facts import CORPORA, KINDS, Version, build_crossed, get_tellable, group_frames, role_in, write_facts
from trivium.complexity.factors.members.f4 import arcs
from trivium.formats.squad import SquadQuestion


@pytest.fixture(scope="module")
def written() -> dict[str, list[list[Version]]]:
    names = draw_names(random.Random("names"))
    frames = [frame for frame in get_tellable() if len(frame.units_of(noun=False)) > 1]
    return {kind: [made for _, made in write_facts(kind, 40, frames, names, random.Random(kind))] for kind in KINDS}


Crossed = tuple[dict[str, list[SquadQuestion]], list[dict[str, Any]]]


@pytest.fixture(scope="module")
def crossed() -> Crossed:
    return build_crossed(0, train=900, facts=20, assigned_facts=64)


def factors_of(version: Version) -> dict[str, bool]:
    """f1 to f5 as complexity.md §4 defines them, from annotation and syntax."""
    (example,) = version.document.examples
    lemmas = {token.lemma for tree in version.document.question_syntax[example.id] for token in tree.tokens}
    unit = example.frame.lexical_unit
    element = next(one for one in example.frame.elements if one.name == example.answer_element)
    _, count = arcs(version.document.syntax, unit.span, element.span)
    assert count is not None
    return {
        "f1": bool(example.chain),
        "f2": unit.part_of_speech == "noun",
        "f3": unit.lemma not in lemmas,
        "f4": count >= 2,
        "f5": len({one.name for one in example.frame.elements}) == 2,
    }


@pytest.mark.parametrize("kind", KINDS)
def test_versions_of_a_fact_differ_in_what_it_is_about_and_in_nothing_else(
    written: dict[str, list[list[Version]]], kind: str
) -> None:
    for versions in written[kind]:
        assert len({version.answer for version in versions}) == 1
        assert len({str(version.factors) for version in versions}) == len(versions)
        measured = [factors_of(version) for version in versions]
        for version, found in zip(versions, measured, strict=True):
            assert {name: found[name] for name in version.factors if name in found} == {
                name: there for name, there in version.factors.items() if name in found
            }
        others = {"f1", "f2", "f3", "f4", "f5"} - {*kind.split()}
        assert len({str({name: found[name] for name in sorted(others)}) for found in measured}) == 1


def test_a_fact_that_is_asked_once_has_one_question_and_others_one_a_word(
    written: dict[str, list[list[Version]]],
) -> None:
    for kind in ("f1", "f4", "f5"):
        assert all(len({v.document.examples[0].question for v in versions}) == 1 for versions in written[kind])
    for versions in written["f2 f3"]:
        assert (len({v.document.annotated.text for v in versions}), len(versions)) == (2, 4)
        assert len({v.document.examples[0].question for v in versions}) == 2


def test_all_but_the_fact_s_own_sentence_is_the_same(written: dict[str, list[list[Version]]]) -> None:
    for versions in (one for kind in written.values() for one in kind):
        told = [{tree.tokens for tree in version.document.syntax} for version in versions]
        forms = [{" ".join(token.form for token in tokens) for tokens in one} for one in told]
        assert all(len(first - forms[0]) <= 1 for first in forms)


def test_corpora_give_frames_opposite_roles() -> None:
    groups = group_frames(0)
    assert set(Counter(groups.values())) == {0, 1, 2, 3}
    assert len(set(Counter(groups.values()).values())) == 1
    for group in range(4):
        assert [one != other for one, other in zip(role_in("a", group), role_in("b", group), strict=True)] == [True] * 2
    assert len({role_in("a", group) for group in range(4)}) == 4


def test_what_is_asked_is_not_learned(crossed: Crossed) -> None:
    corpora, rows = crossed
    contexts = {row["context"] for row in rows}
    for corpus in CORPORA:
        assert len(corpora[corpus]) == 900
        assert not {one.context for one in corpora[corpus]} & contexts


def test_a_seed_says_everything(crossed: Crossed) -> None:
    assert build_crossed(0, train=900, facts=20, assigned_facts=64) == crossed
    assert build_crossed(1, train=30, facts=2, assigned_facts=2)[1][0] != crossed[1][0]
