import pytest
import yaml

from trivium.sources.pins import PINS, FilePin, Pins

FULL, OTHER, DIGEST = "ab" * 20, "cd" * 20, "0f" * 32
SOURCE = {"description": "d", "licence": "l", "bytes": 1, "hub": "who/what", "kind": "dataset", "files": {"a.txt": {}}}


@pytest.fixture
def pins(tmp_path):
    def write(**changes):
        entry = {key: value for key, value in (SOURCE | changes).items() if value != "absent"}
        (tmp_path / "pins.yaml").write_text(yaml.safe_dump({"source": entry}))
        return Pins(tmp_path / "pins.yaml")

    return write


def test_committed_pins_are_valid_and_complete():
    for source in Pins(PINS).sources.values():
        assert (source.hub is None) == (source.kind is None)
        assert (source.hub is None) != (source.url is None)
        assert (source.files is None) != (source.list is None)
        assert source.hub or not source.list
        assert all(pin.sha256 is None or len(pin.sha256) == 64 for pin in (source.files or {}).values())


def test_recorded_digest_is_kept_for_the_next_run_and_said(pins, tmp_path, capsys):
    first = pins(revision=FULL)
    first.record_file("source", "a.txt", FilePin(sha256=DIGEST, size=7))
    assert "warning: source: a.txt" in capsys.readouterr().err
    again = Pins(tmp_path / "pins.yaml")
    assert (again.file("source", "a.txt").sha256, again.file("source", "a.txt").size) == (DIGEST, 7)
    assert "a.txt" in (tmp_path / "pins.lock.yaml").read_text()
    assert "sha256" not in (tmp_path / "pins.yaml").read_text(), "people's file is left alone"


@pytest.mark.parametrize("text", ["", "# Recorded at the first download; commit this file.\n"])
def test_emptied_records_are_made_anew(pins, tmp_path, text):
    pins(revision=FULL).record_file("source", "a.txt", FilePin(sha256=DIGEST, size=7))
    (tmp_path / "pins.lock.yaml").write_text(text)
    assert pins(revision=FULL).file("source", "a.txt") == FilePin()


def test_pinned_digest_is_never_recorded_over(pins, tmp_path):
    mine = pins(revision=FULL, files={"a.txt": {"sha256": DIGEST}})
    mine.record_file("source", "a.txt", FilePin(sha256="1" * 64, size=7))
    assert mine.file("source", "a.txt").sha256 == DIGEST
    assert not (tmp_path / "pins.lock.yaml").exists()


def test_another_revision_starts_from_nothing(pins):
    pins(revision=FULL).record_file("source", "a.txt", FilePin(sha256=DIGEST, size=7))
    assert pins(revision=OTHER).file("source", "a.txt").sha256 is None
    assert pins(revision=FULL).file("source", "a.txt").sha256 == DIGEST


def test_abbreviated_revision_is_completed_by_the_record(pins):
    short = pins(revision=FULL[:7])
    assert short.revision("source") is None
    short.record_revision("source", FULL)
    assert pins(revision=FULL[:7]).revision("source") == FULL
    assert pins(revision=None).revision("source") == FULL
    assert pins(revision=OTHER[:7]).revision("source") is None


def test_two_writers_keep_both_records(tmp_path):
    (tmp_path / "pins.yaml").write_text(yaml.safe_dump({"one": SOURCE, "two": SOURCE}))
    first, second = Pins(tmp_path / "pins.yaml"), Pins(tmp_path / "pins.yaml")
    first.record_file("one", "a.txt", FilePin(sha256=DIGEST, size=1))
    second.record_file("two", "a.txt", FilePin(sha256=DIGEST, size=1))
    assert Pins(tmp_path / "pins.yaml").file("one", "a.txt").sha256 == DIGEST
    assert Pins(tmp_path / "pins.yaml").file("two", "a.txt").sha256 == DIGEST
