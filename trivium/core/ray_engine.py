"""An engine whose workers are Ray's: processes of this machine, or of a cluster that shares no disk (docs/cluster.md).

A function and its shards travel as content, with the files that they name; what they write comes back as content
(`parcels.py`). A worker runs its own copy of the code, and says so when it is another one. A shard whose worker is lost
runs again. What a function raises is raised here, as it is.
"""

import hashlib
import logging
import os
import pickle
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import Any, TypeVar

import ray
from ray.exceptions import RayError, RayTaskError
from tqdm import tqdm

from trivium.core.arithmetic import PORTABLE, SETTINGS
from trivium.core.atomic import write_atomically
from trivium.core.code.digest import module_of, versions_of
from trivium.core.engine import WORKER
from trivium.core.errors import BadInput
from trivium.core.parcels import InFolder, InMessage, InObjects, Listed, Packer, Parcel, Place, fetch, loads
from trivium.core.ray_worker import FAILED, OTHER_CODE, Outcome

T = TypeVar("T")
R = TypeVar("R")
LOSSES = 3  # of one shard, after which it is not sent again


@dataclass(frozen=True)
class RayEngine:
    """Workers of a Ray cluster, each with one CPU.

    Attributes:
        address: of the cluster; None: one on this machine, for this process alone.
        storage: folder or address of fsspec through which files travel; None: as objects of Ray.
        workers: CPUs of a cluster on this machine.
        gpu_workers: functions that take a GPU have one of so many equal parts of it.
        work: the stage's folder, where results are kept that a stage started again need not ask for anew.
        check: called before each result is handed out; raises when the results may not be kept.
    """

    address: str | None
    storage: str | None
    workers: int
    gpu_workers: int
    work: Path
    check: Callable[[], None] = lambda: None

    def has_gpu(self, here: Callable[[], bool]) -> bool:
        """Whether a machine of the cluster has a GPU now, and a CPU for it."""
        self._connect()
        return _room(1.0) > 0

    def map(
        self,
        function: Callable[[T], R],
        shards: Iterable[T],
        *,
        description: str,
        on_gpu: bool = False,
        processes: int | None = None,
        out: Path | None = None,
    ) -> Iterator[R]:
        """Apply `function` to each shard, somewhere; at most two shards a worker wait or run.

        Raises:
            BadInput: no machine has a GPU where `function` takes one; a worker has other code, or cannot import it; a
                shard was lost `LOSSES` times.
        """
        part = 1.0 if processes else 10_000 // self.gpu_workers / 10_000  # Ray counts ten-thousandths
        share = part if on_gpu else 0.0
        self._connect()
        if share and not _room(share):  # Ray would wait for such a machine for ever
            problem = f"no machine of the Ray cluster has what {description!r} takes"
            expected = f"one with 1 CPU and {share:g} GPU"
            raise BadInput(problem, field="run.ray_address", got=self.address, expected=expected)
        run = _Run(self, function, share, out)
        bar = tqdm(desc=description, unit="shard", mininterval=5, leave=False)
        try:
            for result in run.results(shards):
                self.check()
                bar.update()
                yield result
        finally:
            run.cancel()
            bar.close()

    def _connect(self) -> None:
        """Find or start the cluster, once a process."""
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        os.environ["RAY_ENABLE_UV_RUN_RUNTIME_ENV"] = "0"  # workers have an environment of their own
        if ray.is_initialized():
            return
        names = {PORTABLE, *SETTINGS["intel"]} & set(os.environ)
        environment = {name: os.environ[name] for name in sorted(names)} | {WORKER: "1"}
        own: dict[str, Any] = {"address": self.address}
        if self.address is None:
            environment["TRIVIUM_SCRATCH"] = str(self.work.absolute() / "scratch")
            own = {"address": "local", "num_cpus": self.workers, "include_dashboard": False}
            os.environ.setdefault("RAY_AUTH_TOKEN", token_hex(32))  # else Ray writes one into the home folder
        try:
            ray.init(**own, runtime_env={"env_vars": environment}, logging_level=logging.WARNING)
        except ConnectionError as error:
            raise BadInput(f"no Ray cluster there: {error}", field="run.ray_address", got=self.address) from None


@dataclass
class _Sent:
    """A shard on its way.

    Attributes:
        number: from 0.
        shard: as it is, for messages.
        parcel: as it travels.
        kept: where its result is kept.
        losses: how often it was lost.
    """

    number: int
    shard: object
    parcel: Parcel
    kept: Path
    losses: int = 0


class _Run:
    """One function on its shards."""

    def __init__(self, engine: RayEngine, function: Callable[[Any], Any], share: float, out: Path | None) -> None:
        inner = function
        while isinstance(inner, partial):
            inner = inner.func
        self._engine, self._share, self._out = engine, share, out
        self._module = module_of(inner)
        self._versions = versions_of(self._module)
        self._name = f"{self._module}.{inner.__qualname__} to {out}"
        self._packer = Packer(InFolder(engine.storage) if engine.storage else InObjects(), out)
        self._function = ray.put(self._packer.pack(function, remember=True))
        self._start = ray.remote(_starter(str(Path.cwd()))).options(max_retries=0, num_cpus=1, num_gpus=share)
        self._running: dict[Any, _Sent] = {}

    def results(self, shards: Iterable[Any]) -> Iterator[Any]:
        """The results in the order of the shards."""
        numbered = enumerate(shards)
        done: dict[int, bytes | Exception] = {}
        turn, more = 0, True
        while more or self._running or done:
            while more and len(self._running) + len(done) < self._most():
                number, shard = next(numbered, (-1, None))
                if more := number >= 0:
                    sent = self._pack(number, shard)
                    if (kept := self._kept(sent)) is not None:
                        done[number] = kept
                    else:
                        self._send(sent)
            if turn not in done and self._running:
                (ready,), _ = ray.wait(list(self._running), num_returns=1)
                sent = self._running.pop(ready)
                if (outcome := self._outcome(ready, sent)) is not None:
                    done[sent.number] = outcome
            while turn in done:
                found = done.pop(turn)
                if isinstance(found, Exception):
                    raise found
                yield loads(found, self._path)
                turn += 1

    def cancel(self) -> None:
        """Leave nothing running that nobody waits for."""
        for reference in self._running:
            ray.cancel(reference, force=True)

    def _most(self) -> int:
        """How many shards may wait or run: two for each worker that the cluster has room for now."""
        return 2 * max(1, _room(self._share))

    def _pack(self, number: int, shard: object) -> _Sent:
        parcel = self._packer.pack(shard)
        key = hashlib.sha256(self._name.encode() + parcel[0]).hexdigest()[:32]
        return _Sent(number, shard, parcel, self._engine.work / "ray" / f"{key}.pickle")

    def _send(self, sent: _Sent) -> None:
        told = self._module, self._versions, self._function, sent.parcel, self._engine.storage
        self._running[self._start.remote(*told)] = sent

    def _outcome(self, reference: Any, sent: _Sent) -> bytes | Exception | None:
        """A shard's result, pickled, or what it raised; None: it was lost, and is sent again."""
        try:
            outcome: Outcome = ray.get(reference)
        except RayTaskError as error:
            if not isinstance(error.cause, RayError):
                return BadInput(f"a worker cannot run {self._name}: {error.cause!r}", expected="docs/cluster.md")
            return self._lost(sent, error)
        except RayError as error:
            return self._lost(sent, error)
        kind, pickled, listed = outcome
        if kind == OTHER_CODE:
            told, _, other = pickled.decode().rpartition(" ")
            name = told or self._module  # where its code is too old to say which
            expected = f"{self._versions[name]}, as here"
            return BadInput(f"a worker has other code of {name}", got=other, expected=expected)
        if kind == FAILED:
            raised: Exception = pickle.loads(pickled)
            return raised
        self._arrive(pickled, listed, sent)
        return pickled

    def _lost(self, sent: _Sent, error: Exception) -> Exception | None:
        sent.losses += 1
        if sent.losses < LOSSES:
            self._send(sent)
            return None
        why = str(error).strip().partition("\n")[0]
        return BadInput(
            f"lost {LOSSES} times with its worker, at last so: {why}", field=f"shard {sent.number}", got=sent.shard
        )

    def _arrive(self, pickled: bytes, listed: Listed, sent: _Sent) -> None:
        """Move what a worker wrote to where it belongs, and keep its result for a stage that is started again."""
        if self._out is None or not listed:
            return
        self._engine.check()
        beside = self._out / f".{uuid.uuid4().hex}.arriving"
        try:
            fetch(listed, beside, InFolder(self._engine.storage) if self._engine.storage else InMessage())
            _merge(beside, self._out)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
        with write_atomically(sent.kept) as kept:
            kept.write_bytes(pickle.dumps((pickled, [name for name, _ in listed])))

    def _kept(self, sent: _Sent) -> bytes | None:
        """The result that an earlier run of the stage has kept, if all that was written is still there."""
        if self._out is None or not sent.kept.exists():
            return None
        pickled, names = pickle.loads(sent.kept.read_bytes())
        return pickled if all((self._out / name).exists() for name in names) else None

    def _path(self, place: Place) -> Path:
        return self._out / place[1] if self._out is not None and place[0] == "out" else Path(place[1])


def _room(share: float) -> int:
    """How many workers, each with one CPU and this share of a GPU, the machines that are there now have room for."""
    there = [machine["Resources"] for machine in ray.nodes() if machine["Alive"]]
    room = [(each.get("CPU", 0.0), each.get("GPU", 0.0)) for each in there]
    return sum(int(min(cpus, gpus / share) if share else cpus) for cpus, gpus in room)


def _starter(folder: str) -> Callable[..., Outcome]:
    """The function that Ray runs; it travels by value, as the first lines that a worker has of this code.

    Args:
        folder: this process's, which Ray lets workers import from; only one without code of its own may, and it is
            on this machine then.
    """

    def start(
        module: str, versions: Mapping[str, str], function: Parcel, shard: Parcel, storage: str | None
    ) -> Outcome:
        import platform
        import sys
        from importlib.util import find_spec

        import ray

        sys.path[:] = [path for path in sys.path if path != folder]
        if find_spec("stages") is None:
            sys.path.append(folder)
        from trivium.core.ray_worker import run_shard

        node = f"{platform.node()}-{ray.get_runtime_context().get_node_id()[:12]}"
        return run_shard(module, versions, function, shard, storage, node)

    start.__code__ = start.__code__.replace(co_filename="<ray_engine>")  # no worker looks for the source of these lines
    return start


def _merge(folder: Path, target: Path) -> None:
    """Move what is in a folder into another; files first: where there is a folder, what belongs to it is complete."""
    for source in sorted(folder.iterdir(), key=Path.is_dir):
        there = target / source.name
        if source.is_dir() and there.is_dir():
            _merge(source, there)
        else:
            source.replace(there)
