from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from trivium.files.tables import read_json
from trivium.page.assembly import thorough_html
from trivium.page.worlds import COMPARISONS, compared, over_all

NAME = "read.few_shot_fused_over_zero_shot_fused_em"


def world(difference, p):
    return {f"{NAME}_difference": difference, f"{NAME}_p": p, "read.other_over_another_em_p": 0.5}


def test_over_all_worlds():
    (row,) = compared("kvqae", {"3": world(0.02, 0.01), "4": world(-0.01, 0.5)})
    assert (row["row"], row["other"], row["measure"]) == ("The few-shot reader", "the zero-shot reader", "EM")
    assert row["worlds"] == [(0.02, 0.01), (-0.01, 0.5)]
    assert row["mean"] == pytest.approx(0.005)
    assert row["deviation"] == pytest.approx(np.std([0.02, -0.01], ddof=1))
    assert row["over_all"] == over_all([0.02, -0.01], [0.01, 0.5])


def test_the_p_of_all_worlds():
    assert over_all([0.1], [0.03]) == pytest.approx(0.03)
    assert over_all([0.1, -0.1], [0.03, 0.03]) == pytest.approx(1)  # they cancel out
    assert over_all([0.0, 0.0], [1, 1]) == 1
    # z = 1.96 four times: Z = 4 · 1.96 / 2
    assert over_all([1, 2, 3, 4], [0.05] * 4) == pytest.approx(2 * stats.norm.sf(2 * stats.norm.isf(0.025)))
    assert over_all([1, -1, 1], [0.2, 0.5, 0.01]) == pytest.approx(over_all([1, 1, -1], [0.01, 0.2, 0.5]))


def test_what_a_world_lacks_is_not_compared():
    assert compared("kvqae", {"3": world(0.02, 0.01), "4": {}}) == []
    assert compared("another", {"3": world(0.02, 0.01)}) == []


def test_on_the_page():
    result = {"pipeline": "kvqae", "commit": "abc123def456", "date": "2030-01-02"}
    html = thorough_html(result | {"seeds": {"10": world(-0.01, 0.5), "9": world(0.02, 0.0001)}})
    table = html[html.index("<tbody>") : html.index("</tbody>")]
    assert "The few-shot reader over the zero-shot reader" in table
    assert table.index("p &lt; 0.001") < table.index("−1.0"), "worlds stand in the order of their seeds"
    assert "0.5 ± 2.1" in table
    assert "<caption>" not in thorough_html(result | {"seeds": {"3": world(0.02, 0.01)}}), "one world is no spread"


def test_every_comparison_is_a_metric_of_the_kept_run():
    """The names are those that the stages give; a misspelt one would be left out silently."""
    (seed, *_) = read_json(Path("metrics/thorough/kvqae.json"))["seeds"].values()
    assert {f"{name}_p" for name in COMPARISONS["kvqae"]} <= seed.keys()
