"""Captions without phrases as in the paper, and by CLIP's templates."""

import pytest
from open_clip import OPENAI_IMAGENET_TEMPLATES

from tests.decorrelation.captions.test_grammatical_removal import phrases_of
from trivium.decorrelation.captions.pairs import cut_phrases, prompt
from trivium.formats.pictures import Phrase


@pytest.mark.parametrize(
    ("text", "removed", "expected"),
    [
        ("Two dogs fight over a frisbee", "frisbee", "Two dogs fight"),  # the paper's example
        ("Two dogs fight over a frisbee", "dog", "fight over a frisbee"),
        ("A man riding a wave on a surfboard.", "surfboard", "A man riding a wave."),
        ("A man holding a frisbee at a park.", "frisbee", "A man holding at a park."),
        ("A bus in front of a car near a tree.", "car", "A bus near a tree."),
        ("A person sitting down with a cat", "cat", "A person sitting down"),
        ("A cat and a dog are sleeping.", "dog", "A cat and are sleeping."),
        ("A dog, a cat and a dog next to a bed", "dog", ", a cat and next to a bed"),
        ("A boy's dog on a skateboard", "person", "'s dog on a skateboard"),
        ("A dog.", "dog", None),
        ("A dog  in a park .", "cat", "A dog  in a park ."),
    ],
)
def test_the_phrases_go_and_no_more(text, removed, expected):
    assert cut_phrases(text, phrases_of(text), [removed]) == expected


def test_all_phrases_of_all_removed_classes_go():
    text = "A man and a dog on a bench next to a bike."
    assert cut_phrases(text, phrases_of(text), ["person", "bench"]) == "and a dog next to a bike."


def test_annotated_phrases_serve_as_well_as_found_ones():
    annotated = [Phrase(0, 13, ("people",)), Phrase(19, 25, ("vehicles",))]
    assert cut_phrases("Two young men ride a bike.", annotated, ["vehicles"]) == "Two young men ride."


def test_there_are_eighty_templates():
    assert len(OPENAI_IMAGENET_TEMPLATES) == 80


@pytest.mark.parametrize(
    ("classes", "expected"),
    [(["dog"], "a dark photo of a dog."), (["person", "dog"], "a dark photo of a person and dog."),
     (["dog", "cat", "bus"], "a dark photo of a dog, cat and bus.")],
)  # fmt: skip
def test_a_template_is_filled_with_all_classes(classes, expected):
    assert prompt(classes, "7") == expected, "the same in every process"


def test_the_template_is_drawn_by_its_key():
    drawn = {prompt(["dog"], str(key)) for key in range(200)}
    assert len(drawn) > 50
