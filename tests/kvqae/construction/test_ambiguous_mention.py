"""Ambiguous mentions: which are possible, what they replace, and how they are drawn."""

from collections import Counter

import pytest

from trivium.kvqae.construction.generation import (
    AmbiguousMention,
    draw_mention,
    possible_mentions,
    repeat_mention,
    replace_mentions,
)
from trivium.kvqae.construction.mentions import Mention

WRITER = {"human": True, "types": ["human"], "occupations": ["writer", "journalist"], "gender": "female"}


def mention(text, surface, dependency, subtree=None, possessive=False):
    """A mention of the text's first `surface`, whose subtree is the first `subtree`."""
    subtree = subtree or surface
    start, subtree_start = text.index(surface), text.index(subtree)
    ends = start + len(surface), subtree_start + len(subtree)
    return Mention("q", text, start, ends[0], "PERSON", dependency, subtree_start, ends[1], possessive, "head")


@pytest.mark.parametrize(
    ("text", "surface", "dependency", "subtree", "possessive", "expected"),
    [
        ("Where was Ada Lark born?", "Ada Lark", "nsubjpass", None, False, ["Where was this writer born?",
            "Where was this journalist born?", "Where was this woman born?", "Where was she born?"]),
        ("Who married Ada Lark?", "Ada Lark", "dobj", None, False, ["Who married this writer?",
            "Who married this journalist?", "Who married this woman?", "Who married her?"]),
        ("Which prize went to Ada Lark in 1912?", "Ada Lark", "pobj", None, False, [
            "Which prize went to this writer in 1912?", "Which prize went to this journalist in 1912?",
            "Which prize went to this woman in 1912?", "Which prize went to her in 1912?"]),
        ("What was Ada Lark's cat called?", "Ada Lark", "poss", "Ada Lark's", True, [
            "What was this writer's cat called?", "What was this journalist's cat called?",
            "What was this woman's cat called?", "What was her cat called?"]),
        ("Which house was Ada Lark's?", "Ada Lark", "poss", "Ada Lark's", True, ["Which house was this writer's?",
            "Which house was this journalist's?", "Which house was this woman's?", "Which house was hers?"]),
    ],
)  # fmt: skip
def test_every_place_of_a_person(text, surface, dependency, subtree, possessive, expected):
    asked = mention(text, surface, dependency, subtree, possessive)
    possible = possible_mentions(asked, **WRITER)
    assert [each.type for each in possible] == ["occupation", "occupation", "gender", "pronoun"]
    assert [replace_mentions(text, [(asked, each.text)]) for each in possible] == expected


@pytest.mark.parametrize("marker", ["'s", "’s", "'"])
def test_the_possessive_marker_goes_with_the_mention_whether_or_not_the_subtree_holds_it(marker):
    text = f"Who was James Wells{marker} wife?"
    for subtree in ("James Wells", f"James Wells{marker}"):
        asked = mention(text, "James Wells", "poss", subtree, possessive=True)
        assert replace_mentions(text, [(asked, "his")]) == "Who was his wife?"


@pytest.mark.parametrize("quotes", ["''", '""', "‘’", "“”"])
def test_quotation_marks_go_and_the_closing_one_is_no_possessive(quotes):
    opening, closing = quotes
    text = f"Who liked the {opening}Emma{closing} of old?"
    asked = mention(text, "Emma", "dobj", possessive=closing in "'’")
    drawn = possible_mentions(asked, human=False, types=["book"], occupations=[], gender=None)
    assert [replace_mentions(text, [(asked, each.text)]) for each in drawn] == ["Who liked this book of old?"]


@pytest.mark.parametrize(
    ("text", "surface", "subtree", "expected"),
    [
        ("When did the poet Ada Lark, a native of Tarn, die?", "Ada Lark", "the poet Ada Lark, a native of Tarn,",
         "When did this writer die?"),
        ("Did Dr. Ada Lark, who hated tea, drink coffee?", "Ada Lark", "Dr. Ada Lark, who hated tea,",
         "Did this writer drink coffee?"),
        ("What sank the Titanic?", "Titanic", "Titanic", "What sank this writer?"),
        ("Does a Ada Lark sing?", "Ada Lark", "Ada Lark", "Does this writer sing?"),
        ("The tall Ada Lark did what?", "Ada Lark", "The tall Ada Lark", "This writer did what?"),
        ("Ada Lark, where was she born?", "Ada Lark", "Ada Lark", "This writer, where was she born?"),
        ("She wrote. “Ada Lark” is her name?", "Ada Lark", "Ada Lark", "She wrote. This writer is her name?"),
        ("Who preceded Ada Lark?", "Ada Lark", "Ada Lark?", "Who preceded this writer?"),
        ("Who wed Ada Lark, the poet, and Bo Finch?", "Ada Lark", "Ada Lark, the poet",
         "Who wed this writer, and Bo Finch?"),
        ("Who sang with Simon and Garfunkel?", "Simon and Garfunkel", None, "Who sang with this writer?"),
    ],
)  # fmt: skip
def test_the_whole_subtree_goes_and_sentences_begin_with_capitals(text, surface, subtree, expected):
    asked = mention(text, surface, "nsubj", subtree)
    assert replace_mentions(text, [(asked, "this writer")]) == expected


def test_of_a_root_only_the_mention_itself_is_replaced():
    text = "Who in 1912 was the Ada Lark of Tarn?"
    asked = mention(text, "Ada Lark", "root", text)
    assert replace_mentions(text, [(asked, "this writer")]) == "Who in 1912 was this writer of Tarn?"
    assert [each.type for each in possible_mentions(asked, **WRITER)] == ["occupation", "occupation", "gender"]


def test_other_entities_go_by_their_type_and_the_fictional_also_by_gender():
    asked = mention("Who built the Iron Span?", "Iron Span", "dobj", "the Iron Span")
    bridge = possible_mentions(asked, human=False, types=["bridge", "monument"], occupations=[], gender=None)
    assert bridge == [AmbiguousMention("type", "this bridge"), AmbiguousMention("type", "this monument")]
    hero = possible_mentions(asked, human=False, types=["mythical hero"], occupations=[], gender="male")
    assert [each.text for each in hero] == ["this mythical hero", "this man", "him"]
    horse = possible_mentions(asked, human=False, types=["horse"], occupations=[], gender="male organism")
    assert [each.text for each in horse] == ["this horse"]


def test_a_person_without_gender_or_occupation():
    asked = mention("Where was Ada Lark born?", "Ada Lark", "nsubj")
    assert [each.text for each in possible_mentions(asked, **WRITER | {"gender": None, "occupations": ["poet"]})] == [
        "this poet"
    ]
    assert [each.text for each in possible_mentions(asked, **WRITER | {"occupations": []})] == ["this woman", "she"]
    assert possible_mentions(asked, **WRITER | {"gender": None, "occupations": []}) == []


def test_repeated_mentions_are_replaced_together_and_one_inside_another_goes_with_it():
    text = "Ada Lark was from Tarn. Where is Ada Lark's grave?"
    first = mention(text, "Ada Lark", "nsubj")
    start = text.rindex("Ada Lark")
    again = Mention("q", text, start, start + 8, "PERSON", "poss", start, start + 10, True, "grave")
    assert replace_mentions(text, [(again, "her"), (first, "this writer")]) == (
        "This writer was from Tarn. Where is her grave?"
    )
    whole = mention(text, "Ada Lark", "nsubj", text[:-1])
    assert replace_mentions(text, [(whole, "this writer"), (again, "her")]) == "This writer?"


def test_a_repetition_is_a_pronoun_else_the_same_noun():
    def ways(*pairs):
        return [AmbiguousMention(kind, text) for kind, text in pairs]

    poet = AmbiguousMention("occupation", "this poet")
    nouns = [("occupation", "this spy's"), ("occupation", "this poet's")]
    assert repeat_mention(poet, ways(*nouns, ("pronoun", "his"))).text == "his"
    assert repeat_mention(poet, ways(*nouns)).text == "this poet's"
    assert repeat_mention(AmbiguousMention("pronoun", "he"), ways(*nouns)).text == "this spy's"


def test_the_type_is_drawn_before_the_mention():
    possible = [AmbiguousMention("occupation", f"this {name}") for name in "abcdefgh"]
    possible += [AmbiguousMention("gender", "this man"), AmbiguousMention("pronoun", "he")]
    drawn = [draw_mention(possible, seed=0, key=f"q{index}") for index in range(3000)]
    types = Counter(each.type for each in drawn)
    # Binomial(3000, 1/3): 1000 ± 26; drawn among all mentions alike, occupations would be 2400.
    assert all(abs(types[name] - 1000) < 130 for name in ("occupation", "gender", "pronoun"))
    occupations = Counter(each.text for each in drawn if each.type == "occupation")
    assert len(occupations) == 8
    assert min(occupations.values()) > 80
