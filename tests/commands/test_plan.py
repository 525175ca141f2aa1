from pathlib import Path

import pytest
import yaml

from trivium.commands.cli import run
from trivium.commands.plan import (
    Cost,
    Machines,
    plan_files,
)
from trivium.commands.quantities import ESTIMATES, Quantities
from trivium.commands.scale import merge
from trivium.core.errors import BadInput
from trivium.core.image_shards import write_images
from trivium.core.tables import write_json_lines

PARAMS, GRAPH = Path("params.yaml"), Path("dvc.yaml")
CORES = Machines("20x16cores", 20, 16)
GPUS = Machines("8xA100", 8, 16, 125.0)
WITH_GPU = Machines("", 1, 8, 40)


def parameters(scale=None, changes=None):
    read = yaml.safe_load(PARAMS.read_text())
    for tree, name in (
        (yaml.safe_load(Path(f"scales/{scale}.yaml").read_text()) if scale else {}, scale),
        (changes or {}, "x"),
    ):
        list(merge(read, tree, name))
    return read


def planned(scale, tmp_path=None, changes=None):
    """Cost of each stage that is run at a scale, and the lines about the first tables."""
    params = PARAMS
    if changes:
        params = tmp_path / "params.yaml"
        params.write_text(yaml.safe_dump(parameters(changes=changes)))
    costs, first = plan_files(params, GRAPH, Path(f"scales/{scale}.yaml") if scale else None)
    return {cost.stage: cost for cost in costs if not cost.apart}, first


def total(costs, column):
    return sum(cost.cells * getattr(cost, column) for cost in costs.values())


def test_hours_on_paper():
    cost = Cost("s", 2, downloads=108, teraflop=40 * 3600, core_hours=16, waiting=0.5, gpu_processes=4)
    # Two cells: 108 GB at 30 MB/s is an hour; an hour at 40 teraflop a second, 50 on eight cores of .1.
    assert WITH_GPU.hours(cost) == pytest.approx({"network": 3, "GPU": 2, "core": 8})
    assert Machines("", 1, 8).hours(cost) == pytest.approx({"network": 3, "GPU": 0, "core": 4 + 100})


@pytest.mark.parametrize(
    ("spread", "machines", "hours", "limit"),
    [
        ("", GPUS, (0, 8, 4), "1 GPU of one machine"),
        ("tasks", GPUS, (0, 4, 2), "2 GPUs"),
        ("shards", GPUS, (0, 1, 0.5), "8 GPUs"),
        ("", CORES, (0, 0, 4 + 625), "16 cores of one machine"),
        ("tasks", CORES, (0, 0, 32 + 5000), "2 cores"),
        ("shards", CORES, (0, 0, 0.2 + 31.25), "320 cores"),
    ],
)
def test_stages_are_spread_over_machines(spread, machines, hours, limit):
    cost = Cost("s", 2, teraflop=125 * 3600 * 4, core_hours=32, spread=spread)
    assert tuple(machines.hours(cost).values()) == pytest.approx(hours)
    assert machines.limit(cost) == limit


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
    costs, first = planned(scale)
    assert [cost.stage for cost in costs.values() if not cost.known] == [], "add a line to trivium/commands/plan.yaml"
    assert len(first) == len(ESTIMATES["first"])
    if scale is None:
        assert sum(sum(Machines("", 1, 2).hours(cost).values()) for cost in costs.values()) < 1, "minutes"
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
    costs, _ = planned(scale)
    assert downloads[0] < total(costs, "downloads") < downloads[1]
    assert disk[0] < total(costs, "disk") < disk[1]
    assert sum(sum(WITH_GPU.hours(cost).values()) for cost in costs.values()) < hours


def test_the_construction_is_apart_where_questions_are_real():
    costs, _ = plan_files(PARAMS, GRAPH, Path("scales/pilot.yaml"))
    apart = {cost.stage for cost in costs if cost.apart}
    assert {"kvqae-sources", "kvqae-rebuild", "kvqae-page_construction"} <= apart
    assert not apart & {"report", "kvqae-world", "kvqae-triviaqa", "kvqae-evaluate"}
    assert not any(cost.apart for cost in plan_files(PARAMS, GRAPH, None)[0])


def test_a_folder_of_forty_articles_costs_what_forty_articles_cost(tmp_path):
    write_json_lines(tmp_path / "articles.jsonl", [{"text": ["word " * 600]}] * 40)
    for name in ("viquae", "triviaqa"):
        for split in ("train", "validation", "test"):
            write_json_lines(tmp_path / name / f"{split}.jsonl", [{}] * 10)
    write_images(tmp_path / "images" / "kb", [("a.jpg", b"2"), ("b.jpg", b"3")])
    changes = {"world": {"kvqae": "local", "local": {"kvqae": str(tmp_path)}}}
    value = Quantities(parameters(changes=changes)).value
    assert (value("articles"), value("questions"), value("triviaqa")) == (40, 30, 30)
    assert value("passages") == pytest.approx(40 + 40 * 600 * 5 / 6 / 40, rel=0.02)  # 5 bytes a word here, in texts 6
    rows = {name: cost for name, cost in planned(None, tmp_path, changes)[0].items() if name.startswith("kvqae")}
    assert total(rows, "downloads") == 0
    assert total(rows, "disk") < 60  # BERT with its optimiser, for each training
    changes["world"]["local"]["kvqae"] = str(tmp_path / "none")
    assert Quantities(parameters(changes=changes)).value("questions") == 3697, "the hub's while it is not there"


def test_the_command_prints_tables(capsys):
    run("plan")
    printed = capsys.readouterr().out
    assert "kvqae-image_features × 3" in printed
    assert "ODmAP and R@k of decorrelation: after" in printed
    words = ["--scale", "pilot", "--machines", "1xH200", "20x16cores"]
    run("plan", words)
    printed = capsys.readouterr().out
    assert all(
        f"{stage} {mark}" in printed for stage, mark in (("kvqae-knowledge_base", "‖"), ("decorrelation-train", "¦"))
    )
    assert "First bottleneck on 1xH200: " in printed
    with pytest.raises(SystemExit) as wrong:
        run("plan", [*words[:-1], "many"])
    said = capsys.readouterr()
    assert (wrong.value.code, said.out) == (1, "")
    assert "no such machines" in said.err
