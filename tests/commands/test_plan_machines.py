import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from trivium.commands.costs.machines import SHARDS, TASKS, Hours, Machines, hours, mark_of, read_machines, show_machines
from trivium.commands.costs.row import MACHINE, Row
from trivium.core.errors import BadInput

CORES = Machines("20x16cores", 20, 16)
GPUS = Machines("8xA100", 8, 16, 125.0)


def test_names_of_machines():
    assert read_machines("20x16cores") == CORES
    assert read_machines("8xA100") == GPUS
    assert read_machines("1xH200").gpu == 400


@pytest.mark.parametrize("name", ["8xB900", "0x16cores", "16cores", "x", "8xA100x2", "1x0cores"])
def test_other_names_are_refused_with_the_choices(name):
    with pytest.raises(BadInput, match=r"no such machines.*1xA100.*20x16cores"):
        read_machines(name)


def test_hours_of_a_stage_that_works_by_shards_of_one_that_trains_and_of_any_other():
    row = Row(downloads=MACHINE.network_mb_a_second * 3.6, teraflop=125.0 * 3600 * 4, core_hours=32, gpu_processes=2)
    alone, tasks, shared = (hours("s", row, 2, GPUS, mark=mark) for mark in ("", TASKS, SHARDS))
    # Two cells: an hour of network each, 4 hours of one A100 each, 32 core hours each on 2 of its processes.
    assert (alone.network, alone.gpus, alone.cores) == (2, 8, 32)
    assert (tasks.network, tasks.gpus, tasks.cores, tasks.at_once) == (2, 4, 16, 2)
    assert (shared.network, shared.gpus, shared.cores) == (2, 1, 4)
    assert hours("s", row, 9, GPUS, mark=TASKS).at_once == 8
    on_cores = hours("s", Row(core_hours=32), 2, CORES, mark=TASKS)  # one core each
    assert (on_cores.cores, on_cores.limit(CORES)) == (32, "2 cores")
    assert hours("s", Row(core_hours=32), 2, Machines("1x16cores", 1, 16), mark=TASKS).cores == 4
    without = hours("s", row, 2, CORES, mark=SHARDS)
    flop = 2 * row.teraflop / (320 * MACHINE.core_teraflop_a_second) / 3600
    assert (without.gpus, without.cores) == (0, pytest.approx(64 / 320 + flop))


@pytest.mark.parametrize(
    ("stage", "machines", "said"),
    [
        (Hours("s", SHARDS, 8, 128, 2, 1, 1), GPUS, "network"),
        (Hours("s", SHARDS, 8, 128, 0, 2, 1), GPUS, "8 GPUs"),
        (Hours("s", TASKS, 3, 48, 0, 2, 1), GPUS, "3 GPUs"),
        (Hours("s", TASKS, 1, 16, 0, 2, 1), GPUS, "1 GPU of one machine"),
        (Hours("s", "", 1, 16, 0, 2, 1), GPUS, "1 GPU of one machine"),
        (Hours("s", "", 1, 16, 0, 2, 1), Machines("1xH200", 1, 16, 400.0), "1 GPU"),
        (Hours("s", SHARDS, 20, 320, 0, 0, 1), CORES, "320 cores"),
        (Hours("s", "", 1, 16, 0, 0, 1), CORES, "16 cores of one machine"),
        (Hours("s", "", 1, 16, 0, 0, 0.0005), CORES, ""),
    ],
)
def test_what_a_stage_waits_for(stage, machines, said):
    assert stage.limit(machines) == said


def test_the_slowest_stage_of_each_kind_of_machines_is_named():
    taken = [
        [Hours("a", SHARDS, 20, 320, 0, 0, 3), Hours("b", "", 1, 16, 0, 0, 1)],
        [Hours("a", SHARDS, 8, 128, 0, 0.5, 0), Hours("b", "", 1, 16, 0, 0, 1.5)],
    ]
    lines = list(show_machines([CORES, GPUS], taken, lambda value: f"{value:g} h"))
    assert lines[1].split() == ["a", "‖", "3", "h", "320", "cores", "0.5", "h", "8", "GPUs"]
    assert lines[3].split() == ["total", "4", "h", "2", "h"]
    assert lines[-2:] == [
        "First bottleneck on 20x16cores: a, 3 h, 75 % of all, limited by 320 cores.",
        "First bottleneck on 8xA100: b, 1.5 h, 75 % of all, limited by 16 cores of one machine.",
    ]


def test_stages_of_the_graph_that_use_many_machines():
    stages = yaml.safe_load(Path("dvc.yaml").read_text(encoding="utf-8"))["stages"]
    marks = {name: mark_of(definition, Path()) for name, definition in stages.items()}
    assert {name for name, mark in marks.items() if mark == SHARDS} == {
        "kvqae-world",
        "kvqae-base_models",
        "kvqae-sources",
        "kvqae-passages",
        "kvqae-bm25_search",
        "kvqae-bm25_triviaqa",
        "kvqae-kb_features",
        "kvqae-question_features",
        "kvqae-encode_texts",
        "kvqae-dense_search",
        "kvqae-rrt",
        "kvqae-local_features",
        "kvqae-rerank",
        "kvqae-read",
        "decorrelation-base_models",
        "decorrelation-phrases",
        "decorrelation-removals",
        "decorrelation-inpaint",
        "decorrelation-pairs",
        "decorrelation-retrieve",
        "decorrelation-entities",
        "complexity-score",
    }
    assert {name for name, mark in marks.items() if mark == TASKS} == {
        "kvqae-dpr_pretrain",
        "kvqae-dpr_finetune",
        "kvqae-rerank_pretrain",
        "kvqae-rerank_finetune",
        "kvqae-reader_pretrain",
        "kvqae-reader_finetune",
        "decorrelation-train",
        "complexity-frame_parser",
        "complexity-finetune",
        "complexity-answer",
    }


def test_a_module_that_only_speaks_of_the_engine_has_no_mark(tmp_path):
    modules = {
        "stages.a": "from lib.b import work\ndef main(context): work(1, context=context)",
        "stages.c": "from lib.b import work\ndef main(context): work(context.work)  # not the engine\nengine = 1",
        "stages.d": "def main(context):\n    from lib.e import go\n    return go(context)",
        "lib.b": "def work(one, context): return context.engine",
        "lib.e": "from trivium.core.tasks import run_task\ndef go(context): return run_task(context, go)",
    }
    for name, text in modules.items():
        file = tmp_path.joinpath(*name.split(".")).with_suffix(".py")
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    found = {name: mark_of({"cmd": f"python -m {name} --out x"}, tmp_path) for name in modules if "stages" in name}
    assert found == {"stages.a": SHARDS, "stages.c": "", "stages.d": TASKS}
    assert mark_of({"foreach": [1], "do": {"cmd": "python -m stages.a"}}, tmp_path) == SHARDS


def test_the_command_prints_hours_and_the_bottleneck():
    told = [
        sys.executable,
        "-m",
        "trivium",
        "plan",
        "--scale",
        "scales/paper.yaml",
        "--machines",
        "1xH200",
        "20x16cores",
    ]
    printed = subprocess.run(told, capture_output=True, text=True, check=True).stdout
    assert "kvqae-passages ‖" in printed
    assert "decorrelation-train ¦" in printed
    assert "First bottleneck on 1xH200: " in printed
    wrong = subprocess.run([*told[:-1], "many"], capture_output=True, text=True, check=False)
    assert (wrong.returncode, wrong.stdout) == (1, "")
    assert "no such machines" in wrong.stderr
