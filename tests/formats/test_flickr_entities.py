import pytest

from tests.decorrelation.tiny_corpus import write_zip
from trivium.core.errors import BadInput
from trivium.formats.picture_corpora import ENTITY_TYPES, EntitiesArchive
from trivium.formats.pictures import Object, Phrase

XML = """<annotation><filename>7.jpg</filename><size><width>100</width><height>50</height><depth>3</depth></size>
<object><name>1</name><bndbox><xmin>1</xmin><ymin>11</ymin><xmax>20</xmax><ymax>50</ymax></bndbox></object>
<object><name>1</name><name>2</name><bndbox><xmin>31</xmin><ymin>11</ymin><xmax>40</xmax><ymax>20</ymax></bndbox></object>
<object><name>2</name><name>4</name><bndbox><xmin>0</xmin><ymin>1</ymin><xmax>100</xmax><ymax>51</ymax></bndbox></object>
<object><name>3</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>9</xmax><ymax>9</ymax></bndbox></object>
<object><name>4</name><scene>0</scene><nobndbox>1</nobndbox></object></annotation>"""
TEXT = """[/EN#1/people A man 's dog] pulls [/EN#2/vehicles a cart] past [/EN#3/scene the house] .
[/EN#1/bodyparts/people The arm of a man] holds [/EN#2/animals/vehicles a horse cart] and [/EN#0/notvisual it] .
[/EN#1/other Something] near [/EN#2/animals a pony] ."""


@pytest.fixture
def read(tmp_path):
    def run(xml=XML, text=TEXT, types=ENTITY_TYPES, folder=""):
        members = {f"{folder}Annotations/7.xml": xml, f"{folder}Sentences/7.txt": text, "__MACOSX/Sentences/7.txt": ""}
        write_zip(tmp_path / "entities.zip", members)
        with EntitiesArchive(tmp_path / "entities.zip", types) as archive:
            return archive.read("7"), archive.counts

    return run


def test_sentences_phrases_and_types(read):
    annotated, _ = read()
    first, second, _ = annotated.sentences
    assert first.text == "A man 's dog pulls a cart past the house ."
    assert [first.text[phrase.start : phrase.end] for phrase in first.phrases] == [
        "A man 's dog",
        "a cart",
        "the house",
    ]
    assert first.entities == ("1", "2", "3")
    assert [phrase.classes for phrase in second.phrases] == [
        ("bodyparts", "people"),
        ("animals", "vehicles"),
        ("notvisual",),
    ]


def test_an_objects_class_is_what_most_phrases_call_it(read):
    annotated, counts = read()
    assert annotated.size == (100, 50)
    # 2: animals twice, vehicles twice: the first of our types; 1: people twice; 3 and 4: of none of our types
    assert annotated.objects == (
        Object("people", (0.0, 10.0, 20.0, 40.0)),
        Object("animals", (30.0, 10.0, 10.0, 10.0)),
        Object("people", (30.0, 10.0, 10.0, 10.0)),
        Object("animals", (0.0, 0.0, 100.0, 50.0)),  # one pixel over at the left and at the bottom
    )
    assert counts == {
        "boxes_clipped": 1,
        "objects_box_outside": 0,
        "objects_without_area": 0,
        "objects_without_box": 0,  # entity 4 is of none of our types
    }


def test_the_type_of_most_phrases_wins_over_the_first_of_ours(read):
    text = "[/EN#1/vehicles A cart] by [/EN#1/vehicles a car] , [/EN#1/people a man]"
    annotated, _ = read(text=text)
    assert {thing.class_name for thing in annotated.objects} == {"vehicles"}


def test_boxes_of_other_types_are_kept_apart_and_counted_nowhere(read):
    annotated, counts = read()
    assert annotated.others == ((0.0, 0.0, 9.0, 9.0),)  # the house, a scene
    outside, _ = read(xml=XML.replace("<xmax>9</xmax>", "<xmax>150</xmax>"))
    assert outside.others == ()
    assert outside.objects == annotated.objects
    assert counts["objects_box_outside"] == 0


def test_an_entity_of_our_types_without_a_box_is_counted(read):
    annotated, counts = read(xml=XML.replace("<name>4</name><scene>", "<name>2</name><scene>"))
    assert len(annotated.objects) == 4
    assert counts["objects_without_box"] == 1


def test_box_without_area_is_left_out_and_counted(read):
    annotated, counts = read(xml=XML.replace("<xmin>31</xmin>", "<xmin>41</xmin>"))
    assert len(annotated.objects) == 2
    assert counts["objects_without_area"] == 1


@pytest.mark.parametrize(
    ("caption", "phrases"),
    [
        ("A man's dog pulls a cart past the house.", ["A man's dog", "a cart", "the house"]),
        ("a man 's  dog pulls a cart past the house .", ["a man 's  dog", "a cart", "the house"]),
        ("A \"man's\" dog pulls ``a cart'' past the house", ['A "man\'s" dog', "a cart", "the house"]),
        ("A man's dog pulls a cart past a house.", None),
        ("A man's dog", None),
    ],
)
def test_phrases_are_found_in_flickrs_own_caption(read, caption, phrases):
    annotated, _ = read()
    found = annotated.sentences[0].phrases_in(caption)
    assert (found and [caption[phrase.start : phrase.end] for phrase in found]) == phrases


def test_a_phrase_without_text_has_no_place(read):
    annotated, _ = read(text="[/EN#1/people ] walks with [/EN#2/animals a dog] .")
    assert annotated.sentences[0].phrases_in("walks with a dog.") == [Phrase(11, 16, ("animals",))]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"text": "[/EN#1/people A man walks"}, r"Sentences/7\.txt:1: broken markup; got '\[/EN#1"),
        ({"xml": XML[:-5]}, r"Annotations/7\.xml: not XML"),
        ({"xml": XML.replace("<width>100</width>", "")}, r"Annotations/7\.xml: field 'size/width': missing or wrong"),
        (
            {"xml": XML.replace("<xmin>31</xmin>", "<xmin>x</xmin>")},
            r"Annotations/7\.xml: field 'xmin': missing or wrong; got 'x'",
        ),
        ({"xml": '<!DOCTYPE a [<!ENTITY b "c">]><annotation>&b;</annotation>'}, r"Annotations/7\.xml: not XML"),
    ],
)
def test_errors_name_archive_member_and_field(read, change, message):
    with pytest.raises(BadInput, match=r"entities\.zip:" + message):
        read(**change)
