import json
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from pydantic import Field

from trivium.core import stage
from trivium.core.errors import BadInput
from trivium.core.parameters import Parameters
from trivium.core.stage import Context, execute, seed_everything
from trivium.core.tracking import Tracker

ROOT = Path(__file__).parents[2]
RUN = "import toy; toy.run_stage(toy.main)"


class CountParameters(Parameters):
    least: int = Field(ge=0, le=9, description="Shortest line that counts")


def main(
    parameters: CountParameters,
    context: Context,
    *,
    lines: Path,
    extra: list[Path] | None = None,
    local: str = "",
) -> dict[str, float]:
    """Count lines."""
    (context.work / "shard").write_text("done")
    main.work = context.work
    if extra:
        raise BadInput("stop", file=extra[0], row=3, field="text", got=1, expected="a string", choices=["a", "b"])
    return {"lines": float(sum(len(line) >= parameters.least for line in lines.read_text().splitlines()))}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "params.yaml").write_text("toy:\n  count: {least: 2}\n")
    (tmp_path / "in.txt").write_text("a\nbb\nccc\n")
    return tmp_path


def test_arguments_parameters_and_metrics(folder):
    metrics = execute(main, "toy.count", CountParameters, ["--lines", "in.txt", "--metrics", "m/count.json"])
    assert metrics == {"lines": 2.0}
    assert json.loads((folder / "m/count.json").read_text()) == {"lines": 2.0}
    assert not main.work.exists()


def test_a_failed_stage_keeps_its_work_and_finds_it_again(folder):
    arguments = ["--lines", "in.txt", "--extra", "in.txt"]
    with pytest.raises(BadInput, match=r"in.txt:3: field 'text': stop; got 1; expected a string \(choices: a, b\)"):
        execute(main, "toy.count", CountParameters, arguments)
    first = main.work
    assert (first / "shard").exists()
    with pytest.raises(BadInput):
        execute(main, "toy.count", CountParameters, arguments)
    assert main.work == first


@pytest.mark.parametrize(
    ("changed", "resumed"),
    [
        ("in.txt", False),
        ("params.yaml", False),
        ("mine/file", False),
        ("theirs/file", True),
    ],
)
def test_work_of_other_inputs_or_parameters_is_not_resumed(folder, changed, resumed):
    file = folder / changed
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    arguments = ["--lines", "in.txt", "--extra", "in.txt", "--local", "mine"]
    with pytest.raises(BadInput):
        execute(main, "toy.count", CountParameters, arguments)
    first = main.work
    file.write_text("toy:\n  count: {least: 3}\n")
    with pytest.raises(BadInput):
        execute(main, "toy.count", CountParameters, arguments)
    assert (main.work == first) == resumed


def test_work_of_other_code_is_not_resumed(folder, monkeypatch):
    arguments = ["--lines", "in.txt", "--extra", "in.txt"]
    works = []
    for digest in ("a", "b", "a"):
        monkeypatch.setattr(stage, "parts_of", lambda _, digest=digest: {"code": digest})
        with pytest.raises(BadInput):
            execute(main, "toy.count", CountParameters, arguments)
        works.append(main.work)
    assert works[0] == works[2] != works[1]


class OwnParameters(Parameters):
    own: Path = Field(description="A folder of the user's")


def test_a_folder_named_by_a_parameter_is_an_input(folder):
    works = []

    def fail(parameters: OwnParameters, context: Context) -> dict[str, float]:
        works.append(context.work)
        raise BadInput("stop")

    (folder / "params.yaml").write_text("toy: {count: {own: mine}}")
    (folder / "mine").mkdir()
    for text in ("one", "two"):
        (folder / "mine" / "file").write_text(text * len(works))
        with pytest.raises(BadInput):
            execute(fail, "toy.count", OwnParameters, [])
    assert works[0] != works[1]


def test_a_stage_whose_code_changed_publishes_nothing(folder, monkeypatch):
    """`running_digest` itself is tested in test_code.py; here: that both looks are taken."""
    looks = []

    def look(name):
        looks.append(name)
        return str(len(looks))

    monkeypatch.setenv("DVC_STAGE", "../dvc.yaml:toy-count@a")
    monkeypatch.setattr(stage, "running_digest", look)
    with pytest.raises(BadInput, match="the code was changed while the stage ran"):
        execute(main, "toy.count", CountParameters, ["--lines", "in.txt", "--metrics", "m.json"])
    assert looks == ["toy-count@a"] * 2
    assert not (folder / "m.json").exists()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ("toy: {count: {least: 10}}", r"toy.count.least: Input should be less than or equal to 9 \(got 10\)"),
        ("toy: {count: {leest: 1}}", r"toy.count.leest: Extra inputs are not permitted.*choices: least"),
        ("toy: {other: {}}", r"field 'toy.count': no such key \(choices: other\)"),
        (
            "toy: {count: {least: 1}}\nrun: {workres: 2}",
            "run.workres: Extra inputs.*choices: mlflow, portable, workers",
        ),
        ("toy: [", "not YAML"),
        ("- 1", "not a mapping"),
    ],
)
def test_bad_parameters_name_key_and_choices(folder, params, message):
    (folder / "params.yaml").write_text(params)
    with pytest.raises(BadInput, match=f"(?s){message}"):
        execute(main, "toy.count", CountParameters, ["--lines", "in.txt"])


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_metric_that_is_not_finite_is_named_and_fails_the_run(folder, monkeypatch, value):
    def diverging(parameters: CountParameters, context: Context, *, lines: Path) -> dict[str, float]:
        return {"good": 1.0, "loss": value}

    failures = []
    monkeypatch.setattr(Tracker, "__exit__", lambda tracker, kind, *_: failures.append(kind))
    with pytest.raises(BadInput, match="m.json: field 'loss': not a finite number; got (nan|inf)"):
        execute(diverging, "toy.count", CountParameters, ["--lines", "in.txt", "--metrics", "m.json"])
    assert failures == [BadInput]
    assert not (folder / "m.json").exists()


def test_missing_input_is_named(folder):
    with pytest.raises(BadInput, match="none.txt: no such file or folder"):
        execute(main, "toy.count", CountParameters, ["--lines", "none.txt"])


def test_a_module_of_a_stage_says_how_it_is_run():
    done = subprocess.run([sys.executable, "-m", "stages.kvqae.fuse"], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, "python -m stages kvqae.fuse" in done.stderr) == (1, True)


def test_the_command_ends_with_one_line_and_exit_code_1(folder):
    (folder / "toy.py").write_text(
        "from trivium.core.stage import *\nfrom pathlib import Path\nclass P(Parameters): pass\n"
        "@stage('toy')\n"
        "def main(parameters: P, context: Context, *, lines: Path) -> None:\n    raise BadInput('no good', file=lines)\n"
    )
    (folder / "params.yaml").write_text("toy: {}")
    done = subprocess.run(
        [sys.executable, "-c", RUN, "--lines", "in.txt"], capture_output=True, text=True, env={"PYTHONPATH": str(ROOT)}
    )
    assert (done.returncode, done.stderr) == (1, "toy: in.txt: no good\n")


@pytest.mark.parametrize(("seed", "of_numpy"), [(5, 5), (2**32 - 1, 2**32 - 1), (2**32 + 5, 5)])
def test_all_that_draws_is_seeded(seed, of_numpy):
    """NumPy takes no larger seed than 2³² − 1."""
    seed_everything(seed)
    assert random.random() == random.Random(seed).random()
    assert np.random.random() == np.random.RandomState(of_numpy).random()  # noqa: NPY002 - what libraries draw from
    assert torch.equal(torch.rand(3), torch.rand(3, generator=torch.Generator().manual_seed(seed)))


class SeedParameters(Parameters):
    seed: int = 0


class NoParameters(Parameters):
    pass


@pytest.mark.parametrize(
    ("said", "argv", "seed"),
    [("{seed: 7}", [], 7), ("{}", ["--seed", "8"], 8), ("{seed: 7}", ["--seed", "8"], 7), ("{}", [], 0)],
)
def test_a_stage_draws_from_the_seed_of_its_section_else_of_its_command(folder, said, argv, seed):
    def draw(parameters: SeedParameters, context: Context, *, seed: int = 0) -> dict[str, float]:
        return {"drawn": random.random()}

    (folder / "params.yaml").write_text(f"toy: {said}")
    assert execute(draw, "toy", SeedParameters, argv) == {"drawn": random.Random(seed).random()}


FULL_DISK = """
import errno, os
from pathlib import Path
from trivium.core.engine import LocalEngine
from trivium.core.stage import *
from trivium.core.atomic import *

class P(Parameters): pass

def fill(path):  # a worker's writer: half of the file, then no space
    with write_atomically(path) as beside:
        beside.write_text("half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(beside))

@stage("toy")
def main(parameters: P, context: Context, *, how: str, out: Path) -> None:
    if how == "worker":
        list(LocalEngine(2).map(fill, [out, out.parent / "shard"], description="fill"))
    with write_atomically(out) as beside:
        beside.mkdir()
        fill(beside / "part")
"""


@pytest.mark.parametrize("how", ["folder", "worker"])
def test_a_full_disk_ends_in_one_line_and_leaves_nothing_half_written(folder, how):
    (folder / "toy.py").write_text(FULL_DISK)
    (folder / "params.yaml").write_text("toy: {}")
    (folder / "out").mkdir()
    (folder / "out" / "old").write_text("complete")
    done = subprocess.run(
        [sys.executable, "-c", RUN, "--how", how, "--out", "out/old", "--metrics", "metrics.json"],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 1
    *bars, line = done.stderr.splitlines()  # a worker's progress bar comes before
    assert line.startswith("toy: out/old: disk full while writing")
    assert "Traceback" not in done.stderr
    assert how == "worker" or not bars
    assert [path.name for path in (folder / "out").iterdir()] == ["old"]
    assert (folder / "out" / "old").read_text() == "complete"
    assert not (folder / "metrics.json").exists()


@pytest.mark.parametrize(
    ("missing", "error"),
    [("ray", BadInput), ("a_need_of_ray", ModuleNotFoundError), ("trivium_x", ModuleNotFoundError)],
)
def test_without_ray_its_engine_says_how_to_get_it(folder, monkeypatch, missing, error):
    class Absent:
        def find_spec(self, name, *_):
            if name == "trivium.core.ray_engine":
                raise ModuleNotFoundError(f"No module named {missing!r}", name=missing)

    monkeypatch.delitem(sys.modules, "trivium.core.ray_engine", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Absent(), *sys.meta_path])
    (folder / "params.yaml").write_text("toy: {}\nrun: {engine: ray}")
    with pytest.raises(error, match="Ray is not installed|No module named"):
        execute(lambda parameters, context: None, "toy", NoParameters, [])
