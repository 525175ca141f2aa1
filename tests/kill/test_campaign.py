"""Twelve kills, and the null control: what is damaged on purpose is found, so that finding nothing means something."""

import argparse
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace

import pytest

from tests.kill import __main__ as main
from tests.kill import campaign as campaigns
from tests.kill import processes
from tests.kill.__main__ import LIMITS, go_on
from tests.kill.campaign import HIT, Campaign, Outcome
from tests.kill.check import CACHE, faults, that_vary
from tests.kill.plan import Kill, Plan
from tests.kill.processes import MARK
from tests.kill.progress import read_progress
from tests.kill.project import Project, make_project

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc"),
    pytest.mark.timeout(900),
]


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    base = tmp_path_factory.mktemp("kill")
    template = make_project("five", base / "template").folder
    made = Campaign(Project(base / "project"), template, None, LIMITS["five"])
    made.refer()
    yield made
    made.end()


@pytest.fixture
def built(campaign, tmp_path):
    """The project as an undisturbed run leaves it, to be damaged."""
    shutil.copytree(campaign.built, tmp_path / "project")
    assert faults(tmp_path / "project", campaign.reference) == []
    return tmp_path / "project"


def test_twelve_kills_leave_nothing_wrong(campaign, tmp_path):
    given = argparse.Namespace(
        project="five", disk=False, kills=12, seed=5, per_round=4, progress=tmp_path / "progress.jsonl"
    )
    outcomes = go_on(campaign, given)
    assert sum(outcome.hits for outcome in outcomes) >= 12
    assert [outcome.faults for outcome in outcomes if outcome.faults] == []
    assert list(read_progress(given.progress).values()) == outcomes


def test_two_undisturbed_runs_are_the_same_to_the_byte(campaign):
    assert campaign.reference.varying == frozenset()
    assert campaign.reference.cached == {
        "data/raw", "data/vectors.npy", "models/reader", "data/answers/minilm.parquet", "data/report",
        "metrics/complexity/curves/finetune.csv",
    }  # fmt: skip
    assert sum(file.startswith("data/raw/") for file in campaign.reference.files) == 90


def test_a_flipped_byte_in_a_folder_is_found(campaign, built):
    file = built / "data/report/rows/017.jsonl"
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    assert faults(built, campaign.reference) == ["different: data/report/rows/017.jsonl"]


def test_a_file_that_is_cut_missing_or_too_many_is_found(campaign, built):
    cut = built / "data/raw/0/000.json"
    cut.write_bytes(cut.read_bytes()[:-1])
    (built / "data/raw/1/001.json").unlink()
    (built / "data/raw/1/more.json").write_text("[]")
    assert faults(built, campaign.reference) == [
        "different: data/raw/0/000.json",
        "lost: data/raw/1/001.json",
        "half-written: data/raw/1/more.json is not in an undisturbed run",
    ]


def test_what_a_writer_left_is_found_in_a_folder_and_beside_it(campaign, built):
    (built / "data/.vectors.npy.0a1b2c3d.partial.npy").write_bytes(b"half")
    (built / "models/reader/.model.0a1b2c3d.partial").mkdir()
    assert faults(built, campaign.reference) == [
        "half-written: data/.vectors.npy.0a1b2c3d.partial.npy was left",
        "half-written: models/reader/.model.0a1b2c3d.partial was left",
    ]


@pytest.mark.parametrize("text", ["", "schema: '2.0'\nstages:\n  kvqae-world: {cmd: [\n"])
def test_a_broken_lock_has_lost_every_stage(campaign, built, text):
    (built / "dvc.lock").write_text(text)
    found = faults(built, campaign.reference)
    assert sum(fault.startswith("lost: dvc.lock has no stage") for fault in found) == 6


def test_a_lock_that_lost_a_stage_or_has_a_wrong_hash_is_found(campaign, built):
    kept, _, _ = (built / "dvc.lock").read_text().partition("  headline:\n")
    (built / "dvc.lock").write_text(kept.replace("size: ", "size: 1", 1))
    found = faults(built, campaign.reference)
    assert "lost: dvc.lock has no stage headline" in found
    assert any(fault.startswith("different: dvc.lock, stage ") for fault in found)


def test_damage_in_the_cache_is_found(campaign, built):
    digest = next(
        line.split()[-1] for line in (built / "dvc.lock").read_text().splitlines() if "md5: " in line and ".dir" in line
    )
    listing = built / CACHE / digest[:2] / digest[2:]
    listing.chmod(0o644)
    listing.write_bytes(listing.read_bytes() + b" ")
    found = faults(built, campaign.reference)
    assert [fault[: fault.index(" has")] for fault in found] == [f"half-written: md5/{digest[:2]}/{digest[2:]}"]
    listing.unlink()
    assert any(fault.startswith("lost: cache lacks 1 files of ") for fault in faults(built, campaign.reference))


def test_a_run_that_mlflow_has_lost_is_found(campaign, built):
    shutil.copy(campaign.project.folder / "mlflow.db", built)
    assert faults(built, campaign.reference) == []
    with closing(sqlite3.connect(built / "mlflow.db")) as database, database:
        changed = database.execute(
            "UPDATE runs SET status = 'RUNNING' WHERE run_uuid = (SELECT min(run_uuid) FROM tags WHERE key = ?)",
            ["mlflow.parentRunId"],
        )
        assert changed.rowcount == 1
    found = faults(built, campaign.reference)
    assert len(found) == 1
    assert found[0].startswith("lost: the end of MLflow's run of ")
    (built / "mlflow.db").write_bytes((built / "mlflow.db").read_bytes()[:-4096])
    assert any(fault.startswith("half-written: mlflow.db") for fault in faults(built, campaign.reference))


def test_what_varies_must_be_there_and_may_differ(campaign, built):
    other = replace(campaign.reference, files=campaign.reference.files | {"data/vectors.npy": "0"})
    assert that_vary(campaign.reference, other) == {"data/vectors.npy"}
    reference = replace(other, varying=frozenset({"data/vectors.npy"}))
    assert faults(built, reference) == []
    (built / "data/vectors.npy").unlink()
    assert faults(built, reference) == ["lost: data/vectors.npy"]


def test_a_process_that_is_left_is_found_and_ended(campaign, monkeypatch):
    monkeypatch.setattr(campaigns, "GRACE", 0.5)
    orphan = subprocess.Popen(["sleep", "60"], env={**os.environ, MARK: str(campaign.project.folder)})
    while orphan.pid not in {process.pid for process in processes.marked(campaign.project.folder)}:
        assert orphan.poll() is None
    assert campaign._leftovers() == ["orphan: sleep 60"]
    assert orphan.wait() < 0
    assert campaign._leftovers() == []


def test_a_process_that_waits_for_a_processor_has_more_time(campaign, monkeypatch):
    monkeypatch.setattr(campaigns, "GRACE", 0.5)
    monkeypatch.setattr(processes, "waited", lambda process: time.monotonic())
    orphan = subprocess.Popen(["sleep", "2"], env={**os.environ, MARK: str(campaign.project.folder)})
    while orphan.pid not in {process.pid for process in processes.marked(campaign.project.folder)}:
        assert orphan.poll() is None
    assert campaign._leftovers() == []
    assert orphan.wait() == 0


def test_what_a_process_has_waited_is_the_kernels_figure():
    with subprocess.Popen([sys.executable, "-c", "while True: pass"], preexec_fn=lambda: os.nice(19)) as busy:
        process = processes.Process(busy.pid)
        while processes.waited(process) == 0:
            assert busy.poll() is None
        busy.kill()
    assert processes.waited(process) == 0


def test_a_run_that_fails_after_a_kill_is_a_refusal(campaign, monkeypatch):
    """A stage that fails stands for anything that keeps a plain run from going on."""
    prepare = campaign._prepare

    def break_a_stage(way):
        prepare(way)
        (campaign.project.folder / "stages/kvqae/world.py").write_text("raise SystemExit('broken')\n")

    monkeypatch.setattr(campaign, "_prepare", break_a_stage)
    early = Kill(moment="random", at=0.0, nth=1, victim="group", signal="SIGKILL")
    outcome = campaign.play(Plan(0, "dvc repro", (early,)))
    assert [kill["verdict"] for kill in outcome.kills] == [HIT]
    assert "refused" in [fault.partition(":")[0] for fault in outcome.faults]


@pytest.mark.parametrize(
    ("row", "asked"),
    [({"per_round": 6, "disk": False}, (6, False)), ({"per_round": 6, "disk": True}, None), ({}, (3, False))],
)
def test_a_round_is_replayed_as_it_was_planned(tmp_path, monkeypatch, capsys, row, asked):
    """Here no disk can be mounted; a row of older progress says nothing."""
    played = []
    monkeypatch.setattr(main.signal, "signal", lambda *_: None)
    monkeypatch.setattr(main, "why_not", lambda folder: "no unshare")
    monkeypatch.setattr(main, "run", lambda given, base: played.append((given.per_round, given.disk)) or 0)
    file = tmp_path / "progress.jsonl"
    file.write_text(json.dumps({"commit": "abc", "seed": 7, "way": "dvc repro", "kills": [], "seconds": 1.0, **row}))
    command = ["--progress", str(file), "--per-round", "3", "--replay", "7"]
    if asked is None:
        with pytest.raises(SystemExit):
            main.main(command)
        assert "had a disk to fill, and none can be mounted here (no unshare)" in capsys.readouterr().err
    else:
        assert main.main(command) == 0
        assert played == [asked]


def test_rounds_that_are_done_are_not_done_again(campaign, tmp_path, monkeypatch):
    played = []

    def play(plan):
        played.append(plan.seed)
        return Outcome(plan.seed, plan.way, [{"verdict": HIT, "faults": []}] * 3)

    monkeypatch.setattr(campaign, "play", play)
    monkeypatch.setattr("tests.kill.__main__.describe", str)
    given = argparse.Namespace(
        project="five", disk=False, kills=6, seed=7, per_round=3, progress=tmp_path / "progress.jsonl"
    )
    go_on(campaign, given)
    given.progress.write_text(given.progress.read_text() + '{"seed": 9, "way"')  # the harness was killed
    given.kills = 12
    assert [outcome.seed for outcome in go_on(campaign, given)] == [7, 8, 9, 10]
    assert played == [7, 8, 9, 10]
