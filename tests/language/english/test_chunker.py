"""Noun phrases by rule, on captions marked by hand; spaCy's chunks in the same form."""

import re

import pytest
import spacy
from spacy.tokens import Doc

from trivium.language.english.chunker import choose_chunker, chunk_by_rules, chunk_by_spacy
from trivium.language.english.sentences import read_sentence

MARKED = [  # invented captions, every phrase in brackets
    "[Two dogs] share [a frisbee].",
    "[A man] in [a red shirt] rides [a brown horse] on [the beach].",
    "[A group of people] standing around [a wooden table].",
    "[A black and white cat] is sleeping next to [an open laptop].",
    "[A swimming pool] with [a large, yellow umbrella].",
    "There are [two traffic lights] in front of [a tall building].",
    "[A woman] holding [a cup] and [a book] sits on [a park bench].",
    "[The kitchen] has [a stove], [a sink] and [a window].",
    "[Several well-dressed men] stand near [a parked car].",
    "[A boy] is getting ready to throw [the ball].",
    "[A slice of pizza] on [a paper plate].",
    "[An orange] and [a banana] in [a bowl].",
    "[A very small dog] looks at [his reflection] in [the mirror].",
    "[A train] that is parked at [the station].",
    "[A man]'s [hat] on [a table]",
    "[Surfers] ride [waves] while [people] watch from [the shore]",
    "[A living room] filled with [furniture].",
    "[A white plate] topped with [meat] and [vegetables].",
    "[A street sign] is hanging from [a metal pole].",
    "[Four giraffes] eating from [the trees] in [their enclosure].",
    "[A man] crossing [the street] at [a crosswalk]",
    "[People] waiting at [a railroad crossing] for [a train] crossing [the road]",
    "[A crossing sign] on [a pole]",
    "[A person] carefully crossing [a street]",
    "[A young man], crossing [the street], looks at [a bus]",
    "[A man] is painting [a wall] of [an office building]",
    "[A painting] of [a church] on [a wall]",
    "[A woman] lighting [candles] on [a cake]",
    "[The lighting] in [a room] with [a table setting]",
    "[A plane] landing near [a tall building]",
    "[A bird] landing on [a boat landing]",
    "[The opening] of [a cave]",
    "[A boat] docks at [the docks]",
    "[Two boats] dock alongside [a boat dock]",
    "[A car] parks next to [a car park]",
    "[A bus] stops near [two bus stops]",
    "[A building] houses [a museum]",
    "[A man] signs [a ball] near [a sign]",
    "[A giraffe] towers over [two clock towers]",
    "[A dog] bowls at [a bowling alley] beside [two dog bowls]",
    "[Two bears] drink [water]",
    "[A boy] hold [a dog]",
    "[A man] sitting back on [a couch]",
    "[A couple bikes] by [a wall]",
    "[A ship] coming to dock",
]


def _marked(text: str) -> tuple[str, list[str]]:
    return re.sub(r"[\[\]]", "", text), re.findall(r"\[(.*?)\]", text)


def _phrases(text: str) -> list[str]:
    sentence = read_sentence(text)
    [found] = chunk_by_rules([sentence])
    return [text[slice(*sentence.characters(*each))] for each in found]


@pytest.mark.parametrize("text", MARKED)
def test_phrases_are_those_marked_by_hand(text):
    plain, expected = _marked(text)
    assert _phrases(plain) == expected


@pytest.mark.parametrize("text", ["", "   ", "...", "she is there", "12", "ein Hund läuft über die Straße", "犬"])
def test_any_text_gives_phrases_inside_it(text):
    sentence = read_sentence(text)
    [found] = chunk_by_rules([sentence])
    assert all(0 <= first < end <= len(sentence.words) for first, end in found)


def test_auto_takes_spacy_only_where_its_pipeline_is(tmp_path):
    assert choose_chunker("auto", "no_such_pipeline") == "rules"
    assert choose_chunker("auto", str(tmp_path / "none")) == "rules"
    assert choose_chunker("auto", str(tmp_path)) == "spacy"
    assert choose_chunker("auto", "spacy") == "spacy"  # any package that can be imported
    assert choose_chunker("rules", str(tmp_path)) == "rules"
    assert choose_chunker("spacy", "no_such_pipeline") == "spacy"


def test_words_know_their_places():
    sentence = read_sentence("A man’s horse-drawn  cart.")
    assert sentence.words == ("a", "man", "'s", "horse", "drawn", "cart", ".")
    assert [sentence.text[slice(*span)] for span in sentence.spans] == ["A", "man", "’s", "horse", "drawn", "cart", "."]
    assert sentence.hyphenated == {4}
    assert sentence.words_in(2, 5) == (1, 2)
    assert sentence.words_in(100, 120) == (0, 0)


def test_spacy_chunks_are_joined_and_lose_their_pronouns(tmp_path):
    @spacy.Language.component("marked_chunks")
    def mark(document: Doc) -> Doc:  # a parser that knows one sentence
        for token, (head, relation, tag) in zip(
            document,
            [
                (1, "det", "DET"),
                (4, "nsubj", "NOUN"),
                (1, "prep", "ADP"),
                (2, "pobj", "NOUN"),
                (4, "ROOT", "VERB"),
                (4, "dobj", "PRON"),
            ],
            strict=True,
        ):
            token.head, token.dep_, token.pos_ = document[head], relation, tag
        return document

    pipeline = spacy.blank("en")
    pipeline.add_pipe("marked_chunks")
    sentence = read_sentence("A group of men push it")
    assert chunk_by_spacy(pipeline, [sentence]) == [[(0, 4)]]
