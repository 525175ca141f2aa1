import pytest

from sample.kvqae.construction_trees import Name, Sentence, analyse

LARK = Name("Ada Lark", "PERSON")
BRIDGE = Name("the Velmor Bridge", "FAC")


def test_a_wording_is_a_tree():
    sentence = analyse("[ROOT [nsubj Who/WP] taught/VBD [dobj @name] [punct ?/.]]", {"name": LARK})
    assert sentence.words == ["Who", "taught", "Ada", "Lark", "?"]
    assert sentence.heads == [1, 1, 3, 1, 1]
    assert sentence.deps == ["nsubj", "ROOT", "compound", "dobj", "punct"]
    assert sentence.tags == ["WP", "VBD", "NNP", "NNP", "."]
    assert sentence.entities == [(2, 4, "PERSON")]
    assert sentence.text == "Who taught Ada Lark?"


@pytest.mark.parametrize(
    ("text", "written", "heads"),
    [
        ("the Velmor Bridge", "The Velmor Bridge's age.", [2, 2, 4]),
        ("House of Vel", "House of Vel's age.", [4, 0, 1]),
        ("Vel & Sons", "Vel & Sons' age.", [4, 0, 0]),
        ("Vel", "Vel's age.", [2]),
    ],
)
def test_names_have_their_own_heads(text, written, heads):
    sentence = analyse("[ROOT [poss @name [case 's/POS]] age/NN [punct ./.]]", {"name": Name(text, "ORG")})
    assert sentence.text == written
    assert sentence.heads[: len(heads)] == heads
    assert sentence.entities == [(0, len(heads), "ORG")]
    assert sentence.heads[len(heads)] == heads.index(len(heads) + 1)


def test_words_of_one_label_are_one_entity():
    sentence = analyse("[ROOT [det the/DT/DATE] 1870s/NNS/DATE [amod Dorian/JJ/NORP]]", {})
    assert sentence.entities == [(0, 2, "DATE"), (2, 3, "NORP")]


def test_a_name_without_label_is_no_entity():
    sentence = analyse("[ROOT @name]", {"name": Name("the brown mole", "")})
    assert sentence.entities == []
    assert sentence.words[0] == "The"


def test_two_brackets_are_two_sentences():
    sentence = analyse("[ROOT [nsubj @name] sailed/VBD [punct ./.]] [ROOT Where/WRB [punct ?/.]]", {"name": BRIDGE})
    assert sentence.text == "The Velmor Bridge sailed. Where?"
    assert [word for word, head in enumerate(sentence.heads) if word == head] == [3, 5]


def test_the_record_is_what_is_read_back():
    sentence = analyse("[ROOT @name [punct ?/.]]", {"name": LARK})
    assert sentence.record() == {
        "words": ["Ada", "Lark", "?"],
        "spaces": [True, False, False],
        "heads": [1, 1, 1],
        "deps": ["compound", "ROOT", "punct"],
        "tags": ["NNP", "NNP", "."],
        "entities": [[0, 2, "PERSON"]],
    }
    assert Sentence().words == []


@pytest.mark.parametrize("wording", ["Who/WP", "[ROOT a/X b/X]", "[ROOT [det a/X]]"])
def test_a_wrong_wording_is_refused(wording):
    with pytest.raises(ValueError):
        analyse(wording, {})
