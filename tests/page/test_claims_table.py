import re

from tests.claims.invented import evidence, keep
from trivium.page.claims_table import claims_html

TAGS = re.compile("<[^>]+>")


def rows_of(html):
    body = html[html.index("<tbody>") : html.index("</tbody>")]
    return [" ".join(TAGS.sub(" ", row).split()) for row in re.findall(r"<tr>.*?</tr>", body, re.DOTALL)]


def test_nothing_measured_is_no_section(tmp_path):
    assert claims_html(tmp_path, "kvqae") is None


def test_a_row_a_claim_with_what_each_world_showed(tmp_path):
    table = evidence("decorrelation", {"clip_looks": 0.07, "clip_keeps": -0.01, "control_gains_nothing": 0.02})
    keep(tmp_path, "decorrelation", table)
    html = claims_html(tmp_path, "decorrelation")
    looks, less, keeps, nothing = rows_of(html)
    assert looks.startswith("CLIP trained with painted-out objects")
    assert "ODmAP@1 holds 7.0 7.0 [7.0, 7.0] ≥ 0.0 holds, p &lt; 0.001" in looks
    assert " holds 50.0 50.0 " in less
    assert "may lose 5 points holds −1.0 " in keeps
    assert "within 5 points does not hold 2.0 " in nothing
    assert "Not all runs are there yet" not in html
    assert "on 2026-01-02 at commit 01234567" in html


def test_what_is_not_there_yet_is_told(tmp_path):
    keep(tmp_path, "kvqae", evidence("kvqae"), worlds=(4,), trainings=(0, 1))
    html = claims_html(tmp_path, "kvqae")
    assert "Not all runs are there yet" in html
    first = rows_of(html)[0]
    assert "cannot tell – – 50.0" in first
    assert "holds, 2 of 3 trainings" in first
    assert first.endswith("–")
