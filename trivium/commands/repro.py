"""`trivium repro [PIPELINE]`, `make repro`: run the graph with DVC, several stages at a time where there is no GPU.

Each process opens DVC's project once and reproduces single stages, as `dvc repro --single-item` does; DVC's own locks
keep them apart. A stage that fails stops only the stages that need it.
"""

import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Collection, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from pathlib import Path
from statistics import median

import networkx as nx
import psutil
from dvc.repo import Repo

from trivium.commands.healing import end_children, heal
from trivium.commands.selection import LAST, PIPELINES, progress_line, select
from trivium.core.code.digest import OWN_STAGE
from trivium.core.engine import count_cores, end_with_parent
from trivium.core.parameters import read_beside
from trivium.core.tracking import git

SECONDS: Mapping[str, float] = read_beside(__file__, "seconds.yaml")  # of the sample's stages, two at a time
BASELINE = "baseline"  # the experiment that keeps this machine's numbers
KEEP = f"`dvc exp save -n {BASELINE}`"
# Threads of several processes wait for each other; large pages, which glibc has, save networks a twentieth of the time.
SIDE_BY_SIDE = {"OMP_NUM_THREADS": "1", "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}

repo: Repo  # of a process that reproduces stages


def begin_worker() -> None:
    """Open the project; the process ends with its stage when its parent does."""
    global repo
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends all
    end_with_parent(end_children)
    repo = Repo(_wait_for_lock=True)
    repo.scm_context.quiet = True


def reproduce(stage: str, cores: int) -> str:
    """Reproduce one stage; returns why it failed, the last line that it printed, or an empty text."""
    os.environ["STAGE_WORKERS"] = str(cores)
    log, error, outputs = Path(".work") / f"{stage}.log", "", [(os.dup(output), output) for output in (1, 2)]
    with subprocess.Popen(["tee", log], stdin=subprocess.PIPE) as copying:
        assert copying.stdin is not None
        for _, output in outputs:
            os.dup2(copying.stdin.fileno(), output)
        try:
            repo.reproduce(stage, single_item=True)
        except Exception as failure:  # as DVC does
            error = str(failure.__cause__ or failure)
            print(f"stage '{stage}' failed: {error}", flush=True)
        finally:
            for kept, output in outputs:
                os.dup2(kept, output)
                os.close(kept)
    lines = [line.strip() for line in log.read_text("utf-8", "replace").splitlines()] if error else []
    log.unlink()
    own = [line for line in lines if line and not line.startswith((">", "Running stage '", "stage '", "failed to"))]
    return own[-1] if own else error


def run_stages(graph: nx.DiGraph, changed: Collection[str], workers: int, cores: int) -> dict[str, str]:
    """Run changed stages of a graph (see `read_graph`), and those that need them; the longest path to the end first.

    The `workers`, processes of which each runs a stage, share the cores. Sections of the page that need a stage that
    fails are removed. Returns why stages failed.
    """
    todo = set(changed).union(*(nx.ancestors(graph, stage) for stage in changed))
    total, seconds = len(todo), {stage: SECONDS.get(stage, median(SECONDS.values())) for stage in todo}
    length: dict[str, float] = {}  # seconds from the beginning of each stage to the end of the graph
    for stage in nx.topological_sort(graph):  # who needs a stage comes before it
        length[stage] = seconds.get(stage, 0.0) + max(map(length.__getitem__, graph.predecessors(stage)), default=0.0)
    failed: dict[str, str] = {}
    running: dict[Future[str], tuple[str, float]] = {}
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), begin_worker) as pool:
        try:
            while todo:
                waiting = todo.difference(stage for stage, _ in running.values())
                ready = [stage for stage in waiting if todo.isdisjoint(graph.successors(stage))]
                ready.sort(key=lambda stage: (length[stage], stage), reverse=True)
                share = max(1, cores // min(workers, len(ready) + len(running)))
                for stage in ready[: workers - len(running)]:
                    running[pool.submit(reproduce, stage, share)] = stage, time.monotonic()
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    stage, began = running.pop(future)
                    todo.remove(stage)
                    if error := future.result():
                        failed[stage] = error
                        for needing in nx.ancestors(graph, stage) - LAST:
                            todo.discard(needing)
                            for section in graph.nodes[needing]["sections"]:
                                section.unlink(missing_ok=True)
                    took, left = time.monotonic() - began, [seconds[stage] for stage in todo]
                    print(progress_line(stage, took, left, total, workers), flush=True)
        except BaseException:
            end_children()
            raise
    return failed


def options(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("pipeline", nargs="?", choices=PIPELINES, help="one pipeline (default: the graph)")


def count_workers() -> int:
    """How many stages run at a time on this machine; with a GPU one, which has all its memory."""
    if shutil.which("nvidia-smi") and subprocess.run(["nvidia-smi"], capture_output=True).returncode == 0:
        return 1
    for name, value in SIDE_BY_SIDE.items():
        os.environ.setdefault(name, value)
    return min(count_cores(), max(2, psutil.virtual_memory().total // 2**32))  # 4 GiB for each beyond the second


def run(arguments: Namespace) -> None:
    """Run one pipeline or all, and list at the end what has failed."""
    os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))  # stages' `python`
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, lambda number, _: sys.exit(128 + number))
    with Repo() as project:
        with project.lock:
            heal(project)
        graph = select(project, arguments.pipeline or "")
        changed = set(project.status()) & set(graph)
    if not changed - {OWN_STAGE}:
        print("Data and pipelines are up to date.")
        return
    Path(".work").mkdir(exist_ok=True)
    failed = run_stages(graph, changed, count_workers(), count_cores())
    if failed:
        missing = {stage: sorted(failed.keys() & nx.descendants(graph, stage)) for stage in graph if stage not in LAST}
        lines = ["", "These stages failed:", *(f"  {stage}: {why}" for stage, why in failed.items())]
        needing = [f"  {stage} (needs {', '.join(causes)})" for stage, causes in missing.items() if causes]
        lines += ["These did not run, because they need one of them:", *needing] if needing else []
        raise SystemExit("\n".join([*lines, "Everything else is done; `make repro` goes on from it."]))
    commit = git("rev-parse", "HEAD")
    kept = git("rev-parse", "-q", "--verify", f"refs/exps/{commit[:2]}/{commit[2:]}/{BASELINE}")
    if "headline" in graph and not arguments.pipeline and not kept:
        print(f"{KEEP} keeps these numbers, to compare with and to go back to (`dvc exp apply {BASELINE}`).")
