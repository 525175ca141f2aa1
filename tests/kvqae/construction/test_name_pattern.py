"""Names are found in a question as whole words, whatever their case."""

from trivium.kvqae.construction.generation import name_pattern


def test_names_are_whole_words_regardless_of_case():
    pattern = name_pattern(["The Who", " ", "Ada", "Ada (film)", "C++"])
    for text, found in (
        ("Who is this?", None), ("Did THE WHO play?", "THE WHO"), ("Is it Adam?", None), ("ada's ship", "ada"),
        ("Ada (film)?", "Ada (film)"), ("In C++?", "C++"),
    ):  # fmt: skip
        match = pattern.search(text)
        assert (match and match[0]) == found
