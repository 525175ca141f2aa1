"""What makes questions hard, on KVQAE's page."""

from trivium.page.kvqae.reading import difficulty_html


def test_marks_numbers_and_gaps():
    known = {"delta": -1.5, "low": -3.0, "high": -0.1, "p": 0.01, "p_holm": 0.04}
    joint = dict.fromkeys(("joint", "joint_low", "joint_high"))
    verdicts = {"validated": True, "significant": True, "holm_significant": True}
    row = {"factor": "no_<face>", "yes": 4, "no": 6} | known | joint | verdicts
    html = difficulty_html([row], {"questions": 10.0, "passages_read": 5.0, "f1": 0.475}, 0.95)
    assert "47.5 %" in html
    assert "none among the 5 at most that it read" in html
    assert "↓**" in html
    assert "no &lt;face&gt;" in html
    assert html.count("–") >= 2  # the regression left the factor out
