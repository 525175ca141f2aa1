"""What stands first on each page: its verdict follows from the numbers, and its picture shows what is claimed."""

import pytest

from trivium.page.complexity.effects import first_claim_html as complexity
from trivium.page.decorrelation.results import Results
from trivium.page.decorrelation.results import first_claim_html as decorrelation
from trivium.page.kvqae.findings import first_claim_html as kvqae
from trivium.page.kvqae.gallery import NO_PICTURE, picture_html
from trivium.page.thorough import verdict


@pytest.mark.parametrize(
    ("difference", "p", "said"),
    [(0.1, 0.01, "holds"), (-0.1, 0.01, "does not hold"), (0.1, 0.02, "cannot tell"), (0.0, 0.001, "cannot tell")],
)
def test_a_verdict_asks_for_sign_and_significance(difference: float, p: float, said: str) -> None:
    assert verdict(difference, p, 0.01) == said


@pytest.mark.parametrize(
    ("seen", "p", "said"), [(0.4, 0.001, "holds"), (0.1, 0.001, "does not hold"), (0.4, 0.5, "cannot tell")]
)
def test_kvqae_compares_text_with_text_and_picture(seen: float, p: float, said: str) -> None:
    rows = [{"name": "dpr_few_shot", "values": {"mrr": 0.2}}, {"name": "dpr_few_shot_image", "values": {"mrr": seen}}]
    asked = {"rows": rows, "p": {"mrr": [[1.0, p], [p, 1.0]]}, "questions": 250}
    html = kvqae({"passage": asked}, 0.01)
    assert f">{said}</span>" in html
    assert f"{100 * seen:.1f} % with the picture, 20.0 % without it; 250 test questions" in html
    assert "does not compare the two" in kvqae({"passage": {**asked, "rows": rows[:1]}}, 0.01)


@pytest.mark.parametrize(
    ("gain", "cost", "said"), [(0.1, 0.01, "holds"), (0.1, -0.05, "does not hold"), (-0.1, 0.0, "does not hold")]
)
def test_decorrelation_must_not_pay_on_whole_pictures(gain: float, cost: float, said: str) -> None:
    shared = {
        "dataset": "coco",
        "model": "clip",
        "variant": "ours",
        "other_variant": "finetune",
        "subset": "all",
        "p": 0.001,
        "seeds": 3,
        "other_seeds": 3,
        "queries": 90,
        "value": 0.5,
        "other_value": 0.5,
    }
    painted = {"set": "synthetic", "other_set": "synthetic", "measure": "odmap@1", "difference": gain}
    whole = {"set": "image_to_text", "other_set": "image_to_text", "measure": "r@1", "difference": cost}
    results = Results({}, {}, [shared | painted, shared | whole])
    assert f">{said}</span>" in decorrelation(results, 0.05, 0.02)
    assert "does not compare the two" in decorrelation(Results({}, {}, []), 0.05, 0.02)


@pytest.mark.parametrize(
    ("deltas", "significant", "said"),
    [
        ((-5.0, -1.0, -2.0), 2, "holds"),
        ((-5.0, -1.0, -2.0), 1, "cannot tell"),
        ((-5.0, 0.5, -2.0), 3, "does not hold"),
        ((-5.0, None, -2.0), 3, "does not hold"),
    ],
)
def test_complexity_asks_for_every_model(deltas: tuple[float | None, ...], significant: int, said: str) -> None:
    models = ("a", "b", "c")
    found = {
        model: {"f1": {"delta": delta, "holm_significant": place < significant}}
        for place, (model, delta) in enumerate(zip(models, deltas, strict=True))
    }
    html = complexity(found, {"f1": "far away"}, {model: model.upper() for model in models}, "F1")
    assert f">{said}</span>" in html
    assert ("f1 (far away) by −5.0, −1.0, −2.0 points" in html) == (said != "does not hold")


def test_the_picture_is_a_right_answer_with_a_face_where_there_is_one() -> None:
    def item(text: str, right: bool, face: bool, image: str = "data:image/jpeg;base64,AA") -> dict[str, object]:
        return {"question": text, "right": right, "face": face, "image": image, "prediction": "x", "answer": "y"}

    items = [item("wrong", False, True), item("right", True, False), item("both", True, True, NO_PICTURE)]
    assert "both" in picture_html(items)
    assert "expected y" in picture_html(items[:1])
