import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from trivium.commands.plan import COSTS, evaluate, plan, show
from trivium.commands.scale import merge
from trivium.errors import BadInput

MACHINE = {"gpu_teraflop_a_second": 10, "core_teraflop_a_second": 1, "network_mb_a_second": 50}
PARAMETERS = {"world": {"toy": "sample"}, "toy": {"train": {"steps": 36, "seeds": [0, 1, 2], "most": None}}}


def one(row, definition=None, parameters=PARAMETERS, cores=2):
    costs = {"machine": MACHINE, "worlds": {"toy": {"sample": {"rows": 10}, "hub": {"rows": 10 ** 6, "bytes": "rows * 4"}}}, "stages": {"toy-train": row}}  # fmt: skip
    (cost,) = plan({"stages": {"toy-train": definition or {"cmd": "x"}}}, costs, parameters, cores)
    return cost


def test_hours_on_paper():
    cost = one(
        {"downloads": 180, "teraflop": "toy.train.steps * 1000", "core_hours": 3, "memory": 4, "disk": "rows / 4"}
    )
    # 180 GB at 50 MB/s: 1 h; 36 000 Tflop: 1 h at 10 a second, 5 h on two cores of 1; 3 core hours on two cores: 1.5 h.
    assert cost.with_gpu == pytest.approx(1 + 1 + 1.5)
    assert cost.without == pytest.approx(1 + 5 + 1.5)
    assert (cost.downloads, cost.memory, cost.disk) == (180, 4, 2.5)


@pytest.mark.parametrize(("cores", "with_gpu", "without"), [(8, 4, 1), (2, 4, 4), (1, 8, 8)])
def test_few_processes_beside_a_gpu_take_longer(cores, with_gpu, without):
    cost = one({"core_hours": 8, "gpu_processes": 2}, cores=cores)
    assert (cost.with_gpu, cost.without) == (with_gpu, without)


def test_processes_are_bounded_by_the_cores():
    parameters = {**PARAMETERS, "run": {"workers": None, "gpu_workers": 4}}
    row = {"memory": "3 * min(known(run.workers, cores), run.gpu_workers)"}
    assert [one(row, parameters=parameters, cores=cores).memory for cores in (2, 16)] == [6, 12]


@pytest.mark.skipif(not Path("dvc.yaml").exists(), reason="needs the project's graph")
def test_pretraining_holds_the_texts_of_what_was_retrieved():
    graph, parameters, costs = (yaml.safe_load(Path(name).read_text()) for name in ("dvc.yaml", "params.yaml", COSTS))
    scale = Path("scales/paper.yaml")
    list(merge(parameters, yaml.safe_load(scale.read_text()), scale))
    memory = {row.stage: row.memory for row in plan(graph, costs, parameters, cores=2)}
    texts = 47_000 * 100 * 600 / 1e9  # 100 passages a question, 600 bytes each; twice while they are joined
    for stage in ("kvqae-dpr_pretrain", "kvqae-rerank_pretrain", "kvqae-reader_pretrain"):
        assert memory[stage] == pytest.approx(6 + 2 * texts)


@pytest.mark.parametrize(
    "definition", [{"matrix": {"seed": "${toy.train.seeds}", "part": ["a", "b"]}}, {"foreach": list(range(6))}]
)
def test_cells_are_counted_and_share_no_memory(definition):
    cost = one({"disk": 2, "memory": 4}, definition)
    assert (cost.cells, cost.disk, cost.memory) == (6, 12, 4)


@pytest.mark.parametrize(("world", "disk"), [("sample", 10), ("hub", 1e6), ("local", 1e6)])
def test_quantities_are_the_worlds(world, disk):
    assert one({"disk": "rows"}, parameters={**PARAMETERS, "world": {"toy": world}}).disk == disk


def test_a_world_that_there_is_not_is_named_with_the_choices():
    with pytest.raises(BadInput, match=r"'world.toy': unknown source; got 'hubb' \(choices: sample, hub, local\)"):
        one({"disk": "rows"}, parameters={**PARAMETERS, "world": {"toy": "hubb"}})


def test_stage_without_row_is_shown_as_such():
    (cost,) = plan({"stages": {"other": {}}}, {"machine": MACHINE, "worlds": {}, "stages": {}}, {}, 1)
    assert not cost.known
    assert any(re.match(r"other\s+no estimate", line) for line in show([cost], 1, 1))


def test_total_and_lack_of_disk():
    lines = list(show([one({"disk": 30, "memory": 4}), one({"disk": 25, "memory": 8})], free=50, cores=2))
    assert re.search(r"total.* 55.0 GB +8 GiB", lines[-3])
    assert lines[-2] == "free on this disk: 50 GB, 5 GB too few"


@pytest.mark.parametrize(
    ("formula", "value"),
    [(3, 3), ("2 * (3 - 1) / 4", 1), ("2 ** 3", 8), ("min(a.b, known(a.c, 7))", 5), ("known(a.c, 7)", 7), ("sum(a.d) + len(a.d)", 9)],
)  # fmt: skip
def test_formulae(formula, value):
    assert evaluate(formula, {"a": {"b": 5, "c": None, "d": [1, 2, 3]}}, "x") == value


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("a.z", r"field 'x': unknown name in a formula; got 'a.z' \(choices: b\)"),
        ("q", "unknown name in a formula; got 'q'"),
        ("__import__('os')", "not a formula"),
        ("a.b if a else 1", "not a formula"),
        ("'text'", "not a formula"),
        ("1 +", "not a formula"),
    ],
)
def test_bad_formulae(formula, message):
    with pytest.raises(BadInput, match=message):
        evaluate(formula, {"a": {"b": 5}}, "x")


@pytest.mark.skipif(not Path("dvc.yaml").exists(), reason="needs the project's graph")
@pytest.mark.parametrize("scale", [None, *sorted(Path("scales").glob("*.yaml"))], ids=str)
def test_every_stage_of_the_graph_has_an_estimate_at_every_scale(scale):
    graph, parameters, costs = (yaml.safe_load(Path(name).read_text()) for name in ("dvc.yaml", "params.yaml", COSTS))
    if scale:
        list(merge(parameters, yaml.safe_load(scale.read_text()), scale))
    rows = list(plan(graph, costs, parameters, cores=2))
    assert [row.stage for row in rows if not row.known] == [], "add rows to trivium/commands/costs.yaml"
    if scale is None:
        assert sum(row.without for row in rows) < 1, "the sample is a matter of minutes"


@pytest.mark.skipif(not Path("dvc.yaml").exists(), reason="needs the project's graph")
def test_command_prints_a_table():
    done = subprocess.run([sys.executable, "-m", "trivium.commands.plan"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "kvqae-passages" in done.stdout
    assert "total" in done.stdout
