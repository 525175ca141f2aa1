"""The table of image encoders says what the tests say."""

import pytest

from trivium.page.decorrelation.entities import ROWS, entities_html


def told(difference=0.1, p=0.01, encoders=tuple(ROWS)):
    cell = {"value": 0.25, "interval": [0.2, 0.3]}
    measures = ("mrr", "precision@1", "hits@20")
    found = {
        "questions": 60,
        "entities_asked": 40,
        "questions_entity_not_searched": 7,
        "entities": 300,
        "rows": {row: dict.fromkeys(measures, cell) for row in encoders},
        "tests": [
            {"measure": measure, "row": row, "against": other, "difference": difference, "p": p}
            for measure in measures
            for place, row in enumerate(encoders)
            for other in encoders[:place]
        ],
    }
    return entities_html(found, level=0.05, confidence=0.95)


@pytest.mark.parametrize(
    ("difference", "p", "said"),
    [(0.1, 0.01, "entities better"), (-0.1, 0.01, "entities worse"), (0.1, 0.2, "no difference")],
)
def test_the_verdict_follows_the_test(difference, p, said):
    assert said in told(difference, p)


def test_where_nothing_was_trained_the_released_model_stands_alone():
    html = told(encoders=("kvqae", "zero_shot"))
    assert html.count("<tr>") == 1 + 2
    assert "no such model was trained" in html
    assert "one training" not in html


def test_four_rows_and_every_pair():
    html = told()
    assert html.count("<tr>") == 1 + 4
    assert html.count("points (p = 0.010)") == 6
    assert "25.0" in html
    assert "[20.0, 30.0]" in html
    trained = [line for line in html.splitlines() if "one seed" in line]
    assert ["fine-tuned on D ∪ D′" in line for line in trained] == [False, True]
    assert all("fine-tuned on D" in line for line in trained)
    assert "7 of the questions are about an entity that is not among those searched" in html
    assert "Each trained row is one training" in html
