"""The bench of matching on a few captions: both peers name the classes that ours does, whatever the times."""

import pytest

from bench import harness, matching
from trivium.core.parameters import read_parameters
from trivium.language.english.chunker import RuleChunker
from trivium.language.english.matching import Matcher
from trivium.language.english.sentences import read_sentence
from trivium.language.english.word_lists import WORDS

ODD = (  # expressions that overlap, lead out of their phrase, are undone, or may stand only at its end
    "A man eats a hot dog beside a dog.",
    "A hot dog cart and a bag of dog food.",
    "A toy car under a glass of wine.",
    "An orange cat with an orange.",
    "A pair of skis in a fork in the road.",
    "",
)


@pytest.fixture
def few(monkeypatch):
    for name, value in (("CAPTIONS", 60), ("DISTINCT", 20), ("PEER", 30), ("SHARD", 16)):
        monkeypatch.setattr(matching, name, value)
    monkeypatch.setattr(harness, "TRIALS", 1)


def test_both_peers_name_what_ours_does(few, figures):
    matching.main()
    found = figures("matching")
    race = found["races"]["phrases of 30 captions"]
    assert (race["popular"], race["expert"]) == ("spaCy's PhraseMatcher", "a tree of words")
    assert found["captions"] == 60
    assert 1 <= found["classes_named_a_caption"] <= 4
    assert {"peak_mib", "peak_mib_ten_times_the_captions"} <= found.keys()


def test_peers_know_every_rule():
    classes = tuple(read_parameters(WORDS)["classes"])
    rules, sentences = matching.Rules(classes), [read_sentence(text) for text in ODD]
    given = list(zip(sentences, RuleChunker().chunk(sentences), strict=True))
    expected = matching.matched(Matcher(classes), given)
    assert [sorted({name for names in each for name in names}) for each in expected] == [
        ["dog", "hot dog", "person"],
        [],
        ["wine glass"],
        ["cat", "orange"],
        ["skis"],
        [],
    ]
    assert matching.by_spacy(rules, given)() == expected
    assert matching.by_tree(rules, matching.tree_of(rules), given) == expected
