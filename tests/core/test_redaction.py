"""A password in an address reaches nothing that is printed or kept, wherever such an address is used."""

import io
import logging
import os
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest
import yaml

from tests.prompting.loopback_endpoint import Loopback, failed
from tests.stages.complexity.test_prompt import MODEL
from trivium.complexity.prompting import PromptedModel
from trivium.core.errors import HIDDEN, BadInput, redact, redact_output
from trivium.core.parameters import validate
from trivium.core.tracking import connect, log_values
from trivium.prompting.endpoint import Endpoint, EndpointModel

ROOT = Path(__file__).parents[2]
PASSWORD = "Sesame7opens"
CLOSED = "127.0.0.1:9"  # nothing listens there


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"at http://me:{PASSWORD}@host:5000/api?x=1.", f"at http://{HIDDEN}@host:5000/api?x=1."),
        (f"https://{PASSWORD}@host/", f"https://{HIDDEN}@host/"),
        (f"'postgresql+psycopg2://me:{PASSWORD}/a?b#@host/db'", f"'postgresql+psycopg2://{HIDDEN}@host/db'"),
        (f"http://me:{PASSWORD}@x@host", f"http://{HIDDEN}@host"),
        (f"http://me:12/{PASSWORD}@host http://b", f"http://me:12/{PASSWORD}@host http://b"),  # a port and a path
        (f"mysql://host/db?user=me&password={PASSWORD}&x=1", f"mysql://host/db?user=me&password={HIDDEN}&x=1"),
        (f"mssql:///?odbc_connect=Server%3Dh%3BPWD%3D{PASSWORD}%3B", f"mssql:///?odbc_connect=Server%3Dh%3BPWD%3D{HIDDEN}%3B"),
        (f"https://s/f?X-Amz-Signature={PASSWORD}'", f"https://s/f?X-Amz-Signature={HIDDEN}'"),
        (f"a http://x:{PASSWORD}@h, b http://y:{PASSWORD}@h", f"a http://{HIDDEN}@h, b http://{HIDDEN}@h"),
    ],
    ids=count(),  # pytest puts a test's name into the environment
)  # fmt: skip
def test_what_an_address_gives_away_is_hidden(text, shown):
    assert redact(text) == shown


@pytest.mark.parametrize(
    "address", [f"http://me:{PASSWORD}@h", f"postgresql//me:{PASSWORD}@h", f"db://me:{PASSWORD}@x@h"]
)
def test_the_password_of_an_address_in_the_environment_is_hidden_alone(monkeypatch, address):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", address)
    assert PASSWORD not in redact(f"not a number: '{PASSWORD}'")
    assert PASSWORD not in redact(f"cannot parse '{address}'")


def test_bad_input_shows_no_password_even_where_it_is_cut():
    address = f"http://me:{PASSWORD * 12}@host/"
    error = BadInput(f"fails: {address}", file=address, field=address, got=address, expected=address, choices=[address])
    assert PASSWORD not in str(error)
    assert str(error).count(HIDDEN) == 6


def test_all_that_a_process_prints_is_redacted(monkeypatch):
    out, err = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    log = logging.getLogger("somebody's")
    monkeypatch.setattr(log, "handlers", [logging.StreamHandler(err)])
    redact_output()
    redact_output()
    print(f"http://me:{PASSWORD}@host")
    sys.stdout.writelines([f"http://me:{PASSWORD}@host\n"])
    log.warning("lost http://me:%s@host", PASSWORD)
    assert out.getvalue() == f"http://{HIDDEN}@host\n" * 2
    assert err.getvalue() == f"lost http://{HIDDEN}@host\n"
    assert isinstance(sys.stdout._stream, io.StringIO)  # not twice around


STAGE = """
import os, warnings
from pathlib import Path
from trivium.core.engine import LocalEngine
from trivium.core.stage import *

class P(Parameters): pass

def fail(number):
    print("worker prints", os.environ["MLFLOW_TRACKING_URI"], flush=True)
    raise RuntimeError(f"worker {number}: " + os.environ["MLFLOW_TRACKING_URI"])

@stage("kvqae.toy")
def main(parameters: P, context: Context, *, how: str) -> None:
    address = os.environ["MLFLOW_TRACKING_URI"]
    print(address)
    warnings.warn(address)
    if how == "worker":
        list(LocalEngine(2).map(fail, [1, 2], description="fail"))
    raise RuntimeError(address)
"""


def contents(folder: Path) -> str:
    return "\n".join(file.read_text("utf-8", "replace") for file in sorted(folder.rglob("*")) if file.is_file())


def ran(command: list[str], folder: Path, **environment: str) -> str:
    """What a process prints and what it leaves in its folder."""
    variables = os.environ | {"PYTHONPATH": str(ROOT), "DVC_ROOT": str(folder)} | environment
    done = subprocess.run([sys.executable, *command], cwd=folder, env=variables, capture_output=True, text=True)
    return done.stdout + done.stderr + contents(folder)


@pytest.mark.parametrize("how", ["here", "worker"])
def test_a_stage_that_fails_shows_and_keeps_no_password(tmp_path, how):
    (tmp_path / "toy.py").write_text(STAGE)
    (tmp_path / "params.yaml").write_text("run: {mlflow: true}\nkvqae: {toy: {}}\n")
    run = "import toy; toy.run_stage(toy.main)"
    said = ran(["-c", run, "--how", how], tmp_path, MLFLOW_TRACKING_URI=f"http://me:{PASSWORD}@{CLOSED}")
    assert (f"worker prints http://{HIDDEN}@{CLOSED}" in said) == (how == "worker")
    assert f"RuntimeError: {'worker 1: ' if how == 'worker' else ''}http://{HIDDEN}@{CLOSED}" in said
    assert PASSWORD not in said


def test_parameters_that_mlflow_gets_hold_no_password(tmp_path, monkeypatch):
    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    with connect() as client:
        run = client.create_run(client.create_experiment("toy")).info.run_id
    log_values(client, run, {"endpoint": f"http://me:{PASSWORD}@{CLOSED}/v1"}, [])
    assert client.get_run(run).data.params == {"endpoint": f"http://{HIDDEN}@{CLOSED}/v1"}


@pytest.mark.parametrize(
    "given", [f"http://me:{PASSWORD}@host/v1", f"http://host/v1?key={PASSWORD}", f"http://{PASSWORD}@host"]
)
def test_an_endpoint_with_a_password_is_refused_and_not_shown(given):
    with pytest.raises(BadInput, match=r"m.endpoint: .*without user, password or query") as error:
        validate(PromptedModel, MODEL | {"endpoint": given}, "m", Path("params.yaml"))
    assert PASSWORD not in str(error.value)


def test_nothing_of_an_endpoint_with_a_password_is_kept(tmp_path):
    section = {
        "seed": 0,
        "instruction": "Dis.",
        "models": {"tiny": MODEL | {"endpoint": f"http://me:{PASSWORD}@{CLOSED}"}},
    }
    file = tmp_path / "params.yaml"
    file.write_text(yaml.safe_dump({"run": {"mlflow": True}, "complexity": {"prompt": section}}))
    named = [f"--{name}={tmp_path / 'in'}" for name in ("train", "questions", "texts")]
    named += [
        f"--out-cache={tmp_path / 'cache'}",
        f"--out={tmp_path / 'out'}",
        f"--metrics={tmp_path / 'metrics.json'}",
    ]
    said = ran(["-m", "stages", "complexity.prompt", "--params", str(file), *named], tmp_path)
    assert "without user, password or query" in said
    assert said.replace(file.read_text(), "").count(PASSWORD) == 0


def test_what_an_endpoint_says_is_redacted():
    with Loopback(lambda number, payload: failed(401, f"no access to http://me:{PASSWORD}@inside/")) as server:
        model = EndpointModel(
            label="m", endpoint=server.address, model="m", requests_per_minute=1e6, parallel=1, timeout_s=5, retries=0,
            backoff_s=0.01, key_variable=None,
        )  # fmt: skip
        with pytest.raises(BadInput, match="no access") as error:
            Endpoint(model).ask([{"role": "user", "content": "?"}])
    assert PASSWORD not in str(error.value)
    closed = model.model_copy(update={"endpoint": f"http://me:{PASSWORD}@{CLOSED}"})
    with pytest.raises(BadInput, match="no connection") as error:
        Endpoint(closed).ask([{"role": "user", "content": "?"}])
    assert PASSWORD not in str(error.value)
