"""A stage that is forked does what it does by itself, and nothing outlives a kill."""

import os
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from tests.commands.in_dvc.test_parent import wait_for
from trivium.commands.in_dvc import INSTALLED_AS
from trivium.commands.in_dvc.parent import WARM_START

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux kills a process with its parent")
ROOT = Path(__file__).parents[3]
TELLS = """
import os, sys
known = [name for name in ("yaml", "stages.helper") if name in sys.modules]
import yaml
from stages.helper import WORD
print(WORD, sys.argv[1:], os.path.basename(sys.argv[0]), __name__, os.getcwd(), sys.stdin.read(), sys.orig_argv[1:])
print(os.environ.get("ASKED"), os.environ.get("MADE"), sys.path[0], sys.modules["__main__"].__spec__.name, file=sys.stderr)
os.environ["MADE"] = "by the stage"
open("seen", "w").write(f"{os.getppid()} {known}")
sys.exit(int(sys.argv[1]))
"""
# Many short sleeps: Python hears of an interruption that comes just before a long one only after it.
SLEEPS = """
import os, pathlib, time
pathlib.Path('up').write_text(str(os.getpid()))
for _ in range(30000):
    time.sleep(0.01)
"""
SPAWNS = """
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from stages.helper import WORD

def length(text):
    return len(text)

if __name__ == "__main__":
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        print(sum(pool.map(length, [WORD, "and"])))
"""


@dataclass
class Lane:
    """A project, and the process that its stages are forked from; None: there is none."""

    folder: Path
    server: "subprocess.Popen[bytes] | None"
    address: str

    def start(self, name: str, *words: str, **options: object) -> "subprocess.Popen[str]":
        environment = os.environ | {"ASKED": "for", WARM_START: self.address}
        return subprocess.Popen(
            [sys.executable, "-m", f"stages.{name}", *words], cwd=self.folder, env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def run(self, name: str, *words: str) -> tuple[int, str, str]:
        process = self.start(name, *words)
        out, error = process.communicate("typed")
        return process.returncode, out, error

    def seen(self) -> tuple[bool, str]:
        """Whether the last stage was forked, and what it had found loaded."""
        parent, _, known = (self.folder / "seen").read_text().partition(" ")
        return self.server is not None and int(parent) == self.server.pid, known


@contextmanager
def opened(folder: Path, *, served: bool = True) -> Iterator[Lane]:
    """A lane's project; `served`: with the process."""
    stages = folder / "stages"
    stages.mkdir(parents=True)
    (folder / "params.yaml").write_text("run: {}\n")
    for name, text in {"__init__": "", "helper": "WORD = 'first'\n", "tells": TELLS, "sleeps": SLEEPS}.items():
        (stages / f"{name}.py").write_text(text)
    (stages / "spawns.py").write_text(SPAWNS)
    address, server = f"trivium-test-{secrets.token_hex(8)}", None
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(f"\0{address}")
        listening.listen()
        if served:
            command = [sys.executable, "-m", f"{INSTALLED_AS}.warm_start", str(listening.fileno()), str(os.getpid())]
            server = subprocess.Popen(command, cwd=folder, pass_fds=[listening.fileno()])
    try:
        yield Lane(folder, server, address)
    finally:
        if server:
            server.kill()
            server.wait()


@pytest.fixture
def lane(tmp_path):
    with opened(tmp_path / "project") as found:
        yield found


def fork_of(lane: Lane) -> psutil.Process:
    """The fork that sleeps."""
    wait_for(lambda: (lane.folder / "up").exists() and (lane.folder / "up").read_text())
    return psutil.Process(int((lane.folder / "up").read_text()))


def is_gone(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    return True


def test_a_fork_does_what_a_stage_does_by_itself(tmp_path):
    with opened(tmp_path / "alone" / "project", served=False) as alone, opened(tmp_path / "lane" / "project") as lane:
        for words in (["0"], ["3", "--out", "a b"]):
            forked, by_itself = lane.run("tells", *words), alone.run("tells", *words)
            assert lane.seen()[0]
            assert not alone.seen()[0]
            assert forked == tuple(
                told.replace(str(alone.folder), str(lane.folder)) if isinstance(told, str) else told
                for told in by_itself
            )
            assert forked[0] == int(words[0])
            assert "typed" in forked[1]
            assert "for None" in forked[2]


def test_only_libraries_stay_loaded_and_code_is_read_anew(lane):
    lane.run("tells", "0")
    assert lane.seen() == (True, "[]")
    (lane.folder / "stages" / "helper.py").write_text("WORD = 'another'\n")
    _, said, error = lane.run("tells", "0")
    assert lane.seen() == (True, "['yaml']")
    assert said.startswith("another ")
    assert "for None" in error, "what a stage has put into its environment is not another's"


def test_processes_of_a_fork_find_their_module(lane):
    assert lane.run("spawns") == (0, "8\n", "")


def test_an_error_is_told_as_by_itself(lane):
    (lane.folder / "stages" / "fails.py").write_text("raise ValueError('why')\n")
    code, _, error = lane.run("fails")
    assert code == 1
    assert error.endswith("ValueError: why\n")
    assert lane.run("no_such_stage")[0] == 1
    assert lane.run("tells", "0")[0] == 0
    assert lane.seen()[0]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_kill_of_what_dvc_has_started_ends_the_fork(lane, number):
    waiting = lane.start("sleeps")
    fork = fork_of(lane)
    assert fork.pid != waiting.pid
    waiting.send_signal(number)
    assert waiting.wait(5) == -number
    wait_for(lambda: is_gone(fork), 5)
    lane.run("tells", "0")
    assert lane.seen()[0], "the next stage is forked as ever"


def test_an_interruption_ends_stages_and_not_what_they_are_forked_from(lane):
    lane.run("tells", "0")
    lane.server.send_signal(signal.SIGINT)  # as a terminal sends it to all
    waiting = lane.start("sleeps")
    fork_of(lane).send_signal(signal.SIGINT)
    _, error = waiting.communicate(timeout=5)
    assert waiting.returncode == 1
    assert error.endswith("KeyboardInterrupt\n")
    assert lane.run("tells", "0")[0] == 0
    assert lane.seen()[0]


def test_stages_of_any_dvc_are_forked_one_from_the_other(lane, monkeypatch):
    folder = lane.folder
    stages = {"code": "python -m stages.tells 0", "other": "python -m stages.other", "shell": "echo a > shell.txt"}
    graph = "".join(
        f"  {name}: {{cmd: '{command}', always_changed: true, outs: [{{{name}.txt: {{cache: false}}}}]}}\n"
        for name, command in stages.items()
    )
    (folder / "dvc.yaml").write_text(f"stages:\n{graph}")
    tells = "import os\nimport yaml\nopen('{0}.txt', 'w').write(str(os.getppid()))\n"
    (folder / "stages" / "tells.py").write_text(tells.format("code"))
    (folder / "stages" / "other.py").write_text(tells.format("other"))
    (folder / "stages" / "__init__.py").touch()
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    subprocess.run(["dvc", "init", "-q"], cwd=folder, check=True)
    subprocess.run(["dvc", "repro"], cwd=folder, check=True, capture_output=True)
    parents = {(folder / f"{name}.txt").read_text() for name in ("code", "other")}
    assert len(parents) == 1
    wait_for(lambda: not psutil.pid_exists(int(*parents)), 5)


def test_a_killed_fork_is_a_killed_stage(lane):
    waiting = lane.start("sleeps")
    fork_of(lane).kill()
    assert waiting.wait(5) == 128 + signal.SIGKILL


def test_forks_are_killed_with_the_process_they_come_from(lane):
    waiting = lane.start("sleeps")
    fork = fork_of(lane)
    lane.server.kill()
    _, error = waiting.communicate(timeout=5)
    assert waiting.returncode == 1
    assert "the process that starts stages was killed" in error
    wait_for(lambda: is_gone(fork), 5)
    assert lane.run("tells", "0")[0] == 0, "from here on stages start by themselves"
    assert not lane.seen()[0]


def test_what_forks_ends_with_its_lane(tmp_path):
    code = (
        f"import time; from {INSTALLED_AS} import warm_stages; warm_stages.has_gpu = lambda: False;"
        "print(warm_stages.address(), flush=True); time.sleep(300)"
    )
    with opened(tmp_path / "project", served=False) as found:
        mother = subprocess.Popen([sys.executable, "-c", code], cwd=found.folder, stdout=subprocess.PIPE, text=True)
        found.address = mother.stdout.readline().strip()
        waiting = found.start("sleeps")
        fork = fork_of(found)
        family = [*psutil.Process(mother.pid).children(), fork]
        assert fork.ppid() == family[0].pid
        mother.kill()
        mother.wait()
        wait_for(lambda: all(map(is_gone, family)), 5)
        waiting.wait(5)


@pytest.mark.parametrize("change", ["parameters", "a thread", "another interpreter"])
def test_a_stage_starts_by_itself_where_a_fork_would_not_be_the_same(lane, change, monkeypatch):
    lane.run("tells", "0")
    assert lane.seen()[0]
    if change == "a thread":
        (lane.folder / "nltk.py").write_text(
            "import threading, time\nthreading.Thread(target=time.sleep, args=[300], daemon=True).start()\n"
        )
        (lane.folder / "stages" / "imports.py").write_text("import nltk\n")
        assert lane.run("imports")[0] == 0
    elif change == "parameters":
        (lane.folder / "params.yaml").write_text("run: {portable: false}\n")
    else:
        monkeypatch.setenv("PYTHONHASHSEED", "7")
    assert lane.run("tells", "0")[0] == 0
    assert not lane.seen()[0]
    assert lane.server.wait(10) == 0


def test_who_hangs_up_at_once_leaves_the_others_served(lane):
    for said in (b"", b"12345678", b"1234567"):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other:
            other.connect(f"\0{lane.address}")
            other.sendall(said)
    assert lane.run("tells", "0")[0] == 0
    assert lane.seen()[0]


def test_other_programs_are_left_alone(lane):
    done = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getppid())"],
        env=os.environ | {WARM_START: lane.address},
        capture_output=True,
        text=True,
    )
    assert int(done.stdout) == os.getpid()
