"""One process a GPU, joined in a group that `accelerate` knows; a single process is this one, without a group."""

import os
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import torch
import torch.distributed
import torch.multiprocessing
from torch.multiprocessing.spawn import ProcessExitedException, ProcessRaisedException, start_processes

from trivium.core.curves import Curves
from trivium.core.errors import BadInput
from trivium.core.redaction import redact_output
from trivium.core.tasks import Curve, Metrics
from trivium.nets.device import pick_device

Job = TypeVar("Job")
Log = Callable[..., None]


@dataclass(frozen=True)
class Place:
    """Where a process stands: its number, how many there are, and its device."""

    index: int
    count: int
    device: torch.device

    @property
    def first(self) -> bool:
        """Whether it is the one that logs and writes."""
        return self.index == 0

    def wait(self) -> None:
        """Until all processes have come here."""
        if self.count > 1:
            torch.distributed.barrier()

    def mean(self, local: torch.Tensor) -> torch.Tensor:
        """Mean over the processes."""
        if self.count == 1:
            return local
        from accelerate.utils import reduce

        return cast(torch.Tensor, reduce(local, "mean"))


def place() -> Place:
    """This process's; accelerate is imported where there are several, as it takes seconds."""
    if not torch.distributed.is_initialized():
        return Place(0, 1, pick_device())
    from accelerate import PartialState

    state = PartialState()
    return Place(state.process_index, state.num_processes, state.device)


def processes_here() -> int:
    """How many processes use this machine well: one a GPU, or one."""
    return max(1, torch.cuda.device_count())


def run_in_processes(function: Callable[[Job, Log], Metrics], job: Job, log: Curve, processes: int) -> Metrics:
    """`function(job, log)` in so many processes at once.

    Args:
        function: at the top level of a module; asks `place` where it stands.
        job: picklable.
        log: gets what the first process logs. On the stage's machine that process itself keeps it for the table, so
            that a kill between two processes loses no point that a checkpoint already counts; MLflow gets it from this
            one.
        processes: one runs in this very process.

    Returns:
        What the first process returns.

    Raises:
        BadInput: as one of the processes raised it; the others are ended.
    """
    if processes == 1:
        return function(job, log)
    messages = torch.multiprocessing.get_context("spawn").SimpleQueue()
    told = (function, job, log.curves, processes, _free_port(), messages)
    group = start_processes(_member, told, nprocs=processes, join=False, start_method="spawn")
    assert group is not None
    received: dict[str, Any] = {}
    failure: Exception | None = None
    done = False
    while not done:
        try:
            done = group.join(timeout=0.2)
        except (ProcessExitedException, ProcessRaisedException) as error:
            failure, done = error, True
        while not messages.empty():
            kind, content = messages.get()
            if kind == "point":
                log.pass_on(*content)
            else:
                received.setdefault(kind, content)
    if "problem" in received:
        raise BadInput(received["problem"])
    if failure is not None:
        raise failure
    return received["result"]


def _member(
    rank: int,
    function: Callable[[Any, Log], Metrics],
    job: Any,
    curves: Curves | None,
    size: int,
    port: int,
    messages: Any,
) -> None:
    redact_output()
    variables = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": size, "LOCAL_WORLD_SIZE": size, "MASTER_PORT": port}
    from accelerate import PartialState

    os.environ |= {"MASTER_ADDR": "127.0.0.1"} | {name: str(value) for name, value in variables.items()}
    PartialState(cpu=not torch.cuda.is_available())

    def log(step: int, **values: float) -> None:
        if rank == 0:
            if curves is not None:
                curves.keep(step, values)
            messages.put(("point", (step, values)))

    try:
        result = function(job, log)
    except BadInput as error:
        messages.put(("problem", str(error)))
        sys.stdout.flush()
        os._exit(1)  # without waiting for the others, who wait for this one
    if rank == 0:
        messages.put(("result", result))
    torch.distributed.destroy_process_group()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
