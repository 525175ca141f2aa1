"""What the rehearsals of the downloading chains share: a checkout at a scale, and processes killed on the way."""

import os
import random
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from tests.end_to_end.conftest import ROOT, Project, copy_project
from tests.sources.loopback import Weather
from trivium.commands.scale import rescale


def checkout(folder: Path, scale: str, sizes: Path, pins: str) -> Project:
    """The working tree at a scale, but for sizes; what is downloaded comes from the addresses of these pins."""
    made = copy_project(folder, ROOT / "scales" / f"{scale}.yaml")
    rescale(made.folder / "params.yaml", sizes)
    (made.folder / "trivium" / "sources" / "pins.yaml").write_text(pins)
    return made


def kill_on_the_way(
    project: Project,
    stages: Sequence[str],
    environment: Mapping[str, str],
    weather: Weather,
    *,
    whole: int,
    kills: int,
    seed: int,
) -> None:
    """Run stages again and again, and kill all their processes at random moments: after so many bytes of the server's.

    Args:
        project: the checkout.
        stages: to run.
        environment: beside the project's.
        weather: of the server.
        whole: bytes that they download.
        kills: how often; one of them may come after the end.
        seed: of the moments.
    """
    hit = 0
    for number in range(kills):
        end = weather.sent + random.Random(seed + number).randrange(1, whole // kills)
        with subprocess.Popen(
            ["dvc", "repro", *stages],
            cwd=project.folder,
            env=project.environment(**environment),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:
            while process.poll() is None and weather.sent < end:
                time.sleep(0.005)
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                hit += 1
    assert hit >= kills - 1


def outputs(project: Project, stage: str) -> dict[str, str]:
    """DVC's digest of what a stage has written."""
    lock = yaml.safe_load((project.folder / "dvc.lock").read_text())
    return {out["path"]: out["md5"] for out in lock["stages"][stage]["outs"] if not out["path"].startswith("metrics/")}


def left_over(project: Project) -> list[Path]:
    """Files that downloads have left behind, but for their locks."""
    downloads = project.folder / ".work" / "downloads"
    return [path for path in downloads.rglob("*") if path.is_file() and path.suffix != ".lock"]
