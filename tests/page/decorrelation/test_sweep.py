"""Figure 4 says what a batch holds, and where its axis ends."""

import pytest

from tests.decorrelation.retrieved_world import cell
from trivium.decorrelation.matrix import parse_cells
from trivium.page.decorrelation.results import Results
from trivium.page.decorrelation.tables import Tables, batch_share, figure_4_html

PUBLISHED = {"figure_4": {"steep_until": 0.1, "saturated_after": 0.2}}


def html(ratio, synthetic_share, captions=1):
    cells = {
        "coco_clip_finetune_0": cell("coco", "clip", "finetune"),
        "coco_clip_share50_0": cell("coco", "clip", "share50", share=0.5),
        "coco_clip_ours_0": cell("coco", "clip", "ours", captions_an_image=captions),
    }
    metrics = {}
    for name, part in zip(cells, (0.0, 0.5, 1.0), strict=True):
        metrics |= {f"{name}_synthetic_ratio": part * ratio, f"{name}_synthetic_odmap@1": 0.5}
        metrics[f"{name}_image_to_text_r@1"] = 0.3
    results = Results(parse_cells(cells, "params.yaml"), metrics, [])
    used = {"evaluate": {"confidence": 0.95}, "removals": {"training": "one"}}
    used["train"] = {"models": {"clip": {"synthetic_share": synthetic_share}}}
    return figure_4_html(Tables(results, PUBLISHED, used, [], {}, 0.05))


@pytest.mark.parametrize(
    ("ratio", "part", "synthetic_share", "expected"),
    [(0.0, 1.0, 0.5, 0.0), (0.2, 1.0, 0.5, 0.5), (0.1, 0.5, 0.5, 0.25), (0.25, 1.0, None, 0.2), (0.4, 1.0, 0.5, 0.5)],
)
def test_what_a_batch_holds(ratio, part, synthetic_share, expected):
    assert batch_share(ratio, part, synthetic_share) == pytest.approx(expected)


def test_a_set_share_is_said_beside_that_of_the_pairs():
    found = html(0.19, 0.5)
    for share in ("0.0", "25.0", "50.0"):
        assert f"<td>1</td><td>{share}</td>" in found
    assert "What a batch holds of all of D′ is set, 50.0 %" in found
    assert "would be 16.0 % were batches drawn by pairs: D′ is seen more often" in found
    assert "The axis ends at 0.190, short of 0.2" in found
    assert "one removal of a training picture with one caption, and D all captions" in found
    assert "captions_an_image: 5</code>, as in <code>scales/figure4.yaml</code>, take it further" in found


def test_by_pairs_and_beyond_saturation():
    found = html(0.4, None)
    assert (
        "Batches hold D′ as there are pairs of it. The axis ends at 0.400; the paper sees saturation after 0.2" in found
    )
    assert "is set" not in found
    found = html(0.4, None, captions=5)
    assert "with at most 5 captions" in found
    assert "captions_an_image" not in found
    assert "seen not more often" in html(1.0, 0.5)


def test_without_synthetic_pairs_no_axis_is_told():
    assert "The axis ends" not in html(0.0, 0.5)
