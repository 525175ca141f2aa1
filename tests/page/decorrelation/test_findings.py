"""The questions, their answers, and what stands beside them, each way the numbers can fall."""

import pytest

from tests.page.outline import Outline
from trivium.page.decorrelation.results import Results, answer, find_sign, findings_html


def row(difference, low, high, p, **more):
    return {"difference": difference, "low": low, "high": high, "p": p, **more}


MORE = row(0.1, 0.06, 0.14, 0.001)
LESS = row(-0.1, -0.14, -0.06, 0.001)
NOTHING = row(0.01, -0.02, 0.04, 0.6)
TINY = row(0.02, 0.01, 0.03, 0.01)
ALONE = row(0.1, None, None, 1.0)


def test_a_difference_is_shown_by_p_and_interval_together():
    assert [find_sign(found, 0.05) for found in (MORE, LESS, NOTHING, ALONE)] == [1, -1, 0, 0]
    assert find_sign(row(0.1, 0.06, 0.14, 0.2), 0.05) == 0
    assert find_sign(row(0.1, -0.01, 0.14, 0.01), 0.05) == 0


@pytest.mark.parametrize(
    ("found", "expected", "said"),
    [
        (MORE, "more", "Yes. Higher by 10.0 points."),
        (LESS, "more", "No, the reverse. Lower by 10.0 points."),
        (LESS, "open", "Lower by 10.0 points."),
        (NOTHING, "more", "Not shown: the difference may be chance."),
        (NOTHING, "same", "Yes, within 5 points."),
        (TINY, "same", "Nearly: differs by only 2.0 points."),
        (LESS, "same", "No: it loses 10.0 points."),
        (row(0.1, -0.01, 0.2, 0.3), "same", "Not shown to differ, but the interval reaches 20.0 points."),
        (ALONE, "open", "From one picture: nothing can be said."),
    ],
)
def test_an_answer_says_which_way_the_difference_goes(found, expected, said):
    assert answer(found, expected, 0.05, 0.05) == said


def compared(values, variant, other, kind, measure, dataset="coco", other_kind=None, seeds=1):
    """A row of comparisons.json."""
    fields = {"dataset": dataset, "model": "clip", "variant": variant, "other_variant": other, "subset": "all"}
    fields |= {"set": kind, "other_set": other_kind or kind, "measure": measure, "queries": 900}
    fields |= {"seeds": seeds, "other_seeds": seeds, "value": 0.5, "other_value": 0.4, "difference_sd": None}
    return fields | values


def test_a_comparison_is_of_two_variants_on_one_set_or_of_one_on_two():
    rows = [
        compared(MORE, "ours", "ours", "synthetic", "odmap@1", other_kind="rendered"),
        compared(LESS, "ours", "finetune", "synthetic", "odmap@1"),
    ]
    results = Results({}, {}, rows)
    assert results.comparison(variant="ours", other_variant="finetune") is rows[1]
    assert results.comparison(variant="ours", other_variant="ours") is None
    assert results.comparison(variant="ours", other_variant="ours", other_set="rendered") is rows[0]


def test_a_row_tells_both_sides_with_spread_and_interval():
    gain = compared(MORE, "ours", "finetune", "synthetic", "odmap@1", seeds=3) | {"difference_sd": 0.004}
    evaluate = {"partner_probability": 0.5, "confidence": 0.95}
    html = findings_html(Results({}, {}, [gain]), evaluate, level=0.05, margin=0.05)
    (first,) = [cells for cells in Outline(html).rows if cells[0].startswith("Is the effect there?")]
    assert first[0].endswith("CLIP, COCO: ODmAP@1")
    assert first[1].startswith("Yes. Higher by 10.0 points.")
    assert first[2:] == ["ours against finetune", "50.040.0", "+10.0[+6.0, +14.0]", "0.001", "3 seeds± 0.4"]
