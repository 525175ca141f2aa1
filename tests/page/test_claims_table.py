import re
from functools import partial
from pathlib import Path

import pytest

from tests.claims.invented import evidence, keep
from trivium.claims import verdicts
from trivium.claims.verdicts import judge, read_evidence
from trivium.measures.bootstrap import over_trainings
from trivium.page import thorough
from trivium.page.thorough import COSTLY, claim_html

ROOT = Path(__file__).parents[2]
TAGS = re.compile("<[^>]+>")


@pytest.fixture(autouse=True)
def _few_draws(monkeypatch):
    """As many as p < 0.001 needs: the differences are the same in every item."""
    monkeypatch.setattr(verdicts, "over_trainings", partial(over_trainings, permutations=2000, resamples=200))


def claims_html(folder, pipeline):
    return thorough.claims_html(list(judge(pipeline, read_evidence(folder, pipeline))), folder, pipeline)


def front_html(folder, pipeline, sentence=""):
    return thorough.front_html(judge(pipeline, read_evidence(folder, pipeline)), pipeline, sentence)


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
    assert "ODmAP@1 holds 7.0 [7.0, 7.0] ≥ 0.0 holds, p &lt; 0.001" in looks
    assert " holds 50.0 " in less
    assert "may lose 5 points holds −1.0 " in keeps
    assert "within 5 points does not hold 2.0 " in nothing
    assert "Not all runs are there yet" not in html
    assert "longer than those of the tables below" not in html
    assert "on 2026-01-02 at commit 01234567" in html


def test_what_is_not_there_yet_is_told(tmp_path):
    keep(tmp_path, "kvqae", evidence("kvqae"), worlds=(4,), trainings=(0, 1))
    html = claims_html(tmp_path, "kvqae")
    assert "Not all runs are there yet" in html
    first = rows_of(html)[0]
    assert "cannot tell – 50.0" in first
    assert "holds, 2 of 3 trainings" in first
    assert first.endswith("–")


def test_the_sentence_that_stands_first_has_the_worlds_verdict(tmp_path):
    assert front_html(tmp_path, "kvqae") == ""
    keep(tmp_path, "kvqae", evidence("kvqae", {"rrt_adds": -0.5}))
    assert "in 3 other worlds, with 3 trainings each" in front_html(tmp_path, "kvqae")
    assert TAGS.sub("", front_html(tmp_path, "kvqae")).strip().startswith("holds")
    for lost, said in ((0.2, "does not hold"), (0.05, "cannot tell")):
        keep(tmp_path, "decorrelation", evidence("decorrelation", {"clip_keeps": -lost}), worlds=(4,))
        keep(tmp_path, "decorrelation", evidence("decorrelation"), worlds=(3, 5))
        assert TAGS.sub("", front_html(tmp_path, "decorrelation")).strip().startswith(said)
    keep(tmp_path, "complexity", evidence("complexity", {"f5_costs": 0.5}, usual=-0.5))
    for factor, said in (("f4", "does not hold"), ("f5", "holds")):
        html = front_html(tmp_path, "complexity", claim_html(COSTLY[factor], "holds"))
        assert TAGS.sub("", html).strip() == f"{said} in 3 other worlds together, with 3 trainings each"
    assert front_html(tmp_path, "complexity", claim_html("No factor costs readers.")) == ""
    keep(tmp_path, "complexity", evidence("complexity"), worlds=(3,), trainings=(1,))
    (tmp_path / "complexity" / "6-0.parquet").unlink()
    assert front_html(tmp_path, "complexity", COSTLY["f4"]) == ""
