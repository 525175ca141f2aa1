import errno
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from stages import tables
from stages.measures.runs import Qrels, Run
from stages.stage import BadInput


@pytest.mark.parametrize("folder", [False, True])
def test_a_failed_write_leaves_the_old_target_and_nothing_else(tmp_path, folder):
    target = tmp_path / "target"

    def write(text):
        with tables.write_atomically(target) as beside:
            if folder:
                beside.mkdir()
            file = beside / "file" if folder else beside
            file.write_text(text)
            if text == "bad":
                raise OSError(errno.ENOSPC, "disk full")

    write("good")
    with pytest.raises(OSError, match="No space left on device.*target"):
        write("bad")
    assert (target / "file" if folder else target).read_text() == "good"
    assert list(tmp_path.iterdir()) == [target]
    write("better")
    assert (target / "file" if folder else target).read_text() == "better"


def test_what_a_killed_writer_left_is_removed_by_the_next(tmp_path):
    (tmp_path / ".a.json.12345678.partial.json").write_text("half")
    (tmp_path / ".b.json.12345678.partial.json").write_text("of another target")
    tables.write_json(tmp_path / "a.json", 1)
    assert sorted(file.name for file in tmp_path.iterdir()) == [".b.json.12345678.partial.json", "a.json"]


KILLED_WHILE_REMOVING = """
import os, signal, sys
from pathlib import Path
from stages.tables import remove_folder, write_atomically

target = Path(sys.argv[1])

def kill(event, arguments):
    if event == "os.remove":  # after the first file
        global removed
        removed += 1
        if removed == 2:
            os.kill(os.getpid(), signal.SIGKILL)

removed = 0
sys.addaudithook(kill)
if sys.argv[2] == "replace":
    with write_atomically(target) as beside:
        beside.mkdir()
        for name in "abc":
            (beside / name).write_text("new")
else:
    remove_folder(target)
"""


@pytest.mark.parametrize(("how", "there"), [("replace", ["new"] * 3), ("remove", None)])
def test_a_kill_while_an_old_folder_is_removed_leaves_no_half_of_it(tmp_path, how, there):
    target = tmp_path / "target"
    target.mkdir()
    for name in "abc":
        (target / name).write_text("old")
    done = subprocess.run(
        [sys.executable, "-c", KILLED_WHILE_REMOVING, str(target), how], cwd=Path(__file__).parents[1], check=False
    )
    assert done.returncode == -signal.SIGKILL
    assert len(list(tmp_path.glob(".target.*.partial/*"))) == 2, "the kill came at another time"
    assert ([file.read_text() for file in target.iterdir()] if target.exists() else None) == there
    with tables.write_atomically(target) as beside:
        beside.mkdir()
    assert list(tmp_path.iterdir()) == [target]


def test_a_kill_between_two_folders_counts_as_none(tmp_path):
    """The old one is away, the new one not yet there: the next writer starts anew."""
    for name in (".target.12345678.partial", ".target.87654321.partial"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text("whole")
    with tables.write_atomically(tmp_path / "target") as beside:
        beside.mkdir()
    assert [path.name for path in tmp_path.iterdir()] == ["target"]


def test_json_refuses_nan_and_names_the_line(tmp_path):
    with pytest.raises(ValueError, match="Out of range float"):
        tables.write_json(tmp_path / "a.json", {"x": float("nan")})
    assert not (tmp_path / "a.json").exists()
    (tmp_path / "b.json").write_text('{"a": 1,\n "b": }')
    with pytest.raises(BadInput, match="b.json:2: not JSON"):
        tables.read_json(tmp_path / "b.json")


def test_json_lines_round_trip_and_bad_row(tmp_path):
    path = tmp_path / "a.jsonl"
    assert tables.write_json_lines(path, [{"a": "é"}, {"a": 2}]) == 2
    assert list(tables.read_json_lines(path)) == [(1, {"a": "é"}), (2, {"a": 2})]
    path.write_text('{"a": 1}\n\n[1]\n')
    with pytest.raises(BadInput, match=r"a.jsonl:3: not a JSON object; got \[1\]"):
        list(tables.read_json_lines(path))


def test_missing_columns_are_named_with_the_choices(tmp_path):
    tables.write_table(tmp_path / "t.parquet", pa.table({"a": [1], "b": [2]}))
    with pytest.raises(BadInput, match=r"missing columns; got \['c'\] \(choices: a, b\)"):
        tables.read_table(tmp_path / "t.parquet", ["a", "c"])
    (tmp_path / "t.parquet").write_bytes(b"PAR1 not really")
    with pytest.raises(BadInput, match="not a readable Parquet file"):
        tables.read_table(tmp_path / "t.parquet")


def test_run_round_trip_keeps_every_digit(tmp_path):
    run = Run.from_dict({"q1": {7: 1.0, 3: 1.0 - 1e-8, 9: 0.1 + 0.2}, "q2": {1: -5.0}}, depth=3, name="toy")
    tables.write_run(tmp_path / "r.trec", run)
    back = tables.read_run(tmp_path / "r.trec")
    assert back.queries == run.queries
    assert back.name == "toy"
    np.testing.assert_array_equal(back.documents, [[7, 3, 9], [1, -1, -1]])
    np.testing.assert_array_equal(back.scores, run.scores)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q Q0 1 1 0.5\n", "r.trec:1: wrong number of columns; got 5"),
        ("q Q0 d1 1 0.5 t\n", "field 'document': not a document number; got 'd1'"),
        ("q Q0 1 1 nan t\n", "field 'score': NaN"),
        ("q Q0 1 1 x t\n", "field 'score': not a number; got 'x'"),
        ("q Q0 1 1 2 t\nq Q0 1 2 1 t\n", "r.trec:2: field 'document': document twice"),
        ("", "empty run"),
    ],
)
def test_bad_runs(tmp_path, text, message):
    (tmp_path / "r.trec").write_text(text)
    with pytest.raises(BadInput, match=message):
        tables.read_run(tmp_path / "r.trec")


def test_qrels_keep_queries_without_relevant_documents(tmp_path):
    qrels = Qrels(("q1", "q2"), (np.array([3, 5]), np.array([], dtype=np.int64)))
    tables.write_qrels(tmp_path / "q", qrels)
    back = tables.read_qrels(tmp_path / "q")
    assert back.queries == ("q1", "q2")
    assert [relevant.tolist() for relevant in back.relevant] == [[3, 5], []]


@pytest.mark.parametrize("read", [lambda path: list(tables.read_json_lines(path)), tables.read_run, tables.read_qrels])
def test_a_file_that_is_missing_or_not_utf_8_is_named(tmp_path, read):
    path = tmp_path / "lines"
    with pytest.raises(BadInput, match="lines: no such file"):
        read(path)
    path.write_bytes("été\n".encode("latin-1"))
    with pytest.raises(BadInput, match="lines:1: not UTF-8"):
        read(path)


@pytest.mark.parametrize("shard_size", [1, 40, 100])
def test_images_by_name_and_in_order(tmp_path, shard_size):
    images = [(f"{number}.jpg", bytes([number]) * 3) for number in range(90)]
    assert tables.write_images(tmp_path / "images", images, shard_size=shard_size) == 90
    stored = tables.Images(tmp_path / "images")
    assert list(stored.stream()) == images
    assert [stored.read(name) for name in ("89.jpg", "0.jpg", "41.jpg")] == [bytes([n]) * 3 for n in (89, 0, 41)]
    assert "90.jpg" not in stored
    with pytest.raises(BadInput, match="no such image"):
        stored.read("90.jpg")


def test_image_name_twice(tmp_path):
    tables.write_images(tmp_path / "images", [("a", b"1"), ("a", b"2")])
    with pytest.raises(BadInput, match="image name twice"):
        tables.Images(tmp_path / "images")


def test_matrix_is_memory_mapped_and_absent_after_failure(tmp_path):
    path = tmp_path / "m.npy"
    with tables.write_matrix(path, 3, 2) as matrix:
        matrix[1] = [1, 2]
    back = tables.read_matrix(path)
    assert isinstance(back, np.memmap)
    assert back.dtype == np.float16
    np.testing.assert_array_equal(back, [[0, 0], [1, 2], [0, 0]])
    with pytest.raises(RuntimeError), tables.write_matrix(tmp_path / "n.npy", 3, 2):
        raise RuntimeError
    assert [file.name for file in tmp_path.iterdir()] == ["m.npy"]


@pytest.mark.parametrize("chunk", [1, 2, 100])
def test_not_finite_names_the_row(tmp_path, chunk):
    matrix = np.ones((5, 2), np.float16)
    tables.check_finite(matrix, tmp_path, chunk)
    matrix[3, 1] = np.nan
    with pytest.raises(BadInput, match=":4: NaN"):
        tables.check_finite(matrix, tmp_path, chunk)


def test_run_over_given_questions(tmp_path):
    (tmp_path / "r.trec").write_text("b Q0 7 1 2.0 t\n")
    run = tables.read_run_over(tmp_path / "r.trec", ["a", "b"])
    assert run.queries == ("a", "b")
    np.testing.assert_array_equal(run.documents, [[-1], [7]])
    with pytest.raises(BadInput, match="r.trec: the run is not about these questions"):
        tables.read_run_over(tmp_path / "r.trec", ["a"])
