"""One file and one line add a factor: in a copy of the code, from its file to its row on the page."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.page.complexity_world import PARAMETERS
from trivium.complexity.effects.analysed_tables import read_factors, read_names
from trivium.core.tables import read_json, read_table
from trivium.page.contents import read_articles

ROOT = Path(__file__).parents[3]
FILE = '''
"""Factor f7: the text is long."""

from trivium.complexity.factors.factor import Factor, Judged


class LongText(Factor):
    """Yes where the text has more characters than the median."""

    name = "f7"
    description = "Is the text long?"
    tiny = (True, True, True, True, False, False)
    label = "long <text>"

    def judge(self, examples, corpora):
        lengths = [len(each.text.text) for each in examples]
        middle = sorted(lengths)[len(lengths) // 2]
        return Judged([length >= middle for length in lengths], metrics={"f7_threshold": float(middle)})
'''
RUN = """
import sys
from pathlib import Path
from tests.page.complexity_world import PARAMETERS, run_stages
from tests.page.parts import render

PARAMETERS["factors"]["f7"] = {}  # the line in params.yaml
folder = Path(sys.argv[1])
render("complexity", run_stages(folder), folder / "parts")
"""
SHOWN = ("factors", "table-2", "findings", "forest", "partitions", "examples")  # sections with a row or column a factor


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Outputs of every stage from the factors to the page, made by the copy."""
    copy = tmp_path_factory.mktemp("copy")
    for name in ("trivium", "stages", "tests", "sample"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    shutil.copy(ROOT / "dvc.yaml", copy)
    (copy / "trivium/complexity/factors/members/f7.py").write_text(FILE.lstrip(), encoding="utf-8")
    (copy / "run.py").write_text(RUN, encoding="utf-8")
    folder = copy / "made"
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "run.py", str(folder)], cwd=copy, env={"PYTHONPATH": str(copy)}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_statistics_follow(world):
    seven = list(PARAMETERS["factors"])
    names = read_names(world / "factors.parquet")
    assert list(names) == [*seven, "f7"]
    assert names["f7"] == "long <text>"
    assert 0 < (read_factors(world / "factors.parquet").factors[7] == 1).mean() < 1
    effects = read_table(world / "effects.parquet").to_pylist()
    assert [row["factor"] for row in effects][:8] == [*seven, "f7"]
    assert all(row["delta"] is not None for row in effects if row["factor"] == "f7")
    assert {"f7-no", "f7-yes"} <= {part.name for part in (world / "partitions").iterdir()}
    metrics = world / "metrics"
    assert read_json(metrics / "factors.json")["f7_threshold"] > 0
    assert "f7_found" in read_json(metrics / "validate.json")
    assert "uses_f7" in read_json(metrics / "partition.json")


def sections_of(world):
    (article,) = read_articles(world / "parts", {})
    return {each["id"]: each["html"] for each in article["sections"]}


@pytest.mark.parametrize("section", SHOWN)
def test_the_page_follows(world, section):
    sections = sections_of(world)
    assert "f7" in sections[f"complexity-{section}"]
    assert "long <text>" not in sections[f"complexity-{section}"]


def test_a_factor_that_the_paper_lacks_has_no_published_value(world):
    sections = sections_of(world)
    row = sections["complexity-factors"].split("<b>f7</b> long &lt;text&gt;")[1].split("</tr>")[0]
    assert '<td class="published">–</td>' in row
    assert '<td class="published">42</td>' in sections["complexity-factors"]
    assert yaml.safe_load((ROOT / "tests/published/complexity.yaml").read_text("utf-8"))["table_2"]["shares"][0] == 42
