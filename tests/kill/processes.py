"""The processes of a project, found by a mark in their environment, and those among them that a kill may choose."""

import os
import random
import signal
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import psutil
from psutil import Process

MARK = "TRIVIUM_KILL"
DVC_COMMANDS = {"repro", "run", "push", "pull"}


def marked(folder: Path) -> list[Process]:
    """All living processes that a command in the folder has started, whoever is their parent now."""
    mark = f"{MARK}={folder}".encode()
    found = []
    for process in psutil.process_iter():
        with suppress(OSError, psutil.Error):
            environment = Path(f"/proc/{process.pid}/environ").read_bytes()  # a zombie's is empty
            if mark in environment.split(b"\0"):
                found.append(process)
    return found


def words(process: Process) -> list[str]:
    """Its command line; nothing when it has ended."""
    with suppress(psutil.Error):
        return process.cmdline()
    return []


def is_dvc(process: Process) -> bool:
    """Whether it is DVC, plain or a lane of `make repro`."""
    line = words(process)
    named = any(Path(word).name == "dvc" or word.startswith("trivium.commands.") for word in line[1:3])
    return named and bool(DVC_COMMANDS & set(line[2:]))


def is_stage(process: Process, name: str = "") -> bool:
    """Whether it is a stage, or the one of that name, such as `kvqae-world`."""
    line = words(process)
    if line[1:2] != ["-m"] or not line[2].startswith("stages."):
        return False
    return not name or line[2].endswith(f".{name.partition('@')[0].replace('-', '.')}")  # headline lies in stages.page


def running(process: Process) -> bool:
    """Whether it has not ended; a zombie has."""
    with suppress(psutil.Error):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def waited(process: Process) -> float:
    """Seconds that it could have run and had no processor: of its thread that waited longest."""
    waits = [0]
    for thread in Path(f"/proc/{process.pid}/task").glob("*/schedstat"):
        with suppress(OSError):
            waits.append(int(thread.read_text().split()[1]))
    return max(waits) / 1e9


def choose(victim: str, top: Process, family: Iterable[Process], rng: random.Random, stage: str = "") -> list[Process]:
    """Whom a kill concerns; nobody when there is none of the kind now.

    Args:
        victim: `group`, the command and what shares its process group, as Ctrl-C at a terminal has it; `all`, as when
            the machine stops; `parent`, the command alone; `lanes`, the process of `make repro` that has started lanes;
            `child`, one DVC; `lane`, a lane with its group; `stage`, one stage alone.
        top: the command.
        family: all processes of the project.
        rng: chooses where there are several.
        stage: only the DVC that runs this one is meant.
    """
    family = list(family)

    def runs_it(process: Process) -> bool:
        return is_dvc(process) and (not stage or any(is_stage(each, stage) for each in with_descendants([process])))

    alone: dict[str, Callable[[Process], bool]] = {
        "parent": lambda process: process.pid == top.pid,
        "lanes": lambda process: "lanes" in words(process)[3:4],
        "child": runs_it,
        "stage": is_stage,
    }
    if victim == "all":
        return family
    if victim == "group":
        return [process for process in family if group(process) == top.pid]
    if victim == "lane":
        leaders = [process for process in family if runs_it(process) and group(process) == process.pid != top.pid]
        leader = rng.choice(leaders) if leaders else None
        return [process for process in family if leader and group(process) == leader.pid]
    candidates = [process for process in family if alone[victim](process)]
    return [rng.choice(candidates)] if candidates else []


def group(process: Process) -> int:
    """Its process group, 0 when it has ended."""
    with suppress(ProcessLookupError):
        return os.getpgid(process.pid)
    return 0


def send(processes: Iterable[Process], number: signal.Signals) -> None:
    """Send a signal to those that are still there."""
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.send_signal(number)


def with_descendants(processes: Iterable[Process]) -> set[Process]:
    """The processes and all that they have started, as far as it is still theirs."""
    found = set()
    for process in processes:
        found.add(process)
        with suppress(psutil.Error):
            found.update(process.children(recursive=True))
    return found
