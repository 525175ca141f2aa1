"""Curves as a table: what is logged counts once, whatever a kill leaves, and long curves are made short by one rule."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from pydantic import Field
from torch.optim.lr_scheduler import ConstantLR

from trivium.core.curves import COLUMNS, Curves, thinned
from trivium.core.parameters import Parameters
from trivium.core.stage import Context, execute
from trivium.core.tables import read_csv
from trivium.nets.training import Validation, train

ROOT = Path(__file__).parents[2]
STEPS, EVERY = 23, 5  # of the training, and from a checkpoint to the next


@pytest.fixture
def curves(tmp_path):
    return Curves(tmp_path / "curves.jsonl")


def table(path):
    return [row for _, row in read_csv(path)]


def test_the_table_has_a_row_a_point_by_name_and_step(curves, tmp_path):
    curves.keep(2, {"loss": 0.1 + 0.2, "a": 1})
    curves.keep(1, {"loss": 3.0})
    curves.write(tmp_path / "m" / "curves.csv")
    assert table(tmp_path / "m" / "curves.csv") == [
        [*COLUMNS],
        ["a", "2", "1.0"],
        ["loss", "1", "3.0"],
        ["loss", "2", "0.30000000000000004"],
    ]


def test_values_that_are_not_finite_are_left_out(curves):
    curves.keep(1, {"loss": 1.0, "norm": float("inf")})
    curves.keep(2, {"loss": float("nan"), "norm": 2.0})
    assert curves.points() == {"loss": [(1, 1.0)], "norm": [(2, 2.0)]}


@pytest.mark.parametrize("length", range(40))
def test_a_line_that_is_cut_off_does_not_count(curves, length):
    """Wherever it was cut: what is logged after it stands in a line of its own."""
    curves.keep(1, {"loss": 1.0})
    whole = len(curves.file.read_bytes())
    curves.keep(2, {"loss": 2.0, "norm": 0.125})
    curves.file.write_bytes(curves.file.read_bytes()[: whole + length])
    curves.keep(3, {"loss": 3.0})
    read = curves.points()
    whole_line = length >= len('\n[2, {"loss": 2.0, "norm": 0.125}]')
    assert read["loss"] == [(1, 1.0), *([(2, 2.0)] if whole_line else []), (3, 3.0)]


@pytest.mark.parametrize(
    ("values", "most", "expected"),
    [
        ([], 2, []),
        ([1.0, 5.0], 2, [(1, 1.0), (2, 5.0)]),
        ([1.0, 5.0, 7.0], 2, [(2, (1.0 + 5.0) / 2), (3, 7.0)]),
        ([1.0, 2.0, 3.0, 4.0, 6.0], 2, [(3, (1.0 + 2.0 + 3.0) / 3), (5, (4.0 + 6.0) / 2)]),
    ],
)
def test_long_curves_are_means_of_neighbours(values, most, expected):
    assert thinned(list(enumerate(values, 1)), most) == expected


class ToyParameters(Parameters):
    seed: int = Field(ge=0, description="Of weights, inputs and dropout")


def main(parameters: ToyParameters, context: Context) -> dict[str, float]:
    """Train a network with dropout; the process kills itself in the middle of the line of step $STOP."""
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(), torch.nn.Linear(4, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)

    def gradient(step: int, together: int) -> tuple[float, dict[str, float]]:
        loss = model(torch.randn(together, 4)).square().mean()
        loss.backward()
        return loss.item(), {}

    def log(step: int, **values: float) -> None:
        if step == int(os.environ["STOP"]):
            with (context.work / "curves.jsonl").open("a") as lines:
                lines.write(f"\n[{step}, {{")
            os.kill(os.getpid(), signal.SIGKILL)
        context.tracker.log(step, **values)

    train(
        model,
        optimizer,
        ConstantLR(optimizer, factor=1.0),
        steps=STEPS,
        batches=lambda first: range(first, STEPS),
        gradient=gradient,
        together=4,
        unit="rows",
        max_gradient_norm=1.0,
        work=context.work,
        checkpoint_every=EVERY,
        log=log,
        validation=Validation(lambda: {"score": float(model[0].weight.sum())}, every=4),
    )
    return {}


ARGUMENTS = ["--curves", "m/curves.csv"]
STAGES = """
import os, sys
from pathlib import Path
from tests.core.test_curves import ARGUMENTS, ToyParameters, main
from trivium.core.stage import execute
for stop in sys.argv[1:]:  # torch is loaded once
    child = os.fork()
    if not child:
        os.environ["STOP"] = stop
        execute(main, "toy.train", ToyParameters, ARGUMENTS)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), Path("m").exists())
"""


def test_killed_and_resumed_leaves_the_table_of_an_undisturbed_training(tmp_path, monkeypatch):
    for name in ("undisturbed", "killed"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "params.yaml").write_text("toy: {train: {seed: 1}}")
    monkeypatch.chdir(tmp_path / "undisturbed")
    monkeypatch.setenv("STOP", "0")
    execute(main, "toy.train", ToyParameters, ARGUMENTS)
    environment = os.environ | {"PYTHONPATH": str(ROOT), "DVC_ROOT": str(tmp_path / "killed"), "OMP_NUM_THREADS": "1"}
    stops = map(str, (3, EVERY + 3, EVERY + 2, STEPS, 0))
    command = [sys.executable, "-c", STAGES, *stops]
    told = subprocess.run(
        command, cwd=tmp_path / "killed", env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    assert told.stdout.split() == [f"{-signal.SIGKILL}", "False"] * 4 + ["0", "True"]
    whole, resumed = ((tmp_path / name / "m" / "curves.csv").read_bytes() for name in ("undisturbed", "killed"))
    assert resumed == whole
