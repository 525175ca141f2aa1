"""Noun-phrase removal that leaves English: each rule on an invented caption, and what holds for all of them."""

import json
from itertools import pairwise

import pytest
import yaml

from trivium.decorrelation.captions.grammatical_removal import remove_phrases
from trivium.formats.pictures import Phrase
from trivium.language.english.chunker import chunk_by_rules
from trivium.language.english.sentences import Matcher, read_sentence
from trivium.language.english.word_lists import WORDS

MATCHER = Matcher(tuple(yaml.safe_load(WORDS.read_text(encoding="utf-8"))["classes"]))


def phrases_of(text: str) -> list[Phrase]:
    sentence = read_sentence(text)
    [found] = chunk_by_rules([sentence])
    names = MATCHER.match(sentence, found)
    return [Phrase(*sentence.characters(*each), classes) for each, classes in zip(found, names, strict=True)]


CASES = [
    # prepositions
    ("Two dogs fight over a frisbee.", "frisbee", "Two dogs fight."),
    ("A cat sleeping on a bed near a window", "bed", "A cat sleeping near a window"),
    ("A dog next to a large cat.", "cat", "A dog."),
    ("A bus in front of a building.", "bus", "A building."),
    ("A bike rests between a sign and a traffic light.", "traffic light", "A bike rests beside a sign."),
    ("A cat standing on the back of a toilet.", "toilet", "A cat standing."),
    ("A dog with a frisbee in its mouth.", "frisbee", "A dog."),
    ("A man on a bike with a dog in the basket.", "dog", "A man on a bike."),
    ("A man with a dog in a field.", "dog", "A man in a field."),
    ("A kitchen with a microwave next to an oven.", "microwave", "A kitchen with an oven."),
    ("Two men each with a frisbee.", "frisbee", "Two men."),
    ("Two dogs sit, each with a frisbee.", "frisbee", "Two dogs sit."),
    # verbs without object
    ("Two dogs share a frisbee.", "frisbee", "Two dogs."),
    ("A man holding a frisbee at a park.", "frisbee", "A man at a park."),
    ("A man holding a frisbee in his right hand at a park.", "frisbee", "A man at a park."),
    ("A man eating a pizza.", "pizza", "A man eating."),
    ("A man rides a horse on the beach.", "horse", "A man on the beach."),
    ("A man is riding a bike and holding an umbrella.", "umbrella", "A man is riding a bike."),
    ("A person wearing a tie and holding a cup.", "tie", "A person holding a cup."),
    ("A room filled with books.", "book", "A room."),
    ("The desk holds only a laptop, keyboard, and mouse.", "laptop", "The desk holds only a keyboard and mouse."),
    # subjects
    ("A man rides a horse.", "person", "A horse."),
    ("A boy at a park doing tricks on a skateboard.", "person", "A skateboard at a park."),
    ("a woman holding a cup and a book", "person", "a cup and a book"),
    ("A close up of a pizza on a plate.", "pizza", "A plate."),
    ("There is a dog near a car.", "dog", "A car."),
    ("There are two cats and a dog on the sofa.", "cat", "There is a dog on the sofa."),
    ("A man playing with his dog.", "person", "The dog."),
    ("A train that is parked near a bus.", "train", "A bus."),
    ("A man leaning on a post with a dog.", "person", "A dog."),
    ("A man leaning on a post on the beach with a dog.", "person", "A dog on the beach."),
    # what was said of who is gone
    ("A man riding a wave on a surfboard.", "person", "A wave and a surfboard."),
    ("A vase full of sunflowers on a table.", "vase", "Sunflowers on a table."),
    ("A cat made of snow on a table.", "cat", "Snow on a table."),
    ("A dog is sitting on the top of a green truck.", "dog", "A green truck."),
    ("A cat and an umbrella with the face of a teddy bear.", "teddy bear", "A cat and an umbrella."),
    ("A dog that looks like Rex stands in a doorway.", "dog", "A doorway."),
    ("A woman is holding scissors and is going to cut a card", "scissors", "A woman is going to cut a card"),
    # coordination
    ("A dog and a cat are sleeping.", "dog", "A cat is sleeping."),
    ("A dog and a cat sit together on a couch.", "cat", "A dog sits on a couch."),
    ("Two dogs and a cat have toys.", "cat", "Two dogs have toys."),
    ("A laptop, keyboard and mouse on a desk.", "laptop", "A keyboard and mouse on a desk."),
    ("A dog, a cat and a bird.", "cat", "A dog and a bird."),
    ("An apple and banana", "apple", "A banana"),
    ("A kitchen with yellow walls, a microwave and sink.", "microwave", "A kitchen with yellow walls and a sink."),
    ("A man sits on a bench and a dog chases a bird.", "bird", "A man sits on a bench with a dog."),
    ("A cat sits by a vase, and there is also a clock.", "clock", "A cat sits by a vase."),
    # parts of phrases
    ("A man's hat on a table.", "person", "A hat on a table."),
    ("A boy's dog on a skateboard", "dog", "A skateboard"),
    ("A group of people standing around a pizza", "person", "A pizza"),
    ("A white plate with a book and a glass of wine.", "wine glass", "A white plate with a book."),
    ("A man in a red shirt and a hat and a dog", "person", "A dog"),
    ("A park with a bike and a man riding a horse.", "person", "A park with a bike and a horse."),
    ("A large table with a cake on it.", "dining table", "A cake."),
    # nouns that are verbs
    ("A girl crossing the street near a bus", "bus", "A girl crossing the street"),
    ("A girl crossing the street near a bus", "person", "The street near a bus"),
    ("A dog and a cat crossing the street.", "cat", "A dog crossing the street."),
    ("A man is painting a bench.", "bench", "A man is painting."),
    ("A boat docks at a pier near a bird.", "bird", "A boat docks at a pier."),
    ("A bus stops at a traffic light.", "traffic light", "A bus stops."),
    ("A train passing a railroad crossing with a car", "car", "A train passing a railroad crossing"),
    # nothing left, nothing to do
    ("A dog.", "dog", None),
    ("A dog in a park.", "cat", "A dog in a park."),
]  # fmt: skip


@pytest.mark.parametrize(("text", "removed", "expected"), CASES)
def test_a_caption_without_its_class(text, removed, expected):
    assert remove_phrases(text, phrases_of(text), [removed]) == expected


def test_several_classes_go_at_once():
    text = "A man and a dog on a bench next to a bike."
    assert remove_phrases(text, phrases_of(text), ["person", "bench"]) == "A dog next to a bike."


def test_capital_and_full_stop_are_the_original_s():
    for text, expected in (
        ("a dog near a cat", "a cat"),
        ("A dog near a cat", "A cat"),
        ("a dog near a cat .", "a cat."),
    ):
        assert remove_phrases(text, phrases_of(text), ["dog"]) == expected


def test_annotated_phrases_serve_as_well_as_found_ones():
    text = "Two young men ride a bike."
    annotated = [Phrase(0, 13, ("people",)), Phrase(19, 25, ("vehicles",))]
    assert remove_phrases(text, annotated, ["people"]) == "A bike."
    assert remove_phrases(text, annotated, ["vehicles"]) == "Two young men."


@pytest.mark.real
def test_real_captions_lose_the_class_and_keep_others(real):
    """Of 130 captions: no removed class is named any more, none is new, and no word stands twice in a row."""
    captions = json.loads((real("coco_mini") / "annotations" / "captions_train2017.json").read_text())["annotations"]
    removals, emptied = 0, 0
    for each in captions:
        phrases = phrases_of(each["caption"])
        names = {name for phrase in phrases for name in phrase.classes}
        for removed in sorted(names):
            left = remove_phrases(each["caption"], phrases, [removed])
            removals += 1
            emptied += left is None
            if left is not None:
                assert {name for phrase in phrases_of(left) for name in phrase.classes} <= names - {removed}, left
                words = left.lower().split()
                assert not any(first == second for first, second in pairwise(words)), left
                assert words[-1].strip(".") not in {"a", "the", "and", "with", "of", "on", "is", "are"}, left
    assert removals > 150
    assert emptied < 15
