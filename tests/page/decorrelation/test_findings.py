"""The sentences of the checks, each way a comparison can fall."""

import pytest

from trivium.page.decorrelation.findings import answer, verdict
from trivium.page.decorrelation.results import Results, shown


def row(difference, low, high, p, **more):
    return {"difference": difference, "low": low, "high": high, "p": p, **more}


MORE = row(0.1, 0.06, 0.14, 0.001)
LESS = row(-0.1, -0.14, -0.06, 0.001)
NOTHING = row(0.01, -0.02, 0.04, 0.6)
WIDE = row(0.04, -0.05, 0.13, 0.4)
TINY = row(0.02, 0.01, 0.03, 0.01)
ALONE = row(0.1, None, None, 1.0)


@pytest.mark.parametrize(
    ("found", "expected", "sentence"),
    [
        (MORE, "more", "Yes. Higher by 10.0 points."),
        (LESS, "more", "No, the reverse. Lower by 10.0 points."),
        (LESS, "less", "Yes. Lower by 10.0 points."),
        (WIDE, "more", "Not shown: the difference may be chance."),
        (NOTHING, "same", "Yes, within 5 points."),
        (TINY, "same", "Nearly: differs by only 2.0 points."),
        (WIDE, "same", "Not shown to differ, but the interval reaches 13.0 points."),
        (LESS, "same", "No: it loses 10.0 points."),
        (MORE, "same", "No: it gains 10.0 points."),
        (WIDE, "open", "No difference is shown; the interval reaches 13.0 points."),
        (MORE, "open", "Higher by 10.0 points."),
        (ALONE, "more", "From one picture: nothing can be said."),
    ],
)
def test_what_is_said(found, expected, sentence):
    assert answer(found, expected, 0.05, 0.05) == sentence


def test_a_difference_is_shown_by_p_and_interval_together():
    assert [shown(each, 0.05) for each in (MORE, LESS, NOTHING, ALONE)] == [1, -1, 0, 0]
    assert shown(row(0.1, 0.06, 0.14, 0.2), 0.05) == 0
    assert shown(row(0.1, -0.01, 0.14, 0.01), 0.05) == 0


def results(gain, cost, seeds=3):
    fields = {"dataset": "coco", "model": "clip", "variant": "ours", "other_variant": "finetune", "subset": "all"}
    fields |= {"seeds": seeds, "other_seeds": seeds, "queries": 900}
    rows = [
        fields | {"set": "synthetic", "other_set": "synthetic", "measure": "odmap@1"} | gain,
        fields | {"set": "image_to_text", "other_set": "image_to_text", "measure": "r@1"} | cost,
    ]
    return Results({}, {}, rows)


def test_the_verdict_follows_the_numbers():
    there = verdict(results(MORE, NOTHING), 0.05, 0.05)
    assert there.startswith("The effect is there: CLIP trained on D ∪ D′ has ODmAP@1 +10.0 points")
    assert there.endswith("means over 3 seeds and 900 queries.")
    for gain, cost in (
        (NOTHING, NOTHING),
        (TINY, NOTHING),
        (LESS, NOTHING),
        (MORE, LESS),
        (row(0.1, 0, 0.2, 0.3), TINY),
    ):
        assert verdict(results(gain, cost), 0.05, 0.05).startswith("The effect is not there as it should be")
    assert verdict(results(MORE, NOTHING, seeds=1), 0.05, 0.05).endswith("one seed only.")
    assert verdict(Results({}, {}, []), 0.05, 0.05) is None
