from pathlib import Path

import pytest
import yaml
from dvc.repo import Repo

from trivium.commands.cli import run
from trivium.commands.plan import ESTIMATES, Cost, Quantities, plan_files
from trivium.commands.scale import merge
from trivium.commands.selection import read_graph, stages_apart
from trivium.core.errors import BadInput

PARAMS, GRAPH = Path("params.yaml"), Path("dvc.yaml")


def parameters(scale=None, changes=None):
    read = yaml.safe_load(PARAMS.read_text())
    for tree, name in (
        (yaml.safe_load(Path(f"scales/{scale}.yaml").read_text()) if scale else {}, scale),
        (changes or {}, "x"),
    ):
        list(merge(read, tree, name))
    return read


def planned(scale):
    """Cost of each stage that is run at a scale."""
    costs = plan_files(PARAMS, GRAPH, Path(f"scales/{scale}.yaml") if scale else None)
    return {cost.stage: cost for cost in costs if not cost.is_apart}


def total(costs, column):
    return sum(cost.cells * getattr(cost, column) for cost in costs.values())


def test_hours_on_paper():
    cost = Cost("s", 2, downloads=108, teraflop=40 * 3600, core_hours=16, waiting=0.5, gpu_processes=4)
    # Two cells: 108 GB at 30 MB/s is an hour; an hour at 40 teraflop a second, 50 on eight cores of .1.
    assert cost.hours(8, 40) == pytest.approx(3 + 2 + 8)
    assert cost.hours(8, 0) == pytest.approx(3 + 4 + 100)


def test_sums_of_products():
    quantities = Quantities(parameters())
    assert quantities.value("2 * run.gpu_workers + 9 / 3 / cells", cells=3) == 2 * 2 + 1
    assert quantities.value("kvqae.image_encoders") == 3  # how many
    assert quantities.value("kvqae.rrt.use") == 1
    assert quantities.value(["kvqae.read.nothing", "7"]) == 7
    with pytest.raises(BadInput, match=r"'kvqae.nothing': no such parameter"):
        quantities.value("2 * kvqae.nothing")
    with pytest.raises(
        BadInput, match=r"'world.fquad': unknown source; got 'hubb' \(choices: sample, piaf, hub, local\)"
    ):
        Quantities(parameters(changes={"world": {"fquad": "hubb"}}))


@pytest.mark.parametrize("scale", [None, *sorted(path.stem for path in Path("scales").glob("*.yaml"))], ids=str)
def test_every_stage_has_an_estimate_at_every_scale(scale):
    costs = planned(scale)
    assert [cost.stage for cost in costs.values() if not cost.is_known] == [], (
        "add a line to trivium/commands/plan.yaml"
    )
    if scale is None:
        assert sum(cost.hours(2, 0) for cost in costs.values()) < 1, "minutes"
        assert total(costs, "downloads") == 0


def test_no_estimate_is_of_a_stage_that_is_gone():
    assert set(ESTIMATES["stages"]) <= set(yaml.safe_load(GRAPH.read_text())["stages"])


@pytest.mark.parametrize(
    ("scale", "downloads", "disk", "hours"),
    [
        ("pilot", (10, 30), (30, 80), 6),
        ("pilot_odmap", (9, 11), (25, 60), 3),
        ("pilot_complexity", (1, 2), (10, 20), 1),
        ("workstation", (180, 240), (400, 800), 60),
    ],
)
def test_scales_need_what_the_docs_say(scale, downloads, disk, hours):
    costs = planned(scale)
    assert downloads[0] < total(costs, "downloads") < downloads[1]
    assert disk[0] < total(costs, "disk") < disk[1]
    assert sum(cost.hours(8, 40) for cost in costs.values()) < hours


def test_the_construction_is_apart_where_questions_are_real():
    costs = plan_files(PARAMS, GRAPH, Path("scales/pilot.yaml"))
    apart = {cost.stage for cost in costs if cost.is_apart}
    assert {"kvqae-sources", "kvqae-rebuild", "kvqae-page_construction"} <= apart
    assert not apart & {"report", "kvqae-world", "kvqae-triviaqa", "kvqae-evaluate"}
    assert not any(cost.is_apart for cost in plan_files(PARAMS, GRAPH, None))
    with Repo() as project:
        assert set(ESTIMATES["construction"]) == stages_apart(read_graph(project))


def test_the_command_prints_a_table(capsys):
    run("plan")
    printed = capsys.readouterr().out
    for name in ("kvqae-image_features × 3 ‖ ", "kvqae-knowledge_base ‖ ", "decorrelation-train × "):
        assert name in printed
