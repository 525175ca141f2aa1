"""Rounds of kills. A round starts from nothing, or from a built project where something is pushed or pulled; it kills a
command some times, runs it once more to its end without any help, and compares all that there is.
"""

import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from psutil import Process

from tests.kill import check, processes
from tests.kill.disk import Disk
from tests.kill.moments import wait_for_change
from tests.kill.plan import FULL_DISK, OF_REMOTES, Kill, Plan
from tests.kill.project import Project

GRACE = 10.0
"""Seconds after which nothing that a kill concerned may be there; what it waits for a busy processor does not count."""

KEPT = ("mlflow.db", "mlflow.db-journal", "mlflow.db.lock", "mlartifacts")
"""Of MLflow: runs of all rounds."""

HIT, MISSED, WENT_ON, REFUSED = "hit", "missed", "went on", "refused"


@dataclass
class Outcome:
    """What became of a round.

    Attributes:
        seed, way: of its plan.
        kills: the planned ones, with what came of each as `verdict`: it hit; it missed, as the command ended before its
            moment or nobody of the kind was there; or whom it hit went on, as DVC does after a SIGINT of its own.
            `faults` lists what is wrong: what a re-run refuses, or the comparison finds, with the last kill that hit.
        seconds: wall clock.
        per_round: kills that were planned; 0 in a row of older progress.
        disk: whether a disk could be filled; None in a row of older progress.
    """

    seed: int
    way: str
    kills: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0
    per_round: int = 0
    disk: bool | None = None

    @property
    def faults(self) -> list[str]:
        """Of all kills."""
        return [fault for kill in self.kills for fault in kill["faults"]]

    @property
    def hits(self) -> int:
        """Kills that came about."""
        return sum(kill["verdict"] != MISSED for kill in self.kills)


class Campaign:
    """Rounds in one folder.

    Args:
        project: to be killed; what is in its folder goes.
        template: a checkout in which nothing has run.
        disk: on which all of the project's files lie, if it can be filled.
        limit: seconds after which a run hangs.
    """

    def __init__(self, project: Project, template: Path, disk: Disk | None, limit: float) -> None:
        self.project, self.template, self.disk, self.limit = project, template, disk, limit
        self.built = template.with_name("built")
        self.seconds = 0.0
        self.reference: check.Reference

    def refer(self) -> check.Reference:
        """Run undisturbed in both ways; what is not the same is not compared later."""
        found = []
        for way in ("make repro", "dvc repro"):
            self.reset(self.template)
            started = time.monotonic()
            if wrong := self.finish(way):
                raise RuntimeError(f"an undisturbed run fails: {wrong}\n{self.project.log.read_text()}")
            self.seconds = time.monotonic() - started
            found.append(check.refer(self.project.folder))
        one, other = found
        self.reference = check.Reference(other.files, other.lock, other.cached, check.that_vary(one, other))
        shutil.rmtree(self.built, ignore_errors=True)
        shutil.copytree(self.project.folder, self.built, ignore=shutil.ignore_patterns(*KEPT, ".work"))
        return self.reference

    def reset(self, origin: Path) -> None:
        """Begin anew from a copy of a folder; MLflow's runs stay."""
        folder = self.project.folder
        folder.mkdir(exist_ok=True)
        for place in [*folder.iterdir(), *(folder / ".work").glob("*")]:
            if place.name not in (*KEPT, ".work"):
                _remove(place)
        for place in (self.project.state, self.project.remote, self.project.folder.parent / "tmp", self.project.log):
            _remove(place)
        shutil.copytree(origin, folder, dirs_exist_ok=True)

    def play(self, plan: Plan) -> Outcome:
        """One round."""
        started = time.monotonic()
        outcome = Outcome(plan.seed, plan.way, per_round=len(plan.kills), disk=self.disk is not None)
        self._prepare(plan.way)
        wrong: list[str] = []
        for number, kill in enumerate(plan.kills):
            verdict, faults = self.strike(plan.way, kill, random.Random(f"{plan.seed} {number}"))
            if verdict == REFUSED:
                verdict, wrong, faults = MISSED, faults, []
            outcome.kills.append({**asdict(kill), "verdict": verdict, "faults": faults})
            if wrong:
                break
        wrong = wrong or self.finish(plan.way) or self.compare(plan.way)
        hit = [kill for kill in outcome.kills if kill["verdict"] != MISSED]
        (hit or outcome.kills)[-1]["faults"] += wrong
        outcome.seconds = round(time.monotonic() - started, 1)
        return outcome

    def _prepare(self, way: str) -> None:
        self.reset(self.built if way in OF_REMOTES else self.template)
        if way == "dvc pull":
            folder = self.project.folder
            (folder / ".dvc" / "cache" / "files").rename(_made(self.project.remote) / "files")
            for path in self.reference.cached:
                _remove(folder / path)

    def strike(self, way: str, kill: Kill, rng: random.Random) -> tuple[str, list[str]]:
        """Start a command, kill it at its moment, and see what is left: (verdict, faults)."""
        command = self.project.start(way, kill.linger)
        watch = _Watch(Process(command.pid), command, self.project.folder)
        if not self._wait(kill, watch):
            return self._ended_before(command)
        if kill.signal == FULL_DISK:
            return self._fill(command, kill)
        victims: list[Process] = []
        while not victims:
            watch.freeze()
            victims = processes.choose(kill.victim, watch.top, watch.family, rng, kill.linger)
            if not victims:  # no stage is running, say: the next one will do
                processes.send(watch.family, signal.SIGCONT)
                if not watch.sleep(0.05):
                    return self._ended_before(command)
        doomed = set(processes.with_descendants(victims))
        processes.send(victims, signal.Signals[kill.signal])
        processes.send(watch.family, signal.SIGCONT)
        verdict, faults = self._see_them_end(kill, victims, doomed)
        return verdict, faults + self._see_it_end(command)

    def _wait(self, kill: Kill, watch: "_Watch") -> bool:
        """Whether the moment has come, before the command's end."""
        if kill.moment == "random":
            return watch.sleep(kill.at * self.seconds)
        if kill.moment == "orphan":
            while not any(processes.is_stage(process, kill.linger) for process in watch.family):
                if not watch.sleep(0.05) or not watch.goes_on():
                    return False
            return watch.sleep(1.0 + kill.at)
        return wait_for_change(self.project, kill.moment, kill.nth, watch.goes_on) and watch.sleep(kill.at)

    def _ended_before(self, command: "subprocess.Popen[bytes]") -> tuple[str, list[str]]:
        code = command.wait()
        return (REFUSED, [self._refusal(code)]) if code else (MISSED, self._leftovers())

    def _fill(self, command: "subprocess.Popen[bytes]", kill: Kill) -> tuple[str, list[str]]:
        assert self.disk is not None
        self.disk.fill(kill.spare)
        try:
            faults = self._see_it_end(command)
        finally:
            self.disk.empty()
        return (HIT if command.returncode else MISSED), faults

    def _see_them_end(self, kill: Kill, victims: Sequence[Process], doomed: set[Process]) -> tuple[str, list[str]]:
        """Whether those whom a kill concerned are gone in time."""
        left = _wait_until_gone(lambda: [process for process in doomed if processes.running(process)])
        if not left:
            return HIT, []
        if kill.signal == "SIGINT" and any(victim in left for victim in victims):
            return WENT_ON, []
        return HIT, self._orphans(left)

    def _see_it_end(self, command: "subprocess.Popen[bytes]") -> list[str]:
        """Wait for the command's end, whether it was killed or has something left to do; then nothing may be left."""
        try:
            command.wait(self.limit)
        except subprocess.TimeoutExpired:
            faults = [f"hung: after {self.limit:.0f} s"]
            processes.send(processes.marked(self.project.folder), signal.SIGKILL)
            command.wait()
            return faults
        return self._leftovers()

    def _leftovers(self) -> list[str]:
        return self._orphans(_wait_until_gone(lambda: processes.marked(self.project.folder)))

    def _orphans(self, left: Sequence[Process]) -> list[str]:
        """One fault for each that is left; they are ended, so that the round can go on."""
        faults = [f"orphan: {' '.join(processes.words(process))[:120]}" for process in left]
        processes.send(left, signal.SIGKILL)
        return faults

    def finish(self, way: str) -> list[str]:
        """Run the command to its end, as a person would who knows nothing of a kill; what is wrong with that."""
        command = self.project.start(way)
        faults = self._see_it_end(command)
        return [*faults, self._refusal(command.returncode)] if command.returncode else faults

    def _refusal(self, code: int) -> str:
        said = [line for line in self.project.log.read_text(errors="replace").splitlines() if line.strip()]
        errors = [line for line in said if line.startswith(("ERROR", "Traceback"))]
        return f"refused: a plain re-run ends with {code}: {(errors or said)[-1][:200]}"

    def compare(self, way: str) -> list[str]:
        """All that differs from the undisturbed run."""
        faults = check.faults(self.project.folder, self.reference)
        if way == "dvc push":
            remote = self.project.remote / "files" / "md5"
            faults += [
                *check.cache_faults(remote),
                *check.missing_from(remote, self.project.folder, self.reference),
            ]
        return faults

    def end(self) -> None:
        """End what is left."""
        processes.send(processes.marked(self.project.folder), signal.SIGKILL)


class _Watch:
    """A running command and its family, which is looked up a few times a second: that takes longer than a moment."""

    def __init__(self, top: Process, command: "subprocess.Popen[bytes]", folder: Path) -> None:
        self.top, self._command, self._folder = top, command, folder
        self.family: list[Process] = []
        self._looked = 0.0

    def goes_on(self) -> bool:
        if time.monotonic() - self._looked > 0.2:
            self.family = processes.marked(self._folder)
            self._looked = time.monotonic()
        return self._command.poll() is None

    def sleep(self, seconds: float) -> bool:
        """Whether the command goes on after so many seconds."""
        until = time.monotonic() + seconds
        while self.goes_on() and time.monotonic() < until:
            time.sleep(min(0.01, max(0.0, until - time.monotonic())))
        return self._command.poll() is None

    def freeze(self) -> None:
        """Stop all at once, then those that have come since the last look: nobody moves while a victim is chosen."""
        processes.send(self.family, signal.SIGSTOP)
        self.family = processes.marked(self._folder)
        processes.send(self.family, signal.SIGSTOP)


def _wait_until_gone(left: Callable[[], list[Process]], more: float = 0.0) -> list[Process]:
    """What is still there after the time of grace, and so many seconds more."""
    counted, looked, waited = 0.0, time.monotonic(), dict[Process, float]()
    while (those := left()) and counted < GRACE + more:
        time.sleep(0.05)
        before, waited = waited, {process: processes.waited(process) for process in those}
        starved = max(seconds - before.get(process, seconds) for process, seconds in waited.items())
        counted += max(0.0, time.monotonic() - looked - starved)
        looked = time.monotonic()
    return those


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _remove(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)
