"""Generated questions are read as written, or refused by row and field."""

from tests.kvqae.annotated_world import record, write_generated
from trivium.kvqae.annotation.generated_questions import name_pattern


def test_read(tmp_path):
    questions = write_generated(tmp_path / "g.jsonl", [record(0), record(3)])
    assert list(questions) == ["tc_0_10", "tc_3_10"]
    first = questions["tc_0_10"]
    assert (first.text, first.human, first.source) == (
        "This man is from the 1700s. Where was this man seen?",
        True,
        "tc_0",
    )
    assert first.names == ("Name0 Surname0", "Name0 Surname0 (sailor)", "Old 0")
    assert first.answers == ("Place 0", "P0")
    assert first.images[0] == "Photo 0 0.jpg"
    assert not questions["tc_3_10"].human


def test_names_are_whole_words_regardless_of_case():
    pattern = name_pattern(["The Who", " ", "Ada", "Ada (film)", "C++"])
    for text, found in (
        ("Who is this?", None), ("Did THE WHO play?", "THE WHO"), ("Is it Adam?", None), ("ada's ship", "ada"),
        ("Ada (film)?", "Ada (film)"), ("In C++?", "C++"),
    ):  # fmt: skip
        match = pattern.search(text)
        assert (match and match[0]) == found
