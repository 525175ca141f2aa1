"""What one cell of a stage costs, and how fast the machines are that costs are turned into hours for.

A transformer of P parameters (embeddings not counted) takes about 2·P operations a token forward, 6·P in training;
sequences are counted at full length, so text stages come out somewhat too high. DPR takes 8·P: its gradients are
cached, which runs every text forward twice.
"""

from dataclasses import dataclass
from typing import Any, TypeVar

from trivium.commands.stage_models import Used
from trivium.core.errors import BadInput

T = TypeVar("T")
SOURCES = ("sample", "hub", "local")


@dataclass(frozen=True)
class Row:
    """One cell of a stage. GB = 10⁹ bytes.

    Attributes:
        downloads: GB from the network.
        disk: GB written, and needed on the way.
        memory: GiB at the most.
        teraflop: floating-point operations of neural networks, 10¹².
        core_hours: everything else, on one core; divided by the cores, with a GPU by `gpu_processes` at the most.
        gpu_processes: how many processes share a GPU; None: as many as there are cores.
        waiting: hours in which servers answer no faster, whatever the machine.
    """

    downloads: float = 0.0
    disk: float = 0.0
    memory: float = 0.0
    teraflop: float = 0.0
    core_hours: float = 0.0
    gpu_processes: float | None = None
    waiting: float = 0.0


@dataclass(frozen=True)
class Machine:
    """Rates that last."""

    gpu_teraflop_a_second: float
    core_teraflop_a_second: float
    network_mb_a_second: float


MACHINE = Machine(
    gpu_teraflop_a_second=40,  # sustained, bf16, one workstation GPU of 2022 or later
    core_teraflop_a_second=0.1,  # measured: MiniLM, 6 layers × 72 tokens, 24 sequences a second in training on a thread
    network_mb_a_second=30,
)


def chosen(used: Used, source: str, sample: T, hub: T, local: T | None = None) -> T:
    """What `world.<source>` chooses; files of one's own are as large as those of the hub where `local` does not say.

    Raises:
        BadInput: it is none of the sources.
    """
    name: Any = used(f"world.{source}")
    if name not in SOURCES:
        raise BadInput("unknown source", field=f"world.{source}", got=name, choices=SOURCES)
    return {"sample": sample, "hub": hub, "local": hub if local is None else local}[name]


def known(value: float | None, otherwise: float) -> float:
    """A value that may be left open."""
    return otherwise if value is None else value
