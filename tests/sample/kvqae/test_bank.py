"""The sentence bank fits the code that fills it, and its English is right where a program can tell."""

from string import Formatter

import pytest

from sample.kvqae.bank import Relation, kinds, read, relations
from sample.kvqae.names import recipes

EVERY = pytest.mark.parametrize("relation", relations().values(), ids=lambda relation: relation.name)


def placeholders(wording: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(wording) if name}


@EVERY
def test_a_relation_can_be_told_and_asked(relation: Relation):
    assert relation.pool in recipes() or relation.pool in read("lexicon")
    assert set(relation.of) <= {name for kind in kinds().values() for name in (kind.name, kind.group)}
    assert len(relation.article) >= 3
    assert len(relation.question) >= 2
    assert all("{answer}" in wording for wording in relation.article)
    assert all("{answer}" in wording for wording in (*relation.inverse, *relation.clue))
    assert not any("{answer}" in wording for wording in (*relation.question, *relation.trivia))


@EVERY
def test_viquae_never_names_and_pretraining_always_does(relation: Relation):
    assert all(placeholders(wording) & {"subject", "object", "possessive"} for wording in relation.question)
    assert not any("name" in placeholders(wording) for wording in relation.question)
    assert all("name" in placeholders(wording) for wording in relation.trivia)
    assert not set(relation.question) & set(relation.trivia)
