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
    ("changes", "message"),
    [
        ({"heads": [1, 1, 3, 2, 1]}, "heads: heads do not form a tree"),
        ({"heads": [1, 1, 3, 1, 9]}, "heads: head outside the words"),
        ({"deps": ["nsubj", "acl", "compound", "dobj", "punct"]}, "deps: a root not called ROOT"),
        ({"deps": ["nsubj"]}, "deps: wrong length: 1, expected 5, one a word"),
        (
            {"words": [], "spaces": [], "heads": [], "deps": [], "tags": []},
            "field 'words': Tuple should have at least 1",
        ),
        ({"spaces": [1, 1, 1, 0, 0]}, "field 'spaces.0': Input should be a valid bool"),
        ({"entities": [[2, 6, "PERSON"]]}, "entities: not an entity"),
        ({"entities": [[2, 4, "PERSON"], [3, 4, "GPE"]]}, "entities: entities overlap"),
    ],
)
def test_a_bad_sentence_is_named(tmp_path, changes, message):
    with pytest.raises(BadInput, match=f"a.jsonl:2: .*{message}"):
        read_annotated(write(tmp_path / "a.jsonl", **changes))


def test_no_sentences(tmp_path):
    (tmp_path / "a.jsonl").touch()
    with pytest.raises(BadInput, match="no sentences"):
        read_annotated(tmp_path / "a.jsonl")
