import re
import subprocess
import sys
from pathlib import Path

import networkx as nx
import pytest
import yaml

from trivium.commands.costs.kvqae_world import kvqae_world
from trivium.commands.costs.project import stage_costs
from trivium.commands.costs.row import Machine, Row, chosen, known
from trivium.commands.plan import needed_by, of_construction, plan, plan_files, show
from trivium.commands.scale import merge
from trivium.commands.stage_models import Used
from trivium.core.errors import BadInput
from trivium.core.image_shards import write_images
from trivium.core.tables import write_json_lines

MACHINE = Machine(gpu_teraflop_a_second=10, core_teraflop_a_second=1, network_mb_a_second=50)
PARAMETERS = {"world": {"toy": "sample"}, "toy": {"train": {"steps": 36, "seeds": [0, 1, 2], "most": None}}}


def one(row, definition=None, cores=2):
    graph = {"stages": {"toy-train": definition or {"cmd": "x"}}}
    (cost,) = plan(graph, {"toy-train": row}, Used(PARAMETERS), cores, MACHINE)
    return cost


def of_the_project(scale=None, cores=2, changes=None, **world):
    graph, parameters = (yaml.safe_load(Path(name).read_text()) for name in ("dvc.yaml", "params.yaml"))
    if scale:
        list(merge(parameters, yaml.safe_load(scale.read_text()), scale))
    parameters["world"] |= world
    for section, values in (changes or {}).items():
        parameters["decorrelation"][section] |= values
    used = Used(parameters)
    return list(plan(graph, stage_costs(used, cores), used, cores))


def test_hours_on_paper():
    cost = one(Row(downloads=180, teraflop=36 * 1000, core_hours=3, memory=4, disk=2.5))
    # 180 GB at 50 MB/s: 1 h; 36 000 Tflop: 1 h at 10 a second, 5 h on two cores of 1; 3 core hours on two cores: 1.5 h.
    assert cost.with_gpu == pytest.approx(1 + 1 + 1.5)
    assert cost.without == pytest.approx(1 + 5 + 1.5)
    assert (cost.downloads, cost.memory, cost.disk) == (180, 4, 2.5)


@pytest.mark.parametrize(("cores", "with_gpu", "without"), [(8, 4, 1), (2, 4, 4), (1, 8, 8)])
def test_few_processes_beside_a_gpu_take_longer(cores, with_gpu, without):
    cost = one(Row(core_hours=8, gpu_processes=2), cores=cores)
    assert (cost.with_gpu, cost.without) == (with_gpu, without)


def test_processes_are_bounded_by_the_cores():
    parameters = yaml.safe_load(Path("params.yaml").read_text()) | {"run": {"workers": None, "gpu_workers": 4}}
    used = Used(parameters)
    assert [stage_costs(used, cores)["kvqae-kb_features"].memory for cores in (2, 16)] == [2 * 1.5, 4 * 1.5]


@pytest.mark.skipif(not Path("dvc.yaml").exists(), reason="needs the project's graph")
def test_pretraining_holds_the_texts_of_what_was_retrieved():
    memory = {row.stage: row.memory for row in of_the_project(Path("scales/paper.yaml"))}
    texts = 47_000 * 100 * 600 / 1e9  # 100 passages a question, 600 bytes each; twice while they are joined
    for stage in ("kvqae-dpr_pretrain", "kvqae-rerank_pretrain", "kvqae-reader_pretrain"):
        assert memory[stage] == pytest.approx(6 + 2 * texts)


@pytest.mark.parametrize(("scale", "hours"), [("workstation", 1.75 + 2.0), ("paper", 10.5 + 2.0)])
def test_each_setting_of_bm25_asks_validation_anew(scale, hours):
    """50 and 300 times 1 232 questions, a tenth of a second each; then each question of ViQuAE and TriviaQA once."""
    searches = [row.without for row in of_the_project(Path(f"scales/{scale}.yaml")) if "kvqae-bm25_" in row.stage]
    assert 2 * sum(searches[1:]) == pytest.approx(hours, rel=0.03)  # on two cores; the first is the index


def planned(scale):
    """What is run at a scale, without what is asked for by name; the lines about the first tables."""
    costs, first = plan_files(Path("params.yaml"), Path("dvc.yaml"), Path(f"scales/{scale}.yaml"), cores=8)
    return [cost for cost in costs if not cost.apart], first


def test_a_pilot_fits_an_evening():
    costs, first = planned("pilot")
    assert sum(cost.downloads for cost in costs) < 30
    assert sum(cost.disk for cost in costs) < 80
    (tables,) = (line for line in first if line.startswith("Tables 2 to 4"))
    downloads, disk, hours = map(float, re.findall(r"[\d.]+(?= GB| h)", tables))
    assert hours < 6
    # the base, previews, encoders; of two published checkpoints the mean
    assert downloads == pytest.approx(3.6 + 60_000 * 1e-4 + 1.2 + 0.66, abs=0.06)
    assert disk < 40


def test_the_pilot_of_odmap_takes_two_hours():
    costs, first = planned("pilot_odmap")
    odmap = [cost for cost in costs if cost.stage.startswith("decorrelation-")]
    assert sum(cost.with_gpu for cost in odmap) < 2
    # COCO's archive of validation, annotations and splits; CLIP, BLIP, LaMa
    assert sum(cost.downloads for cost in odmap) == pytest.approx(6.9 + 0.6 + 2.0 + 0.2)
    assert "decorrelation: after 9.7 GB" in first[1]


def test_a_larger_base_costs_more():
    def row(articles):
        scale = {"kvqae": {"world": {"base": {"articles": articles}}}, "world": {"kvqae": "hub"}}
        parameters = yaml.safe_load(Path("params.yaml").read_text())
        list(merge(parameters, scale, "x"))
        return stage_costs(Used(parameters), 2)["kvqae-world"]

    few, many = row(50_000), row(100_000)
    assert many.downloads - few.downloads == pytest.approx(5)
    assert many.waiting == 2 * few.waiting > 1
    assert many.core_hours == few.core_hours, "BM25 reads all articles for either"


@pytest.mark.parametrize("scale", ["pilot", "workstation"])
def test_first_tables_need_triviaqa_only_where_dpr_is_pretrained_on_it(scale):
    parameters = yaml.safe_load(Path("params.yaml").read_text())
    path = Path(f"scales/{scale}.yaml")
    list(merge(parameters, yaml.safe_load(path.read_text()), path))
    needs = needed_by(yaml.safe_load(Path("dvc.yaml").read_text()), Used(parameters))
    wanted = {stage for stage, _ in nx.descendants(needs, ("kvqae-evaluate", 0))}
    assert {"kvqae-world", "kvqae-bm25_search", "kvqae-dpr_finetune", "kvqae-kb_features", "kvqae-relevance"} <= wanted
    assert ("kvqae-triviaqa" in wanted) == (scale == "workstation")
    assert not {"kvqae-sources", "kvqae-reader_pretrain", "kvqae-rerank_pretrain", "kvqae-rrt", "report"} & wanted
    construction = of_construction(needs)
    assert {"kvqae-sources", "kvqae-rebuild", "kvqae-page_construction"} <= construction
    assert not construction & (wanted | {"report", "kvqae-world", "kvqae-triviaqa"})


def test_edges_follow_paths_through_cells():
    graph = {
        "stages": {
            "a": {"foreach": "${toy.cells}", "do": {"outs": ["made/${key}", {"metrics/${key}.json": {}}]}},
            "b": {"matrix": {"seed": [0, 1]}, "deps": ["made/x", "brought"], "outs": ["models/${item.seed}"]},
            "c": {"foreach": {"one": {"reads": ["models/0", "metrics/y.json"]}}, "do": {"deps": ["${item.reads[1]}"]}},
            "d": {"deps": ["models"], "outs": ["m"]},
            "e": {"deps": ["made/xy", "mod"]},
        }
    }
    needs = needed_by(graph, Used({"toy": {"cells": {"x": 1, "y": 2}}}))
    edges = {(f"{one}{row}", f"{other}{column}") for (one, row), (other, column) in needs.edges}
    assert edges == {("b0", "a0"), ("b1", "a0"), ("c0", "a1"), ("d0", "b0"), ("d0", "b1")}


def test_java_gets_its_heap():
    memory = {row.stage: row.memory for row in of_the_project(Path("scales/paper.yaml"))}
    assert memory["kvqae-bm25_index"] == memory["kvqae-bm25_search"] == 16 + 2


def test_a_folder_of_forty_articles_costs_what_forty_articles_cost(tmp_path):
    write_json_lines(tmp_path / "articles.jsonl", [{"text": ["word " * 600]}] * 40)
    for name in ("viquae", "triviaqa"):
        for split in ("train", "validation", "test"):
            write_json_lines(tmp_path / name / f"{split}.jsonl", [{}] * 10)
    (tmp_path / "images" / "questions").mkdir(parents=True)
    (tmp_path / "images" / "questions" / "one.jpg").write_bytes(b"1" * 1000)
    write_images(tmp_path / "images" / "kb", [("a.jpg", b"2"), ("b.jpg", b"3")])
    parameters = yaml.safe_load(Path("params.yaml").read_text())
    parameters["world"] |= {"kvqae": "local", "local": {"kvqae": str(tmp_path)}}
    world = kvqae_world(Used(parameters))
    assert (world.articles, world.viquae_questions, world.triviaqa_questions, world.images) == (40, 30, 30, 3)
    assert world.passages == pytest.approx(40 + 40 * 600 * 5 / 6 / 40, rel=0.02)  # 5 bytes a word here, in texts 6
    folder = {"kvqae": str(tmp_path)}
    rows = [row for row in of_the_project(kvqae="local", local=folder) if row.stage.startswith("kvqae")]
    assert sum(row.downloads for row in rows) == 0
    assert sum(row.disk for row in rows) < 60  # BERT with its optimiser, for each training
    assert sum(row.without for row in rows) < 24


def test_a_local_folder_that_is_not_there_yet_counts_as_the_hubs(tmp_path):
    (local, hub) = (
        {row.stage: row for row in of_the_project(kvqae=source, local={"kvqae": str(tmp_path)})}
        for source in ("local", "hub")
    )
    assert local["kvqae-passages"] == hub["kvqae-passages"]
    assert (local["kvqae-world"].downloads, hub["kvqae-world"].downloads) == (0, 157)


@pytest.mark.parametrize("use", [True, "given", False])
def test_rrt_describes_candidates_images_only(use):
    """At the hub 2 465 questions of validation and test, and some 45 articles of each that no other list has."""
    parameters = yaml.safe_load(Path("params.yaml").read_text())
    list(merge(parameters, yaml.safe_load(Path("scales/paper.yaml").read_text()), Path("paper")))
    parameters["kvqae"]["rrt"]["use"] = use
    used = Used(parameters)
    graph = yaml.safe_load(Path("dvc.yaml").read_text())
    rows = {row.stage: row for row in plan(graph, stage_costs(used, 2), used, 2)}
    images = 3697 * 2 / 3 * (1 + 45)
    described = images * (500 * 130 + 4096) * 2 * 2 / 1e9 if use else 0
    assert rows["kvqae-local_features"].disk == pytest.approx(described)
    assert described < 32


def test_blips_second_stage_is_counted():
    scale = Path("scales/workstation.yaml")
    few, many = (
        next(row for row in of_the_project(scale, changes=changes) if row.stage == "decorrelation-retrieve")
        for changes in ({"retrieve": {"candidates": {"coco": 1}}}, {})
    )
    # 55 000 queries of one cell with 255 more candidates, .02 teraflop a pair, 40 teraflop a second
    assert many.with_gpu - few.with_gpu == pytest.approx(55_000 * 255 * 0.02 / 40 / 3600, rel=1e-6)


@pytest.mark.parametrize(("picture_format", "gb"), [("png", 50), ("webp", 40)])
def test_a_filling_of_coco(picture_format, gb):
    changes = {"inpaint": {"picture_format": picture_format}}
    (row,) = (
        row
        for row in of_the_project(Path("scales/workstation.yaml"), changes=changes)
        if row.stage == "decorrelation-inpaint"
    )
    assert row.disk == pytest.approx(gb, rel=0.02)  # of the two paintings one paints nothing


@pytest.mark.parametrize(
    "definition", [{"matrix": {"seed": "${toy.train.seeds}", "part": ["a", "b"]}}, {"foreach": list(range(6))}]
)
def test_cells_are_counted_and_share_no_memory(definition):
    cost = one(Row(disk=2, memory=4), definition)
    assert (cost.cells, cost.disk, cost.memory) == (6, 12, 4)


def test_fillings_and_kinds_cost_what_their_classes_say():
    parameters = yaml.safe_load(Path("params.yaml").read_text())
    parameters["world"] |= {"coco": "hub", "decorrelation_models": "hub"}
    section = parameters["decorrelation"]

    def rows(fillings, cells):
        section["paintings"] = {f"coco_{name}": {"dataset": "coco", "filling": name} for name in fillings}
        section["cells"] = {f"coco_{name}": {"model": name.partition("_")[0]} for name in cells}
        found = stage_costs(Used(parameters), 2)
        return [found[f"decorrelation-{stage}"].teraflop for stage in ("inpaint", "train", "retrieve")]

    painted = 123_287 / 2 + 3 * 5000
    paint, train, ask = rows(["none", "cv2"], ["clip_ours_0"])
    assert (paint, train) == (0, pytest.approx(200 * 64 * 3 * 0.012))
    blip_paint, blip_train, blip_ask = rows(["none", "lama"], ["blip_zero_shot_0", "blip_ours_0"])
    assert blip_paint == pytest.approx(painted / 2 * 0.5)  # a mean cell: one paints nothing
    assert blip_train == pytest.approx(160 * 32 * 3 * 0.11 / 2)  # a mean cell: one is not trained
    pairs = 11 * 5000 * Used(parameters)("decorrelation.retrieve.candidates")["coco"]  # which BLIP's second stage reads
    assert blip_ask == pytest.approx(ask * 0.11 / 0.012 + pairs * 0.02)


@pytest.mark.parametrize(("world", "articles"), [("sample", "drawn"), ("hub", "real"), ("local", "real")])
def test_quantities_are_the_worlds(world, articles):
    assert chosen(Used({"world": {"kvqae": world}}), "kvqae", "drawn", "real") == articles


def test_a_world_that_there_is_not_is_named_with_the_choices():
    with pytest.raises(BadInput, match=r"'world.toy': unknown source; got 'hubb' \(choices: sample, hub, local\)"):
        chosen(Used({"world": {"toy": "hubb"}}), "toy", 1, 2)


def test_the_hub_is_larger_than_the_sample_in_everything():
    sources = {"kvqae", "coco", "decorrelation_models", "fquad", "calor", "complexity_models"}
    sample, hub = (of_the_project(**dict.fromkeys(sources, world)) for world in ("sample", "hub"))
    for small, large in zip(sample, hub, strict=True):
        for column in ("downloads", "disk", "memory", "without"):
            assert getattr(large, column) >= getattr(small, column), (small.stage, column)
    assert sum(row.downloads for row in sample) == 0
    assert sum(row.downloads for row in hub) > 150


def test_what_a_stage_has_a_default_for_may_be_left_out():
    parameters = yaml.safe_load(Path("params.yaml").read_text())
    parameters.pop("run", None)
    assert stage_costs(Used(parameters), 2)["kvqae-kb_features"].gpu_processes == 2


def test_what_is_left_open_is_known_otherwise():
    assert known(None, 7) == 7
    assert known(0, 7) == 0


def test_stage_without_row_is_shown_as_such():
    (cost,) = plan({"stages": {"other": {}}}, {}, Used({}), 1)
    assert not cost.known
    assert any(re.match(r"other\s+no estimate", line) for line in show([cost], 1, 1))


def test_total_and_lack_of_disk():
    lines = list(show([one(Row(disk=30, memory=4)), one(Row(disk=25, memory=8))], free=50, cores=2))
    assert re.search(r"total.* 55.0 GB +8 GiB", lines[-4])
    assert lines[-3] == "free on this disk: 50 GB, 5 GB too few"


@pytest.mark.skipif(not Path("dvc.yaml").exists(), reason="needs the project's graph")
@pytest.mark.parametrize("scale", [None, *sorted(Path("scales").glob("*.yaml"))], ids=str)
def test_every_stage_of_the_graph_has_an_estimate_at_every_scale(scale):
    rows = of_the_project(scale)
    assert [row.stage for row in rows if not row.known] == [], "add rows to trivium/commands/costs"
    if scale is None:
        assert sum(row.without for row in rows) < 1, "the sample is a matter of minutes"


@pytest.mark.skipif(not Path("dvc.yaml").exists(), reason="needs the project's graph")
def test_command_prints_a_table():
    done = subprocess.run([sys.executable, "-m", "trivium.commands.plan"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "kvqae-passages" in done.stdout
    assert "total" in done.stdout


def test_a_cell_that_a_scale_completes_must_be_there(tmp_path):
    params = Path("params.yaml").read_text(encoding="utf-8")
    line = next(each for each in params.splitlines() if each.startswith("    coco_clip_zero_shot_0:"))
    (tmp_path / "params.yaml").write_text(params.replace(f"{line}\n", ""), encoding="utf-8")
    said = r"'coco_clip_zero_shot_0': a cell lacks a setting; .*got \{'queries': 'lama'\}; expected dataset"
    with pytest.raises(BadInput, match=said):
        plan_files(tmp_path / "params.yaml", Path("dvc.yaml"), Path("scales/workstation.yaml"), 2)
