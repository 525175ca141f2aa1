"""kill -9 in the middle of any stage: nothing half-written is left, `dvc repro` goes on, and the result is the same."""

import hashlib
import os
import signal
import subprocess
import time
from pathlib import Path

import psutil
import pytest
import yaml

from tests.end_to_end.test_dvc_yaml import STAGES
from tests.end_to_end.test_graph import stages_run

pytestmark = pytest.mark.slow

# Lucene names its segments by chance: the index answers the same, its bytes differ.
BYTES_VARY = {"kvqae-bm25_index"}


def cells(lock: dict, stage: str) -> dict:
    """The entries of dvc.lock of a stage, all cells of its matrix."""
    return {name: entry for name, entry in lock["stages"].items() if name.split("@")[0] == stage}


def outputs(lock: dict) -> dict[str, str]:
    return {out["path"]: out["md5"] for entry in lock["stages"].values() for out in entry.get("outs", [])}


def start_and_kill(project, name: str, delay: float) -> None:
    """Start one stage by force; kill it and all its processes after `delay` seconds of its own, if it still runs."""
    command = ["dvc", "repro", "--force", "--single-item", name]
    process = subprocess.Popen(
        command,
        cwd=project.folder,
        env=project.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    parent = psutil.Process(process.pid)
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        running = [child for child in parent.children(recursive=True) if "-m" in child.cmdline()]
        if running:
            break
        time.sleep(0.02)
    time.sleep(delay)
    if process.poll() is None:
        for child in parent.children(recursive=True):
            child.kill()
        os.kill(process.pid, signal.SIGKILL)
    process.wait()


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("delay", [0.5, 4.0])
def test_kill(clone, stage, delay):
    before = yaml.safe_load((clone.folder / "dvc.lock").read_text())
    name = next(iter(cells(before, stage)))
    start_and_kill(clone, name, delay)
    # A file that stands at its target was renamed there, hence is complete: it is the file of the whole run.
    for path, md5 in outputs({"stages": {name: before["stages"][name]}}).items():
        if (clone.folder / path).is_file():
            assert hashlib.md5((clone.folder / path).read_bytes()).hexdigest() == md5
    (clone.folder / ".dvc" / "tmp" / "rwlock").unlink(missing_ok=True)
    # The shared cache knows the result already: force the stage to go on by itself from what the kill left.
    assert stages_run(clone.run("dvc", "repro", "--force", "--single-item", name)) == [name]
    clone.run("dvc", "repro")
    after = yaml.safe_load((clone.folder / "dvc.lock").read_text())
    if stage not in BYTES_VARY:
        assert outputs(after) == outputs(before)


def test_partial_files_are_removed_or_ignored(clone):
    """What a kill leaves beside a target is never taken for it."""
    target = clone.folder / "data/kvqae/kb"
    (target / ".passages.parquet.12345678.partial.parquet").write_bytes(b"half")
    assert stages_run(clone.run("dvc", "repro")) == []
    assert Path(target / "passages.parquet").exists()
