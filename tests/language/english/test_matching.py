"""match(class, phrase): every trap that a bag of words falls into, both modes, and real captions read by hand."""

import json
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
import yaml

from trivium.language.english.chunker import chunk_by_rules
from trivium.language.english.sentences import Matcher, read_sentence
from trivium.language.english.word_lists import WORDS, plural, word_lists

TREE = yaml.safe_load(WORDS.read_text(encoding="utf-8"))
COCO = tuple(TREE["classes"])
TYPES = ("people", "animals", "vehicles", "instruments")


matcher = cache(Matcher)


def classes_of(text: str, classes: tuple[str, ...] = COCO, mode: str = "strict") -> set[str]:
    sentence = read_sentence(text)
    [phrases] = chunk_by_rules([sentence])
    return {name for names in matcher(classes, mode).match(sentence, phrases) for name in names}


TRAPS = {
    # one class's name inside another's
    "a hot dog on a bun": "hot dog",
    "a hot dog cart": "",
    "a teddy bear on a bed": "teddy bear, bed",
    "a teddy and a polar bear": "teddy bear, bear",
    "a stuffed animal": "teddy bear",
    "a baseball bat": "baseball bat",
    "men playing baseball": "person",
    "a ball gown": "",
    "a computer mouse": "mouse",
    "a remote control car": "",
    "an orange": "orange",
    "an orange cat": "cat",
    "a glass of orange juice": "cup",
    "an apple laptop": "laptop",
    "a pizza oven": "oven",
    # materials and shapes
    "a vase made of glass": "vase",
    "a glass of wine": "wine glass",
    "a man with glasses": "person",
    "a man ties his shoe": "person",
    # toys, statues, pictures
    "a toy brown dog": "",
    "a rocking chair": "chair",
    # streets
    "a fire hydrant": "fire hydrant",
    "a bus driver": "person",
    "a train car": "train",
    "a pickup truck bed": "truck",
    "the bed of a truck": "truck",
    "a horse-drawn carriage": "",
    # houses
    "dog food": "",
    "a bed of red flowers": "",
    "a dog in a bed of tulips": "dog",
    "a coffee table": "",
    "a microwave oven": "microwave",
    "a plant": "",
    "a plant in a pot": "potted plant",
    "a hair dryer and a tooth brush": "hair drier, toothbrush",
    # sport
    "a kite surfer": "person",
    # animals and people
    "sheep": "sheep",
    "a sheep dog": "dog",
    "a teddy bear umbrella": "umbrella",
    "two equestrians": "person, horse",
    "a dvd player and a record player": "",
    "a boy's dog": "person, dog",
    "knives": "knife",
    # -ing words after who does it, and the nouns that they are elsewhere
    "a man crossing the street": "person",
    "a bus crossing an intersection": "bus",
    "a dog and a cat crossing the street": "dog, cat",
    "a cow crossing": "cow",
    "a pedestrian crossing the road": "person",
    "a pedestrian crossing": "",
    "a zebra crossing": "",
    "a train crossing over a river": "train",
    "a deer crossing sign next to a bus": "bus",
    "an elephant painting a picture": "elephant",
    "a painting of a cat": "cat",
    "a man building a snowman": "person",
    "a building with a clock": "clock",
    "a plane landing on a runway": "airplane",
    # -s words after one who does it, and the plurals that they are elsewhere
    "a boat docks at the pier": "boat",
    "the boat docks are empty": "",
    "a car parks": "car",
    "a bus stops at a light": "bus",
    "a dog bowls": "dog",
    "two dog bowls": "bowl",
    "a boat tied to dock": "boat",
    # makes, rooms, the young of animals
    "a tourist bus": "bus",
    "a man made lake": "",
    "a man made of snow": "person",
    "a pitcher of water": "",
    "a giraffe and its mother": "giraffe",
    "a dog in a cowboy hat": "dog",
}


@pytest.mark.parametrize(("text", "expected"), TRAPS.items())
def test_a_phrase_is_read_by_its_longest_expression(text, expected):
    assert classes_of(text) == {name for name in expected.split(", ") if name}


@pytest.mark.parametrize(
    ("text", "expected"),
    {
        "a hot dog": "dog, hot dog",
        "a teddy bear": "bear, teddy bear",
        "a truck": "car, truck",
        "a bag": "handbag, suitcase",
        "a glass": "cup, wine glass",
        "a board": "skateboard, snowboard, surfboard",
        "many flowers": "potted plant",
        "a toy car": "car, teddy bear",
        "a backpack": "backpack",
        "two screens": "laptop, tv",
        "a drink": "bottle, cup, wine glass",
        "a wine bottle": "bottle, wine glass",
        "a ball player": "person, sports ball",
        # whole words: "ball" is none of "baseball", and games are no balls
        "a man holding a baseball bat": "person, baseball bat",
        "a baseball glove": "baseball glove",
        "a baseball": "",
        "men playing basketball on a basketball court": "person",
        # of no row: its name alone
        "a locomotive": "",
        "a couch and a sofa": "couch",
    }.items(),
)
def test_mode_paper_shares_words(text, expected):
    assert classes_of(text, mode="paper") == {name for name in expected.split(", ") if name}


@pytest.mark.parametrize(
    ("text", "expected"),
    {
        "a man plays a guitar": "people, instruments",
        "a baseball bat": "",
        "a hot dog": "",
        "a goat and two puppies": "animals",
        "a keyboard": "instruments",
        "a tractor next to a bus": "vehicles",
    }.items(),
)
def test_types_of_flickr30k_entities_hold_classes_and_words_of_their_own(text, expected):
    assert classes_of(text, TYPES) == {name for name in expected.split(", ") if name}


@pytest.mark.parametrize("name", COCO)
def test_every_class_is_named_by_its_own_name_in_both_modes_and_numbers(name):
    for mode in ("strict", "paper"):
        assert name in classes_of(f"a {name}", mode=mode)
    *first, last = name.split()
    assert name in classes_of(" ".join(["two", *first, plural(last)]))


def test_a_class_that_is_not_asked_for_still_blocks_others():
    assert classes_of("a hot dog and a bear", ("dog", "bear")) == {"bear"}


def test_mode_paper_reads_table_4_and_no_word_of_ours_but_for_persons():
    words = word_lists(COCO, "paper")
    table = {name: {tuple(word.split()) for word in [name, *TREE["table_4"].get(name, ())]} for name in COCO}
    singular = {
        name: {form for form, entry in words.items() if name in entry.classes} for name in COCO if name != "person"
    }
    assert set(TREE["table_4"]) < set(COCO)
    assert all(table[name] <= forms for name, forms in singular.items())
    assert all(len(forms) <= 2 * len(table[name]) for name, forms in singular.items())


def test_no_expression_is_listed_for_two_classes():
    owners = Counter(word for lists in TREE["classes"].values() for word in lists["words"])
    assert [word for word, count in owners.items() if count > 1] == ["equestrian"]  # who is no one without a horse
    assert not set(owners) & set(TREE["nothing"])


def test_an_expression_is_not_read_twice():
    sentence = read_sentence("glass of wine")
    assert matcher(COCO, "strict").match(sentence, [(0, 1), (2, 3)]) == [("wine glass",), ()]


@pytest.mark.parametrize(
    ("word", "many"),
    {"dog": "dogs", "bus": "buses", "puppy": "puppies", "monkey": "monkeys", "fireman": "firemen", "human": "humans",
     "knife": "knives", "sheep": "sheep", "grandchild": "grandchildren", "box": "boxes"}.items(),
)  # fmt: skip
def test_plurals(word, many):
    assert plural(word) == many


def _hand_made() -> dict[int, set[str]]:
    readings = Path(__file__).parents[2] / "decorrelation" / "coco_mini_classes.txt"
    lines = readings.read_text(encoding="utf-8").splitlines()
    table = (line.partition(":") for line in lines if not line.startswith("#"))
    return {int(caption): {name for name in names.strip().split(", ") if name} for caption, _, names in table}


@pytest.mark.real
@pytest.mark.parametrize(("mode", "wrong"), [("strict", 0), ("paper", 50)])
def test_real_captions_name_the_classes_that_a_reader_finds(real, mode, wrong):
    """130 captions were read, 188 mentions; the one miss is a cat spelt "catch". The paper's words miss and mislead more."""
    captions = json.loads((real("coco_mini") / "annotations" / "captions_train2017.json").read_text())["annotations"]
    truth = _hand_made()
    assert set(truth) == {each["id"] for each in captions}
    found = {each["id"]: classes_of(each["caption"], mode=mode) for each in captions}
    extra = Counter(name for caption, names in found.items() for name in names - truth[caption])
    missed = {caption: truth[caption] - names for caption, names in found.items() if truth[caption] - names}
    assert extra.total() == wrong
    if mode == "strict":
        assert missed == {807389: {"cat"}}
    assert sum(map(len, truth.values())) == 188
    if mode == "paper":
        assert sum(map(len, missed.values())) == 10
        assert extra.most_common(2) == [("stop sign", 10), ("dining table", 8)]
