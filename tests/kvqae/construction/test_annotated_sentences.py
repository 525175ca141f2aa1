import json

import pytest

from trivium.core.errors import BadInput
from trivium.kvqae.construction.spacy_pipeline import read_annotated

RECORD = {
    "words": ["Who", "taught", "Ada", "Lark", "?"],
    "spaces": [True, True, True, False, False],
    "heads": [1, 1, 3, 1, 1],
    "deps": ["nsubj", "ROOT", "compound", "dobj", "punct"],
    "tags": ["WP", "VBD", "NNP", "NNP", "."],
    "entities": [[2, 4, "PERSON"]],
}


def write(path, **changes):
    path.write_text(json.dumps(RECORD) + "\n" + json.dumps(RECORD | changes) + "\n")
    return path


def test_a_sentence_is_read(tmp_path):
    sentence = read_annotated(write(tmp_path / "a.jsonl"))[1]
    assert sentence.words == ("Who", "taught", "Ada", "Lark", "?")
    assert sentence.entities == ((2, 4, "PERSON"),)


def test_two_sentences_have_two_roots(tmp_path):
    record = {"heads": [0, 1, 3, 1, 1], "deps": ["ROOT", *RECORD["deps"][1:]]}
    assert read_annotated(write(tmp_path / "a.jsonl", **record))[1].heads == (0, 1, 3, 1, 1)


@pytest.mark.parametrize(
    ("heads", "deps"),
    [
        ([1, 1, 3, 1, 1], ["nsubj", "parataxis", "compound", "dobj", "punct"]),
        ([1, 1, 3, 1, 1], ["ROOT", "ROOT", "compound", "dobj", "punct"]),
    ],
)
def test_a_root_and_its_label_go_together(tmp_path, heads, deps):
    """spaCy would learn from either without a word."""
    with pytest.raises(BadInput, match="a.jsonl:2: .*deps: not ROOT, or ROOT with another head: word [01]"):
        read_annotated(write(tmp_path / "a.jsonl", heads=heads, deps=deps))
