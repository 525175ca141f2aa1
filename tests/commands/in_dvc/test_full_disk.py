"""DVC's databases on a full disk: an end with a message, and nothing to mend when there is room again."""

import sqlite3
import sys
import threading

import pytest
from dvc_data.hashfile.cache import Cache

from tests.small_disk import run_twice, why_not

FILLED = """
import os
from pathlib import Path
from dvc_data.hashfile.cache import Cache

links = Cache("links", type="links")
links["before"] = 1
links.close()
if not Path("filling").exists():
    filling = os.open("filling", os.O_CREAT | os.O_WRONLY)
    try:
        while True:
            os.write(filling, bytes(4096))
    except OSError:
        pass
links["after"] = 2
assert (links["before"], links["after"]) == (1, 2)
"""


@pytest.mark.timeout(60)
def test_a_full_disk_ends_dvc_and_room_mends_it(tmp_path):
    if reason := why_not(tmp_path):
        pytest.skip(f"no small disk can be mounted here: {reason}")
    ran = run_twice([sys.executable, "-c", FILLED], tmp_path / "project", 400)
    assert ran.code == 1
    assert ran.said.endswith("links cannot be written to (disk I/O error); is the disk full?\n"), ran.said
    assert (ran.again, ran.said_again) == (0, "")


def test_a_lock_of_another_process_is_waited_for(tmp_path):
    links = Cache(str(tmp_path), timeout=0, type="links")
    other = sqlite3.connect(tmp_path / "cache.db", isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    end = threading.Timer(0.5, other.execute, ["COMMIT"])
    end.start()
    links["after"] = 2
    assert not end.is_alive()
    assert links["after"] == 2
    other.close()
