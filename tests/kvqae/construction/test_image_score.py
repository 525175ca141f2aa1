"""The four-fold score of a Commons file."""

from itertools import product

import pytest

from trivium.kvqae.construction.candidate_images import image_score
from trivium.kvqae.construction.commons import CommonsFile

NAMED = {
    "categories": ("Iron Span", "Iron Span in 1911"),
    "description": "The iron span.",
    "title": "File:Iron Span.jpg",
}
UNNAMED = {"categories": ("Bridges",), "description": "A bridge", "title": "File:B.jpg"}


def file(**fields):
    return CommonsFile(**{"category": "C", "license": "cc0", "sha1": "0" * 40, "depicts": (), **UNNAMED, **fields})


@pytest.mark.parametrize("appears", product([False, True], repeat=4))
def test_every_combination_counts_its_places(appears):
    *texts, depicted = appears
    fields = {name: NAMED[name] for name, given in zip(NAMED, texts, strict=True) if given}
    depicts = ("Q5", "Q7") if depicted else ("Q70",)
    assert image_score(file(**fields, depicts=depicts), "Iron Span", "Q7") == sum(appears)


@pytest.mark.parametrize(
    ("fields", "score"),
    [
        ({"categories": ("Iron Span", "Bridges")}, 0),  # the label must be in each of them
        ({"categories": ()}, 0),
        ({"categories": ("The_iron_span!",)}, 1),
        ({"description": "Iron Spanner"}, 0),
        ({"title": "File:The_Iron_Span,_1911.JPG"}, 1),
        ({"title": "File:Iron Span"}, 1),
        ({"title": "File:Span, iron.jpg"}, 0),
    ],
)
def test_words_are_normalised_and_whole(fields, score):
    assert image_score(file(**fields), "Iron Span", "Q7") == score


def test_a_label_of_nothing_but_an_article_appears_nowhere():
    assert image_score(file(title="File:The.jpg", description="the"), "The", "Q7") == 0
