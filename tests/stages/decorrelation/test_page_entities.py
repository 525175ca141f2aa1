"""The table of image encoders says what the tests say."""

import pytest

from trivium.page.html import render


def told(difference=0.1, p=0.01, encoders=("kvqae", "zero_shot", "finetune", "ours")):
    cell = {"value": 0.25, "interval": [0.2, 0.3]}
    measures = ("mrr", "precision@1", "hits@20")
    measured = {
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
    return render("decorrelation_entities.html", measured=measured, level=0.05, confidence=0.95)


@pytest.mark.parametrize(
    ("difference", "p", "said"),
    [(0.1, 0.01, "entities better"), (-0.1, 0.01, "entities worse"), (0.1, 0.2, "no difference")],
)
def test_the_verdict_follows_the_test(difference, p, said):
    assert said in told(difference, p)
