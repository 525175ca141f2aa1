"""The sentence bank fits the code that fills it, and its English is right where a program can tell."""

import re
from string import Formatter

import pytest

from sample.kvqae.bank import PERSONS, Relation, kinds, relations, relations_of
from sample.kvqae.pools import RECIPES
from sample.kvqae.wording import decade, join, tidy

EVERY = pytest.mark.parametrize("relation", relations().values(), ids=lambda relation: relation.name)


def placeholders(wording: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(wording) if name}


@EVERY
def test_a_relation_can_be_told_and_asked(relation: Relation):
    assert relation.pool in RECIPES
    assert set(relation.kinds) <= set(kinds())
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


def test_some_relations_stay_unknown_to_pretraining():
    unseen = [relation for relation in relations().values() if not relation.trivia and not relation.inverse]
    assert 0.1 <= len(unseen) / len(relations()) <= 0.4


def test_every_kind_has_something_to_tell():
    assert all(len(relations_of(name)) >= 2 and kind.fillers for name, kind in kinds().items())
    persons = sum(kinds()[name].share for name in PERSONS)
    assert 0.4 <= persons / sum(kind.share for kind in kinds().values()) <= 0.6


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ("a agrarian law", "An agrarian law"),
        ("it was a Ivory Cup and a union", "It was an Ivory Cup and a union"),
        ("“work before gold” is a old motto", "“Work before gold” is an old motto"),
        ("Visa a la carte", "Visa a la carte"),
    ],
)
def test_tidy(raw: str, said: str):
    assert tidy(raw) == said


def test_decades_and_lists():
    assert (decade(1874), decade(1803), decade(1910)) == ("1870s", "early 1800s", "1910s")
    assert (join(["poet"]), join(["poet", "painter"])) == ("poet", "poet and painter")
