"""`trivium lanes [PIPELINE]`, `make repro`: run the graph, without a GPU with stages side by side.

Nothing starts where nothing has changed. Without a GPU there are as many lanes as cores, fewer where memory is short. A
lane that is free gets the stage that has the longest way to the end of those whose needs are met, see `stage_queue`.
One thread each: threads of several processes wait for each other ten times as long as they work, and what is trained
depends on how many there are. Processes of a stage that works by shards follow the cores that are idle when it starts,
and one that has a shorter way than another that runs yields to it. A GPU's memory is for one stage at a time, and so it
has one lane, in which the first table comes first.

A lane is one DVC, which is opened once: that takes seconds. It runs stages by name (`--single-item`), so that DVC,
which locks what a stage reads and writes also while it only looks whether anything changed, looks at no other.

A stage that fails stops only what needs it. The rest runs, the page shows the sections that could be made, and at the
end stands what failed, why, and what did not run. A lane that is killed takes its stage with it, which has failed then;
the other lanes go on. Where the questions are real, their construction, which asks Wikimedia for hours, runs only when
it is asked for by name.
"""

import argparse
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

import networkx as nx
import psutil
from dvc.lock import LockError
from dvc.repo import Repo

from trivium.commands.in_dvc.parent import ENDS_WITH
from trivium.commands.in_dvc.warm_stages import has_gpu
from trivium.commands.lane import PIPE, Went
from trivium.commands.stage_queue import SHELL, StageQueue, expected, keep_seconds, left_out, lengths, read_seconds
from trivium.core.code.digest import code_root
from trivium.core.code.pipeline import OWN_STAGE, write_code
from trivium.core.errors import BadInput
from trivium.core.parameters import read_parameters
from trivium.page.contents import ARTICLES, OTHER_PIPELINES, stage_of

DVC = (sys.executable, "-m", "trivium.commands.lane")
PARTS = Path("metrics/report/parts")  # of the page
CONSTRUCTION = stage_of("kvqae", "construction")  # the end of that pipeline
PIPELINES = ("", "kvqae", "construction", "decorrelation", "complexity")
ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
MEMORY = 4  # GiB for each lane beyond the second
GOES_ON = "`make repro` goes on from what is done"


@dataclass
class Lane:
    """A process that runs one stage after the other.

    Attributes:
        process: DVC, leader of a process group.
        printing: what shows its output, and writes it to `output`.
        pipe: to hand it stages.
        there: whether it has said that it waits for a stage.
        stage: at which it is.
        cores: that this stage may use.
        failed: what DVC said of those that failed, by stage.
    """

    process: "subprocess.Popen[bytes]"
    printing: "subprocess.Popen[bytes]"
    pipe: Connection
    output: IO[bytes]
    there: bool = False
    stage: str | None = None
    cores: int = 0
    failed: dict[str, str] = field(default_factory=dict)


def ordered(graph: nx.DiGraph) -> list[str]:
    """The stages, each after what it needs, those of one section of the page after the other, and the page last.

    So the first table stands before anything runs, or is downloaded, that only later ones need.

    Args:
        graph: of stages' names; edges lead to what a stage needs.
    """
    any_order = list(nx.topological_sort(graph.reverse()))
    parts = [(name, part) for name, article in ARTICLES.items() for part in article.parts]
    sections = [stage_of(*part) for part in sorted(parts, key=OTHER_PIPELINES.__contains__)]
    found: dict[str, None] = {}
    for section in (section for section in sections if section in graph):
        wanted = nx.descendants(graph, section) | {section}
        found |= dict.fromkeys(stage for stage in any_order if stage in wanted)
    found |= dict.fromkeys(stage for stage in any_order if stage != SHELL)
    return [*found, *({SHELL} & set(graph))]


@contextmanager
def undisturbed() -> Iterator[None]:
    """Hold interruptions back until the end of the block: what is started and not yet known, nobody would end."""
    held: list[int] = []
    handlers = {ending: signal.signal(ending, lambda number, _: held.append(number)) for ending in ENDINGS}
    try:
        yield
    finally:
        for ending, handler in handlers.items():
            signal.signal(ending, handler)
        for number in held:
            signal.raise_signal(number)


@contextmanager
def heard() -> Iterator[socket.socket]:
    """What can be read when a signal has come.

    A thread of a library may take a signal, as after the process was stopped; then it interrupts no wait of this one,
    and its handler would run only when that ends.
    """
    hears, says = socket.socketpair()
    with hears, says:
        says.setblocking(False)
        before = signal.set_wakeup_fd(says.fileno(), warn_on_full_buffer=False)
        try:
            yield hears
        finally:
            signal.set_wakeup_fd(before)


def run(graph: nx.DiGraph, priority: Mapping[str, float], lanes: int, cores: int | None) -> dict[str, str]:
    """Run all stages of a graph, but those that need one that fails; why those failed that did.

    An interruption ends all.

    Args:
        graph: of stages' names; edges lead to what a stage needs.
        priority: of each stage; the highest that may start comes first.
        lanes: at most so many stages run side by side.
        cores: that stages share; None: each takes what it takes by itself.

    Raises:
        SystemExit: no lane is left, or DVC itself failed.
    """
    queue = StageQueue(graph, priority)
    took: dict[str, float] = {}
    started: list[Lane] = []
    with ExitStack() as files, heard() as signals:
        try:
            with undisturbed():
                names = [f"[{number}] " if lanes > 1 else "" for number in range(1, lanes + 1)]
                started.extend(start(list(graph), name, files.enter_context(TemporaryFile())) for name in names)
            running = list(started)
            while queue or any(lane.stage for lane in running):
                hand_out(queue, running, priority, cores)
                speak = wait([signals, *(lane.pipe for lane in running)])
                if signals in speak:
                    signals.recv(1)  # its handler has run, or runs now
                for lane in [lane for lane in running if lane.pipe in speak]:
                    if not listen(lane, queue, took):
                        running.remove(lane)
                if queue and not running:
                    raise SystemExit(f"every lane was killed; {GOES_ON}")
            for lane in running:
                lane.pipe.close()
                if lane.process.wait() and not queue.failed:
                    raise SystemExit(f"DVC ended with {lane.process.returncode}, see above; {GOES_ON}")
            for lane in started:
                lane.printing.wait()
        finally:
            for lane in started:
                lane.pipe.close()
                if lane.process.poll() is None:
                    os.killpg(lane.process.pid, signal.SIGTERM)
            keep_seconds(Path(), took)
        return queue.failed | {name: why for lane in started for name, why in reasons(lane).items()}


def start(stages: Sequence[str], name: str, output: IO[bytes]) -> Lane:
    """Start a lane.

    Args:
        stages: that it may be handed.
        name: before each line that it prints; without one they are shown as they are.
        output: where all of it is kept.
    """
    pipe, its_end = Pipe()
    with its_end:
        process = subprocess.Popen(
            [*DVC, "--wait-for-lock", "repro", "--single-item", "--keep-going", *stages],
            env=os.environ | {ENDS_WITH: str(os.getpid()), PIPE: str(its_end.fileno())},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            process_group=0,
            pass_fds=[its_end.fileno()],
        )
    kept = f"/dev/fd/{output.fileno()}"
    show = ["sed", "-u", "-e", f"w {kept}", "-e", f"s/^/{name}/"] if name else ["tee", kept]
    printing = subprocess.Popen(show, stdin=process.stdout, process_group=0, pass_fds=[output.fileno()])
    return Lane(process, printing, pipe, output)


def hand_out(queue: StageQueue, lanes: Sequence[Lane], priority: Mapping[str, float], cores: int | None) -> None:
    """Give each lane that is there and free the next stage, as long as one may start."""
    for lane in (lane for lane in lanes if lane.there and not lane.stage):
        ready = len(queue.ready())
        lane.stage = queue.take()
        if lane.stage is None:
            return
        environment = {}
        if cores is not None:
            at_work = [other for other in lanes if other.stage and other is not lane]
            takers = min(ready, len(lanes) - len(at_work))
            lane.cores = max(1, (cores - sum(other.cores for other in at_work)) // takers)
            before = sum(priority[other.stage] > priority[lane.stage] for other in at_work if other.stage)
            environment = {"STAGE_WORKERS": str(lane.cores), "STAGE_NICENESS": str(3 * before)}
        with suppress(ConnectionError):  # it was killed: that is heard next
            lane.pipe.send((lane.stage, environment))


def listen(lane: Lane, queue: StageQueue, took: dict[str, float]) -> bool:
    """Take in what a lane says; whether it is still there.

    Raises:
        SystemExit: DVC ended before it was handed anything.
    """
    try:
        said: Went | None = lane.pipe.recv()
    except (EOFError, ConnectionError):
        code = lane.process.wait()
        with suppress(ProcessLookupError, PermissionError):  # what it has left
            os.killpg(lane.process.pid, signal.SIGTERM)
        if not lane.there:
            raise SystemExit(f"DVC ended with {code}, see above; {GOES_ON}") from None
        ended = f"a lane was killed by signal {-code}" if code < 0 else f"the lane's DVC ended with {code}"
        print(f"{ended}; the others go on", file=sys.stderr)
        if lane.stage is not None:
            remove_parts({lane.stage} | queue.fail(lane.stage, f"{ended} while it ran"))
        return False
    lane.there, stage, lane.stage = True, lane.stage, None
    if stage is None or said is None:
        return True
    seconds, error = said
    if error is not None:
        lane.failed[stage] = error
        remove_parts({stage} | queue.fail(stage, error))
    else:
        queue.done(stage)
        if seconds is not None:
            took[stage] = seconds
    return True


def reasons(lane: Lane) -> dict[str, str]:
    """Why stages of a lane failed: the last line that each printed, else what DVC says."""
    lane.output.seek(0)
    printed = lane.output.read().decode("utf-8", "replace")
    found = {}
    for stage, error in lane.failed.items():
        _, ran, rest = printed.partition(f"Running stage '{stage}':\n")
        own = rest.partition(f"stage '{stage}' failed: ")[0].replace("\r", "\n").splitlines()[:-1] if ran else []
        said = [text.strip() for text in own if text.strip() and not text.startswith("> ")]
        found[stage] = said[-1] if said else error.splitlines()[-1]
    return found


def remove_parts(stages: Collection[str]) -> bool:
    """Take from the page what these stages made, an earlier run's; whether there was anything."""
    found = [file for file in PARTS.glob("*/*.json") if stage_of(file.parent.name, file.stem) in stages]
    members = {
        f"{stage_of(file.parents[1].name, file.parent.name)}@{file.stem}": file for file in PARTS.glob("*/*/*.json")
    }
    found += [file for stage, file in members.items() if stage in stages]
    for file in found:
        file.unlink()
    return bool(found)


def room() -> tuple[int, int]:
    """How many lanes this machine has room for, and its cores."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, max(2, psutil.virtual_memory().total // (MEMORY * 2**30))), cores


def apart(graph: nx.DiGraph) -> set[str]:
    """The stages that only the construction's section of the page needs."""
    if CONSTRUCTION not in graph:
        return set()
    own = nx.descendants(graph, CONSTRUCTION) | {CONSTRUCTION}
    return {stage for stage in own if nx.ancestors(graph, stage) <= own | {SHELL}}


def needed(graph: nx.DiGraph, pipeline: str, *, without: set[str]) -> set[str]:
    """The stages of a pipeline and all that they need, the headline and the page; all of the graph for none.

    Args:
        graph: of stages' names; edges lead to what a stage needs.
        pipeline: one of `PIPELINES`.
        without: stages that only another pipeline needs.
    """
    if pipeline == "construction":
        own = {CONSTRUCTION} & set(graph)
    else:
        own = {stage for stage in graph if stage.startswith(f"{pipeline}-" if pipeline else "")} - without
    own -= {SHELL}  # it needs every section, and does with those that there are
    return own.union(*(nx.descendants(graph, stage) for stage in own), {"headline", SHELL} & set(graph))


def parser() -> argparse.ArgumentParser:
    """What the command takes."""
    made = argparse.ArgumentParser(
        prog="trivium lanes",
        description="Run the graph, or one pipeline and what it needs. Without a GPU several stages run at the same "
        "time. A stage that fails stops only the stages that need it; at the end you see what failed and why.",
        epilog="More about the order of stages: docs/using.md.",
    )
    made.add_argument("pipeline", nargs="?", default="", choices=PIPELINES, help="one pipeline (default: the graph)")
    return made


def main(argv: Sequence[str] | None = None) -> None:
    """Run one pipeline, or all; what fails is told at the end."""
    pipeline = parser().parse_args(argv).pipeline
    for ending in ENDINGS[1:]:  # lanes are groups of their own: no terminal ends them
        signal.signal(ending, lambda number, _: sys.exit(128 + number))
    with Repo() as repo:
        graph = nx.relabel_nodes(repo.index.graph, lambda stage: stage.addressing)
        if OWN_STAGE in graph:
            try:
                write_code(Path(), code_root())
            except BadInput as error:
                print(f"code: {error}", file=sys.stderr)
                raise SystemExit(1) from None
        try:
            changed = set(repo.status()) - {OWN_STAGE}
        except LockError as error:  # another DVC is at work here
            print(error, file=sys.stderr)
            raise SystemExit(1) from None
    without = set() if pipeline == "construction" or (not pipeline and invented()) else apart(graph)
    if CONSTRUCTION in without & changed and not invented() and remove_parts({CONSTRUCTION}):  # of another world
        changed.add(SHELL)
    graph = graph.subgraph(needed(graph, pipeline, without=without)).copy()
    if not changed & set(graph):
        print("Data and pipelines are up to date.")
        return
    if has_gpu():
        order = ordered(graph)
        failed = run(graph, {stage: -place for place, stage in enumerate(order)}, 1, None)
    else:
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        may_run = (changed & set(graph)).union(*(nx.ancestors(graph, stage) for stage in changed & set(graph)))
        seconds = expected(may_run, read_seconds(Path())) | dict.fromkeys(set(graph) - may_run, 0.0)
        failed = run(graph, lengths(graph, seconds), *room())
    if not pipeline and without & changed:
        print(f"The construction was left out: `make repro P={OTHER_PIPELINES['kvqae', 'construction']}` runs it.")
    if failed:
        print(summary(graph, failed), file=sys.stderr)
        raise SystemExit(1)


def invented() -> bool:
    """Whether the questions are the sample's, whose construction costs minutes."""
    world = read_parameters(Path("params.yaml")).get("world") if Path("params.yaml").exists() else None
    return not isinstance(world, dict) or world.get("kvqae", "sample") == "sample"


def summary(graph: nx.DiGraph, failed: Mapping[str, str]) -> str:
    """What failed, why, and what did not run because of it."""
    lines = ["", "These stages failed:", *(f"  {stage}: {why}" for stage, why in failed.items())]
    waiting = {stage: causes for stage, causes in left_out(graph, failed).items() if causes}
    if waiting:
        lines += ["These did not run, because they need one of them:"]
        lines += [f"  {stage} (needs {', '.join(causes)})" for stage, causes in waiting.items()]
    return "\n".join([*lines, "Everything else is done; `make repro` goes on from it."])


if __name__ == "__main__":
    main()
