"""`trivium lanes [PIPELINE]`, `make repro`: run the graph, without a GPU with stages side by side.

Nothing starts where nothing has changed. Much of each pipeline keeps one core busy, so that three lanes for all of
them, or two for one, end earlier; a GPU's memory is for one stage at a time. Lanes come longest first, and later lanes
run at lower priority: all are to end at about the same time. DVC locks what a stage reads and writes, also while it
only looks whether anything changed; so the lanes get their stages by name and in order (`--single-item`), no stage is
in two lanes, and the digests of the code are written before any of them starts.
One thread each: threads of several processes wait for each other ten times as long as they work, and what is trained
depends on how many there are. One process each, too: every other would load its libraries once more. What fails here,
and what is left, the `dvc repro` that follows shows and runs.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path

import networkx as nx
from dvc.repo import Repo

from trivium.commands.in_dvc.parent import ENDS_WITH
from trivium.errors import BadInput
from trivium.harness.code.command import OWN_STAGE, write_code
from trivium.harness.code.digest import code_root

DVC = (sys.executable, "-m", "dvc")
ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
Lane = Sequence[str]
# By pipeline its steps, by step its lanes, by lane what it is to bring about; a step waits for the one before.
STEPS: dict[str, Sequence[Sequence[Lane]]] = {
    "": [[["kvqae-*"], ["decorrelation-evaluate"], ["complexity-*"]]],
    "kvqae": [
        [["kvqae-published_checkpoints@*", "kvqae-rerank_base"], ["kvqae-training_pairs@*", "kvqae-rebuild"]],
        [["kvqae-fuse", "kvqae-relevance"], ["kvqae-rerank_pretrain", "kvqae-reader_pretrain"]],
        [["kvqae-rerank_fuse"], ["kvqae-reader_finetune@*", "kvqae-evaluate", "kvqae-lexical_overlap"]],
    ],
    "decorrelation": [
        [["decorrelation-base_models"], ["decorrelation-removals@*", "kvqae-passages"]],
        [["decorrelation-pairs@coco_*"], ["decorrelation-pairs@flickr30k_*", "decorrelation-pairs@control_*"]],
        [
            [f"decorrelation-retrieve@{data}_clip_*" for data in ("coco", "flickr30k", "control")],
            ["decorrelation-retrieve@*", "kvqae-image_search"],
        ],
    ],
    "complexity": [
        [["complexity-base_models"]],
        [
            ["complexity-simulate", *(f"complexity-answer@{model}-*" for model in ("minilm", "t5"))],
            ["complexity-answer@*", "complexity-prompt"],
        ],
    ],
}


def plan(graph: nx.DiGraph, steps: Sequence[Sequence[Lane]]) -> list[list[list[str]]]:
    """The stages of every lane, each once, after what it needs.

    Args:
        graph: of stages' names; edges lead to what a stage needs.
        steps: see `STEPS`; a stage that several lanes of a step ask for by name is the first one's, and what several
            lanes need comes in a step of its own before.
    """
    order = list(nx.topological_sort(graph.reverse()))
    done: set[str] = set()
    planned = []
    for step in steps:
        asked: list[set[str]] = []
        for lane in step:
            named = {stage for stage in order if any(fnmatch(stage, target) for target in lane)}
            asked.append(named - done.union(*asked))
        needed = [each.union(*(nx.descendants(graph, stage) for stage in each)) - done for each in asked]
        shared = {stage for stage in order if sum(stage in each for each in needed) > 1}
        for stages in ([shared], [each - shared for each in needed]):
            lanes = [[stage for stage in order if stage in each] for each in stages if each]
            if lanes:
                planned.append(lanes)
        done = done.union(*needed)
    return planned


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


def run(lanes: Sequence[Lane]) -> bool:
    """Run the stages of each lane in order, the lanes side by side; whether all succeeded. An interruption ends all.

    Raises:
        SystemExit: a lane was killed; the others were ended.
    """
    workers = {"STAGE_WORKERS": "1"} if len(lanes) > 1 else {}
    running: list[subprocess.Popen[bytes]] = []
    printing: list[subprocess.Popen[bytes]] = []
    try:
        with undisturbed():
            for place, stages in enumerate(lanes):
                lane = subprocess.Popen(
                    [*DVC, "--wait-for-lock", "repro", "--single-item", *stages],
                    env=os.environ | workers | {"STAGE_NICENESS": str(3 * place), ENDS_WITH: str(os.getpid())},
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    process_group=0,
                )
                running.append(lane)
                name = f"{stages[-1].split('-')[0]} {place + 1}"
                printing.append(subprocess.Popen(["sed", "-u", f"s/^/[{name}] /"], stdin=lane.stdout, process_group=0))
        while any(process.poll() is None for process in (*running, *printing)):
            if any((lane.returncode or 0) < 0 for lane in running):
                raise SystemExit("a lane was killed, so all end; `make repro` goes on from what is done")
            time.sleep(0.1)
        return not any(process.returncode for process in (*running, *printing))
    finally:
        for lane in running:
            if lane.poll() is None:
                os.killpg(lane.pid, signal.SIGTERM)


def has_gpu() -> bool:
    """Whether NVIDIA's driver answers."""
    return (
        shutil.which("nvidia-smi") is not None and subprocess.run(["nvidia-smi"], capture_output=True).returncode == 0
    )


def finish(pipeline: str) -> int:
    """Let DVC run what is left, and the page; its exit code."""
    if not pipeline:
        return dvc_repro()
    return dvc_repro("--glob", f"{pipeline}-*") or dvc_repro("--single-item", "headline", "report")


def dvc_repro(*arguments: str) -> int:
    """Run `dvc repro`, which ends with this process; its exit code."""
    return subprocess.run([*DVC, "repro", *arguments], env=os.environ | {ENDS_WITH: str(os.getpid())}).returncode


def main(argv: Sequence[str] | None = None) -> None:
    """Run one pipeline, or all; a step of lanes that did not succeed is the last one."""
    parser = argparse.ArgumentParser(prog="trivium lanes", description=__doc__)
    parser.add_argument("pipeline", nargs="?", default="", choices=list(STEPS))
    pipeline = parser.parse_args(argv).pipeline
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
        if not needed(graph, pipeline) & set(repo.status()) - {OWN_STAGE}:
            print("Data and pipelines are up to date.")
            return
    if not has_gpu():
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        graph.remove_nodes_from([OWN_STAGE])
        all(run(lanes) for lanes in plan(graph, STEPS[pipeline]))
    raise SystemExit(finish(pipeline))


def needed(graph: nx.DiGraph, pipeline: str) -> set[str]:
    """The stages of a pipeline and all that they need; every stage of the graph without one."""
    own = {stage for stage in graph if stage.startswith(f"{pipeline}-")} if pipeline else set(graph)
    return own.union(*(nx.descendants(graph, stage) for stage in own), {"headline", "report"} & set(graph))


if __name__ == "__main__":
    main()
