"""`trivium lanes [PIPELINE]`, `make repro`: run the graph, without a GPU with stages side by side.

Nothing starts where nothing has changed. Much of each pipeline keeps one core busy, so that three lanes for all of
them, or two for one, end earlier; a GPU's memory is for one stage at a time, and so it has one lane. Lanes come longest
first, and later lanes run at lower priority: all are to end at about the same time. DVC locks what a stage reads and
writes, also while it only looks whether anything changed; so the lanes get their stages by name and in order
(`--single-item`), no stage is in two lanes, and the digests of the code are written before any of them starts.
One thread each: threads of several processes wait for each other ten times as long as they work, and what is trained
depends on how many there are. One process each, too: every other would load its libraries once more.

A stage that fails stops only what needs it. The rest runs, the page shows the sections that could be made, and at the
end stands what failed, why, and what did not run. Where the questions are real, their construction, which asks
Wikimedia for hours, runs only when it is asked for by name.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from fnmatch import fnmatch
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

import networkx as nx
from dvc.repo import Repo

from trivium.commands.in_dvc.parent import ENDS_WITH
from trivium.commands.lane import FAILURES, SHELL, remove_parts
from trivium.errors import BadInput
from trivium.harness.code.command import OWN_STAGE, write_code
from trivium.harness.code.digest import code_root
from trivium.harness.parameters import read_parameters
from trivium.page.contents import ARTICLES, OTHER_PIPELINES, stage_of

DVC = (sys.executable, "-m", "trivium.commands.lane")
CONSTRUCTION = stage_of("kvqae", "construction")  # the end of that pipeline
ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
Lane = Sequence[str]
# By pipeline its steps, by step its lanes, by lane what it is to bring about; a step waits for the one before.
STEPS: dict[str, Sequence[Sequence[Lane]]] = {
    "": [[["kvqae-*"], ["decorrelation-evaluate"], ["complexity-*"]]],
    "kvqae": [
        [["kvqae-published_checkpoints@*", "kvqae-rerank_base"], ["kvqae-training_pairs@*"]],
        [["kvqae-fuse", "kvqae-relevance"], ["kvqae-rerank_pretrain", "kvqae-reader_pretrain"]],
        [["kvqae-rerank_fuse"], ["kvqae-reader_finetune@*", "kvqae-evaluate", "kvqae-lexical_overlap"]],
    ],
    "construction": [[[CONSTRUCTION]]],
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


def plan(graph: nx.DiGraph, steps: Sequence[Sequence[Lane]]) -> list[list[list[str]]]:
    """The stages of every lane, each once, after what it needs.

    Args:
        graph: of stages' names; edges lead to what a stage needs.
        steps: see `STEPS`; a stage that several lanes of a step ask for by name is the first one's, and what several
            lanes need comes in a step of its own before.
    """
    order = ordered(graph)
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


def run(lanes: Sequence[Lane]) -> dict[str, str]:
    """Run the stages of each lane in order, the lanes side by side; why those failed that did.

    A lane leaves out what needs a stage of it that failed. An interruption ends all.

    Raises:
        SystemExit: a lane was killed, and the others were ended; or DVC itself failed.
    """
    workers = {"STAGE_WORKERS": "1"} if len(lanes) > 1 else {}
    running: list[subprocess.Popen[bytes]] = []
    printing: list[subprocess.Popen[bytes]] = []
    told: list[tuple[IO[bytes], IO[bytes]]] = []
    with ExitStack() as files:
        try:
            with undisturbed():
                for place, stages in enumerate(lanes):
                    failures: IO[bytes] = files.enter_context(TemporaryFile())
                    output: IO[bytes] = files.enter_context(TemporaryFile())
                    own = {"STAGE_NICENESS": str(3 * place), ENDS_WITH: str(os.getpid())}
                    lane = subprocess.Popen(
                        [*DVC, "--wait-for-lock", "repro", "--single-item", "--keep-going", *stages],
                        env=os.environ | workers | own | {FAILURES: str(failures.fileno())},
                        stdout=subprocess.PIPE,
                        stderr=subprocess.STDOUT,
                        process_group=0,
                        pass_fds=[failures.fileno()],
                    )
                    running.append(lane)
                    kept = f"/dev/fd/{output.fileno()}"
                    name = f"[{stages[-1].split('-')[0]} {place + 1}] "
                    show = ["sed", "-u", "-e", f"w {kept}", "-e", f"s/^/{name}/"] if len(lanes) > 1 else ["tee", kept]
                    printing.append(
                        subprocess.Popen(show, stdin=lane.stdout, process_group=0, pass_fds=[output.fileno()])
                    )
                    told.append((failures, output))
            while any(process.poll() is None for process in (*running, *printing)):
                if any((lane.returncode or 0) < 0 for lane in running):
                    raise SystemExit("a lane was killed, so all end; `make repro` goes on from what is done")
                time.sleep(0.1)
        finally:
            for lane in running:
                if lane.poll() is None:
                    os.killpg(lane.pid, signal.SIGTERM)
        found: dict[str, str] = {}
        for lane, kept_files in zip(running, told, strict=True):
            failed = reasons(*kept_files)
            if lane.returncode and not failed:
                raise SystemExit(f"DVC ended with {lane.returncode}, see above; `make repro` goes on from what is done")
            found |= failed
        return found


def reasons(failures: IO[bytes], output: IO[bytes]) -> dict[str, str]:
    """Why stages of a lane failed: the last line that each printed, else what DVC says.

    Args:
        failures: what the lane wrote, see `trivium.commands.lane`.
        output: all that the lane and its stages printed.
    """
    for file in (failures, output):
        file.seek(0)
    printed = output.read().decode("utf-8", "replace")
    found = {}
    for line in failures.read().decode("utf-8").splitlines():
        told = json.loads(line)
        _, ran, rest = printed.partition(f"Running stage '{told['stage']}':\n")
        own = (
            rest.partition(f"stage '{told['stage']}' failed: ")[0].replace("\r", "\n").splitlines()[:-1] if ran else []
        )
        said = [text.strip() for text in own if text.strip() and not text.startswith("> ")]
        found[told["stage"]] = said[-1] if said else told["error"].splitlines()[-1]
    return found


def has_gpu() -> bool:
    """Whether NVIDIA's driver answers."""
    return (
        shutil.which("nvidia-smi") is not None and subprocess.run(["nvidia-smi"], capture_output=True).returncode == 0
    )


def finish(graph: nx.DiGraph, failed: Mapping[str, str]) -> dict[str, str]:
    """Let DVC run what is left and needs nothing that failed, the page last; why those failed that did.

    Args:
        graph: of the stages that are wanted.
        failed: those that did, and why.
    """
    out = left_out(graph, failed)
    return {**failed, **run([[stage for stage in ordered(graph) if stage not in out]])}


def left_out(graph: nx.DiGraph, failed: Mapping[str, str]) -> dict[str, list[str]]:
    """The stages that failed, and those that need them; which of them each needs."""
    out: dict[str, list[str]] = {stage: [] for stage in failed}
    for stage in failed:
        for each in nx.ancestors(graph, stage) - {SHELL}:
            out.setdefault(each, []).append(stage)
    return out


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
        pipeline: one of `STEPS`.
        without: stages that only another pipeline needs.
    """
    if pipeline == "construction":
        own = {CONSTRUCTION} & set(graph)
    else:
        own = {stage for stage in graph if stage.startswith(f"{pipeline}-" if pipeline else "")} - without
    own -= {SHELL}  # it needs every section, and does with those that there are
    return own.union(*(nx.descendants(graph, stage) for stage in own), {"headline", SHELL} & set(graph))


def main(argv: Sequence[str] | None = None) -> None:
    """Run one pipeline, or all; what fails is told at the end."""
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
        changed = set(repo.status()) - {OWN_STAGE}
    without = set() if pipeline == "construction" or (not pipeline and invented()) else apart(graph)
    if CONSTRUCTION in without & changed and not invented() and remove_parts({CONSTRUCTION}):  # of another world
        changed.add(SHELL)
    graph = graph.subgraph(needed(graph, pipeline, without=without)).copy()
    if not changed & set(graph):
        print("Data and pipelines are up to date.")
        return
    failed: dict[str, str] = {}
    if not has_gpu():
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        among = graph.subgraph(set(graph) - {OWN_STAGE})
        for lanes in plan(among, STEPS[pipeline]):
            out = left_out(graph, failed)
            left = ([stage for stage in lane if stage not in out] for lane in lanes)
            failed |= run([lane for lane in left if lane])
    failed = finish(graph, failed)
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
