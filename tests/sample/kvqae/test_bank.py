"""The sentence bank fits the code that fills it, and its English is right where a program can tell."""

import re
from string import Formatter

import pytest

from sample.kvqae.bank import Relation, kinds, read, relations, relations_of
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
def test_wordings_are_sentences_without_blemish(relation: Relation):
    questions = (*relation.question, *relation.trivia, *relation.inverse)
    assert all(wording.endswith("?") for wording in questions)
    assert all(wording.endswith(".") for wording in (*relation.article, *relation.clue))
    for wording in (*questions, *relation.article):
        assert wording == " ".join(wording.split())
        assert not re.search(r"\b(\w+) \1\b", wording)


@EVERY
def test_viquae_never_names_and_pretraining_always_does(relation: Relation):
    assert all(placeholders(wording) & {"subject", "object", "possessive"} for wording in relation.question)
    assert not any("name" in placeholders(wording) for wording in relation.question)
    assert all("name" in placeholders(wording) for wording in relation.trivia)
    assert not set(relation.question) & set(relation.trivia)


def test_every_kind_has_relations_and_every_wording_of_the_construction_one():
    assert all(len(relations_of(name)) >= 3 for name, kind in kinds().items() if kind.asked)
    assert set(read("construction")["relations"]) <= set(relations())


def test_templates_are_made_of_lists_that_are_there():
    known = {"place", "root", "other_root", "stem", "man", "woman", "person", "full", "given", "country"}
    for recipe in recipes().values():
        templates = [*recipe.make, *recipe.aliases]
        assert {slot for template in templates for slot in placeholders(template)} <= known | set(read("lexicon"))
