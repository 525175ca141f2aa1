"""The temporary folder goes with its server, or at the next start."""

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from trivium.commands.page_server.folders import PREFIX, remove_left_overs, temporary_folder

SERVER = """
import signal
from trivium.commands.page_server.folders import temporary_folder
with temporary_folder() as folder:
    (folder / "upload.jpg").write_text("x")
    print(folder, flush=True)
    signal.pause()
"""


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_folder_goes_at_the_end(place):
    with temporary_folder() as folder:
        (folder / "upload.jpg").write_text("x")
        assert folder.parent == place
    assert list(place.iterdir()) == []


def test_what_a_killed_server_left_goes_at_the_next_start_and_what_a_living_one_has_stays(place):
    environment = {"TMPDIR": str(place), "PYTHONPATH": str(Path.cwd())}
    servers = [
        subprocess.Popen([sys.executable, "-c", SERVER], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    killed, living = (Path(server.stdout.readline().strip()) for server in servers)
    servers[0].send_signal(signal.SIGKILL)
    servers[0].wait()
    assert (killed / "upload.jpg").exists()
    with temporary_folder() as own:
        assert not killed.exists()
        assert (living / "upload.jpg").exists()
        assert own.exists()
    servers[1].kill()
    servers[1].wait()
    for server in servers:
        server.stdout.close()


def test_links_and_files_of_that_name_stay(place):
    (place / "precious").mkdir()
    (place / f"{PREFIX}link").symlink_to(place / "precious")
    (place / f"{PREFIX}file").write_text("x")
    remove_left_overs()
    assert sorted(path.name for path in place.iterdir()) == ["precious", f"{PREFIX}file", f"{PREFIX}link"]
