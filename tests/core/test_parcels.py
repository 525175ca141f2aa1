"""Objects and the files that they name, packed and unpacked in one process."""

import tempfile
from dataclasses import FrozenInstanceError, dataclass
from pathlib import Path

import numpy as np
import pytest

from trivium.core import parcels
from trivium.core.errors import BadInput
from trivium.core.matrices import MatrixRows
from trivium.core.parcels import InFolder, InMessage, InObjects, Packer, content, dumps, fetch, loads


@dataclass(frozen=True)
class Order:
    name: str
    file: Path
    parts: tuple[Path, ...] = ()


@pytest.fixture(params=["message", "folder", "objects"])
def store(request, tmp_path, monkeypatch):
    """Each kind of store; Ray's objects are a list here."""
    kept = []
    monkeypatch.setattr(parcels.ray, "put", lambda chunk: kept.append(chunk) or len(kept) - 1)
    monkeypatch.setattr(parcels.ray, "get", kept.__getitem__)
    return {"message": InMessage(), "objects": InObjects(), "folder": InFolder(str(tmp_path / "store"))}[request.param]


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "given"
    (made / "b" / "empty").mkdir(parents=True)
    (made / "b" / "file.bin").write_bytes(bytes(range(256)))
    (made / "a.txt").write_text("")
    return made


@pytest.mark.parametrize("chunk", [100, 128, 256, 300])
def test_content_arrives_as_it_was_however_it_is_cut(store, folder, tmp_path, monkeypatch, chunk):
    monkeypatch.setattr(parcels, "_CHUNK", chunk)
    _, listed = content(folder, store)
    assert [(name, kept is None) for name, kept in listed] == [
        ("a.txt", False),
        ("b", True),
        ("b/empty", True),
        ("b/file.bin", False),
    ]
    fetch(listed, tmp_path / "deep" / "there", store)
    there = tmp_path / "deep" / "there"
    assert {path.relative_to(there).as_posix() for path in there.rglob("*")} == {name for name, _ in listed}
    assert (there / "b" / "file.bin").read_bytes() == bytes(range(256))
    assert (there / "a.txt").read_bytes() == b""
    assert (there / "b" / "empty").is_dir()


def test_a_file_alone_arrives_as_a_file(store, folder, tmp_path):
    _, listed = content(folder / "b" / "file.bin", store)
    assert [name for name, _ in listed] == [""]
    fetch(listed, tmp_path / "deep" / "file.bin", store)
    assert (tmp_path / "deep" / "file.bin").read_bytes() == bytes(range(256))


def test_a_folder_of_one_file_stays_a_folder(store, tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "x").write_text("x")
    fetch(content(tmp_path / "one", store)[1], tmp_path / "two", store)
    assert (tmp_path / "two" / "x").read_text() == "x"


def test_nothing_is_written_over(folder, tmp_path):
    _, listed = content(folder, InMessage())
    (tmp_path / "there").mkdir()
    with pytest.raises(FileExistsError):
        fetch(listed, tmp_path / "there", InMessage())


def test_a_digest_is_of_names_and_bytes_wherever_they_lie(folder, tmp_path, monkeypatch):
    def digest():
        return content(folder, InMessage())[0]

    first = digest()
    monkeypatch.setattr(parcels, "_CHUNK", 7)
    assert digest() == first
    (folder / "a.txt").rename(folder / "c.txt")
    renamed = digest()
    (folder / "c.txt").write_text("c")
    filled = digest()
    (folder / "b" / "empty").rmdir()
    assert len({first, renamed, filled, digest()}) == 4
    (tmp_path / "else").mkdir()
    for at, text in (("else/given", "1"), ("else/other", "1"), ("given.txt", "1")):
        (tmp_path / at).write_text(text)
    same, named, _ = (content(tmp_path / at, InMessage())[0] for at in ("else/given", "else/other", "given.txt"))
    assert same != named


def test_a_folder_of_storage_keeps_equal_bytes_once_and_notices_others(tmp_path):
    store = InFolder(str(tmp_path / "store"))
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"same")
    kept = store.put(tmp_path / "a")
    (file,) = (tmp_path / "store").iterdir()
    before = file.stat().st_ino
    assert store.put(tmp_path / "b") == kept
    assert [(path.name, path.stat().st_ino) for path in (tmp_path / "store").iterdir()] == [(kept, before)]
    assert b"".join(store.chunks(kept)) == b"same"
    file.write_bytes(b"else")
    with pytest.raises(BadInput, match=rf"{kept}: not the bytes that were written; got '\w{{64}}'"):
        list(store.chunks(kept))


def unpack(parcel, folder):
    """What a parcel holds, with content in folders by their digests, and the kinds of its places."""
    pickled, contents = parcel
    kinds = []

    def path(place):
        kinds.append(place[0])
        if place[0] == "content":
            there = folder / place[1] / Path(place[2]).name
            if not there.exists():
                fetch(contents[place[1]], there, InMessage())
            return there
        return Path("out", place[1]) if place[0] == "out" else Path(place[1])

    return loads(pickled, path), kinds


def test_paths_travel_as_content_as_places_or_as_text(folder, tmp_path):
    out = tmp_path / "out"
    (out / "inner").mkdir(parents=True)
    (out / "read.txt").write_text("read")
    order = Order("x", folder, (out, out / "inner", out / "new", out / "read.txt", tmp_path / "absent"))
    found, kinds = unpack(Packer(InMessage(), out).pack(order), tmp_path / "there")
    assert kinds == ["content", "out", "out", "out", "content", "text"]
    assert found.name == "x"
    assert (found.file / "b" / "file.bin").read_bytes() == bytes(range(256))
    assert found.parts[:3] == (Path("out"), Path("out/inner"), Path("out/new"))
    assert found.parts[3].read_text() == "read"
    assert found.parts[4] == tmp_path / "absent"


def test_without_a_folder_for_results_what_is_there_is_content(folder, tmp_path):
    _, kinds = unpack(Packer(InMessage()).pack([folder, tmp_path / "absent"]), tmp_path / "there")
    assert kinds == ["content", "text"]


def test_what_a_function_names_is_read_once_and_what_a_shard_names_each_time(folder):
    read = []

    class Store(InMessage):
        def put(self, file):
            read.append(file.name)
            return super().put(file)

    packer = Packer(Store())
    shard, known = folder / "a.txt", folder / "b" / "file.bin"
    packer.pack(known, remember=True)
    assert packer.pack([known, shard])[1].keys() == {content(path, InMessage())[0] for path in (known, shard)}
    packer.pack(shard)
    assert read == ["file.bin", "a.txt", "a.txt"]


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(("start", "stop"), [(3, 6), (0, 4), (9, 10), (0, 10), (5, 5)])
def test_of_a_matrix_only_the_rows_that_are_asked_for_travel(tmp_path, monkeypatch, dtype, order, start, stop):
    matrix = np.random.default_rng(0).standard_normal((10, 400)).astype(dtype)
    np.save(tmp_path / "kb.npy", np.asarray(matrix, order=order))
    monkeypatch.setattr(parcels, "_CHUNK", 1000)
    order_of_rows = Order("x", tmp_path / "absent", (MatrixRows(tmp_path / "kb.npy", start, stop),))
    pickled, contents = Packer(InMessage()).pack(order_of_rows)
    ((listed,),) = contents.values()
    size = 128 + matrix[start:stop].nbytes  # NumPy's header, and the rows
    assert [len(chunk) for chunk in listed[1]] == [min(1000, size - at) for at in range(0, size, 1000)]
    assert len(pickled) < 1000
    found, kinds = unpack((pickled, contents), tmp_path / "there")
    assert kinds == ["text", "content"]
    (rows,) = found.parts
    assert (rows.start, rows.stop, rows.path.name) == (start, stop, "kb.npy")
    assert rows.path.is_relative_to(tmp_path / "there")
    assert rows.path.stat().st_size == size
    assert rows.read().dtype == dtype
    assert rows.read().tobytes() == matrix[start:stop].tobytes()


def test_rows_have_a_digest_of_their_own_and_nothing_is_left_where_they_were_packed(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    np.save(tmp_path / "kb.npy", np.arange(10))
    ranges = [(3, 6), (3, 6), (2, 6)]
    packed = [Packer(InMessage()).pack(MatrixRows(tmp_path / "kb.npy", *rows)) for rows in ranges]
    assert packed[0] == packed[1]  # a stage that is started again knows its shards by their pickles
    assert packed[0][0] != packed[2][0]
    assert packed[0][1].keys() != packed[2][1].keys()
    assert list((tmp_path / "temporary").iterdir()) == []


def test_rows_in_a_result_name_the_file_of_the_stage(tmp_path):
    rows = MatrixRows(tmp_path / "kb.npy", 3, 6)
    assert loads(dumps(rows, lambda path: ("text", str(path))), lambda place: Path(place[1])) == rows


def test_functions_of_a_script_travel_by_value():
    """As those of a module that is run, which a worker has under another name."""
    scope = {"__name__": "__main__"}
    exec("def double(x):\n    return 2 * x\n", scope)
    assert loads(dumps(scope["double"], lambda path: ("text", str(path))), lambda place: Path(place[1]))(4) == 8


def test_a_store_does_not_change(store):
    with pytest.raises(FrozenInstanceError):
        store.address = "elsewhere"
