import pytest

from sample.kvqae.construction_trees import analyse, bracket_name


def test_a_wording_is_a_tree():
    name = bracket_name("Ada Lark", "PERSON")
    sentence = analyse(f"[ROOT [nsubj who/WP] taught/VBD [dobj {name}] [punct ?/.]]")
    assert sentence.text == "Who taught Ada Lark?"
    assert sentence.record() == {
        "words": ["Who", "taught", "Ada", "Lark", "?"],
        "spaces": [True, True, True, False, False],
        "heads": [1, 1, 3, 1, 1],
        "deps": ["nsubj", "ROOT", "compound", "dobj", "punct"],
        "tags": ["WP", "VBD", "NNP", "NNP", "."],
        "entities": [[2, 4, "PERSON"]],
    }


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
    sentence = analyse(f"[ROOT [poss {bracket_name(text, 'ORG')} [case 's/POS]] age/NN [punct ./.]]")
    assert sentence.text == written
    assert sentence.heads[: len(heads)] == heads
    assert sentence.entities == [(0, len(heads), "ORG")]
    assert sentence.heads[len(heads)] == heads.index(len(heads) + 1)


def test_words_of_one_label_are_one_entity_and_common_nouns_none():
    mole = bracket_name("the brown mole", "")
    sentence = analyse(f"[ROOT [det the/DT/DATE] 1870s/NNS/DATE [amod Dorian/JJ/NORP] [dobj {mole}]]")
    assert sentence.entities == [(0, 2, "DATE"), (2, 3, "NORP")]
