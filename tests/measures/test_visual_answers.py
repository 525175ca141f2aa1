"""Scores of answers to public sets about pictures, on examples that fit on paper."""

import pytest

from trivium.measures.visual_answers import (
    in_range,
    lists_match,
    matches_encyclopedic,
    stated_numbers,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12", (12, 12)),
        ("about 1,250 m", (1250, 1250)),
        ("9-10", (9, 10)),
        ("from -3 to 4.5 cm", (-3, 4.5)),
        ("10 to 9", (10, 10)),
        (".5", (5, 5)),  # as the authors read it
        ("-.5", (-0.5, -0.5)),
        (".5.3", (5.3, 5.3)),
        ("-.5.3", (-0.5, -0.5)),
        ("2e3", (2000, 2000)),
        ("1, 2 or 3", (1, 2)),
        ("12.", (12, 12)),
        ("none", (0, 0)),
    ],
)
def test_numbers_of_a_text(text: str, expected: tuple[float, float]) -> None:
    assert stated_numbers(text) == expected


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("9", True),
        ("11", True),
        ("8.9", False),
        ("9 - 10", True),
        ("8 to 10", False),
        ("5 to 11", False),
        ("9.5 to 12", True),
        ("x", False),
    ],
)
def test_numbers_in_the_range_from_9_to_11(text: str, right: bool) -> None:
    # 8 to 10: 1 of 3 is shared; 5 to 11: 2 of 6; 9.5 to 12: 1.5 of 3
    assert in_range(text, (9.0, 11.0)) == right


def test_lists_by_half_of_their_parts() -> None:
    assert lists_match("the Owl and a fox", ["fox", "owl"])
    assert lists_match("owl, hare", ["owl", "hare", "fox", "the owl"])
    assert lists_match("owl", ["owl", "fox"])
    assert not lists_match("owl", ["owl", "fox", "hare"])
    assert not lists_match("", ["owl"])


@pytest.mark.parametrize(
    ("answer", "reference", "right"),
    [
        ("William and Mary Menger", "the Menger family", False),  # the authors' example: BEM alone says yes
        ("the Baker family", "the Menger family", False),
        ("The answer is: three\u2019s!", "3s", False),
        ("The answer\nis three", "a 3", True),
        ("The answer  is three", "a 3", False),  # two spaces
        ("<extra_id_0> true", "Yes.", True),
        ("None", "zero", True),
        ("isn't", "ISNT", True),
        ("O\u2019Hara", "ohara", True),
        ("the", "a", False),  # nothing is left
    ],
)
def test_encyclopedic_vqa_normalises_in_its_own_way(answer: str, reference: str, right: bool) -> None:
    assert matches_encyclopedic(answer, reference) == right
