"""What a worker does with a shard, in this process: it needs no cluster for that."""

import io
import os
import pickle
import shutil
import sys
from functools import partial
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import pytest
from ray.exceptions import RayError

from trivium.core import ray_worker
from trivium.core.errors import BadInput
from trivium.core.parcels import InFolder, InMessage, Packer, fetch, loads
from trivium.core.ray_worker import DONE, FAILED, OTHER_CODE, run_shard

SAME = {"numpy": version("numpy"), "m": "digest of m"}


@pytest.fixture
def storage(tmp_path):
    return str(tmp_path / "storage")


@pytest.fixture
def work(tmp_path, monkeypatch, storage):
    """Run a function on a shard as a worker does, which prints apart; `out` is where the stage wants its results."""
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    monkeypatch.setenv("TRIVIUM_SCRATCH", str(tmp_path / "scratch"))
    monkeypatch.setattr(ray_worker, "module_parts", lambda module: SimpleNamespace(digest=f"digest of {module}"))
    packer = Packer(InFolder(storage), tmp_path / "out")

    def run(function, shard, versions=SAME):
        return run_shard("m", versions, packer.pack(function, remember=True), packer.pack(shard), storage, "node-1")

    return run


def result(outcome):
    """What it gave back, with the kinds of its places."""
    kind, pickled, listed = outcome
    assert kind == DONE
    return loads(pickled, lambda place: Path(place[0], place[1])), listed


def test_a_worker_prints_no_password(work, monkeypatch):
    shown = io.StringIO()
    monkeypatch.setattr(sys, "stdout", shown)
    result(work(print, "at http://me:Sesame7opens@host"))
    assert shown.getvalue() == "at http://[hidden]@host\n"


def square(number):
    return number * number


@pytest.mark.parametrize(
    ("other", "name", "own"),
    [
        ({"m": "another"}, "m", "digest of m"),
        ({"numpy": "0.1"}, "numpy", version("numpy")),
        ({"no-such-package": "2.0"}, "no-such-package", "absent"),
        ({"numpy": "0.1", "m": "another"}, "numpy", version("numpy")),
    ],
)
def test_other_code_runs_nothing(work, tmp_path, other, name, own):
    assert work(square, 3, versions=SAME | other) == (OTHER_CODE, f"{name} {own}".encode(), [])
    assert not (tmp_path / "scratch").exists()


def test_a_result_comes_back_and_the_shards_folder_goes(work, tmp_path):
    before = Path.cwd()
    assert result(work(square, 3)) == (9, [])
    assert Path.cwd() == before
    node = tmp_path / "scratch" / f"trivium-{os.getuid()}" / "node-1"
    assert list(node.iterdir()) == []
    assert node.stat().st_mode & 0o777 == 0o700


def test_without_a_scratch_folder_the_systems_is_taken(work, tmp_path, monkeypatch):
    monkeypatch.delenv("TRIVIUM_SCRATCH")
    monkeypatch.setattr(ray_worker.tempfile, "tempdir", str(tmp_path / "system"))
    result(work(square, 3))
    assert (tmp_path / "system" / f"trivium-{os.getuid()}" / "node-1").is_dir()


def read(shard, *, words, out):
    """Read what is named, write below the folder for results and beside, say where all lies."""
    (out / "made").mkdir()
    (out / "made" / "text").write_text(words.read_text() + (shard / "part").read_text())
    Path("left").touch()  # in the working folder, which goes
    return out / "made", out, words, shard / "part", Path("/elsewhere"), [str(words), str(shard), str(Path.cwd())]


@pytest.fixture
def named(tmp_path):
    (tmp_path / "words.txt").write_text("words ")
    (tmp_path / "shard").mkdir()
    (tmp_path / "shard" / "part").write_text("part")
    return partial(read, words=tmp_path / "words.txt", out=tmp_path / "out"), tmp_path / "shard"


def test_paths_in_a_result_are_those_of_the_stage(work, named, tmp_path, storage):
    (made, out, words, part, elsewhere, _), listed = result(work(*named))
    assert (made, out) == (Path("out/made"), Path("out/."))
    assert (words, part) == (Path("text") / (tmp_path / "words.txt"), Path("text") / (tmp_path / "shard" / "part"))
    assert elsewhere == Path("text") / Path("/elsewhere")
    fetch(listed, tmp_path / "arrived", InFolder(storage))
    assert (tmp_path / "arrived" / "made" / "text").read_text() == "words part"
    assert [name for name, _ in listed] == ["made", "made/text"]


def test_what_a_function_names_stays_and_what_a_shard_names_goes(work, named, tmp_path, monkeypatch):
    (*_, (words, shard, place)), _ = result(work(*named))
    node = tmp_path / "scratch" / f"trivium-{os.getuid()}" / "node-1"
    assert Path(words).is_relative_to(node / "content")
    assert Path(words).read_text() == "words "
    assert Path(shard).parent.parent == Path(place).parent / "content"
    assert not Path(place).parent.exists()
    assert [path.name for path in node.iterdir()] == ["content"]
    fetched = []
    monkeypatch.setattr(
        ray_worker, "fetch", lambda listed, to, store: fetched.append(to.name) or fetch(listed, to, store)
    )
    (*_, (again, _, _)), _ = result(work(*named))
    assert again == words
    assert fetched == ["shard"]


def test_without_storage_results_are_in_the_message(work, named, monkeypatch, tmp_path):
    """Ray's objects, by which inputs come then, are those of a message here."""
    monkeypatch.setattr(ray_worker, "InObjects", InMessage)
    packer = Packer(InMessage(), tmp_path / "out")
    function, shard = packer.pack(named[0]), packer.pack(named[1])
    _, listed = result(run_shard("m", SAME, function, shard, None, "node-1"))
    assert dict(listed) == {"made": None, "made/text": [b"words part"]}


def test_content_that_another_process_has_written_meanwhile_counts(work, named, monkeypatch):
    (*_, (words, _, _)), _ = result(work(*named))
    there = Path(words).parent
    shutil.rmtree(there)

    def slow(listed, to, store):
        """The other is done first."""
        fetch(listed, to, store)
        if to.name == Path(words).name:
            fetch(listed, there / to.name, store)

    monkeypatch.setattr(ray_worker, "fetch", slow)
    (*_, (again, _, _)), _ = result(work(*named))
    assert again == words
    assert list(there.parent.iterdir()) == [there]


def test_content_that_cannot_be_put_in_its_place_is_an_error(work, named, monkeypatch):
    def nothing(self, target):
        raise OSError("no")

    monkeypatch.setattr(Path, "rename", nothing)
    kind, pickled, _ = work(*named)
    assert (kind, str(pickle.loads(pickled))) == (FAILED, "no")


def refuse(shard):
    raise BadInput("not like this", file=shard, row=3)


def test_an_error_names_the_file_of_the_stage_and_the_machine(work, named):
    kind, pickled, listed = work(refuse, named[1])
    error = pickle.loads(pickled)
    assert (kind, listed) == (FAILED, [])
    assert isinstance(error, BadInput)
    assert str(error) == f"{named[1]}:3: not like this"
    assert error.__notes__[0].startswith("on node-1:\nTraceback")
    assert "in refuse" in error.__notes__[0]


class Unpicklable(Exception):
    def __init__(self):
        super().__init__("as it is", lambda: None)


class NotAgain(Exception):
    """It is pickled, but cannot be made again from that."""

    def __init__(self, one, two):
        super().__init__(f"{one} {two}")


def fail(kind):
    raise {"unpicklable": Unpicklable, "not again": lambda: NotAgain(1, 2), "lost": RayError}[kind]()


@pytest.mark.parametrize(
    ("kind", "told"), [("unpicklable", "Unpicklable: ('as it is'"), ("not again", "NotAgain: 1 2")]
)
def test_of_an_error_that_cannot_be_pickled_the_message_comes(work, kind, told):
    _, pickled, _ = work(fail, kind)
    error = pickle.loads(pickled)
    assert type(error) is RuntimeError
    assert str(error).startswith(told)


def test_a_lost_object_is_no_failure_of_the_function(work):
    with pytest.raises(RayError):
        work(fail, "lost")


def test_a_path_that_is_not_there_is_told_as_it_is(work):
    assert result(work(str, Path("/not/there")))[0] == "/not/there"
