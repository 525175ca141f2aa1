import subprocess
import sys
from pathlib import Path

import pytest

from trivium.kvqae.retrieval.lucene_segments import forget_machine

BUILD = """
import sys
from pathlib import Path
from trivium.kvqae.retrieval.lucene import build_index
documents = [(number, f"word{number % 7} and{number % 3} {'long ' * (number % 11)}text") for number in range(3000)]
build_index(Path(sys.argv[1]), documents, analyzer="standard", threads=1, heap_gib=1)
"""


def built(folder):
    subprocess.run([sys.executable, "-c", BUILD, str(folder)], check=True, cwd=Path(__file__).parents[3])
    return {path.name: path.read_bytes() for path in sorted((folder / "lucene").iterdir())}


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lucene") / "index"
    return folder / "lucene", built(folder)


def test_equal_documents_give_equal_files(index, tmp_path):
    """In another Java machine, which hashes in another order, at another time."""
    _, files = index
    assert files == built(tmp_path / "again")
    segment = next(content for name, content in files.items() if name.endswith(".si"))
    assert b"timestamp\0" in segment
    assert b"Eclipse" not in segment
    assert b"lucene.version" in segment


def test_forgetting_twice_changes_nothing(index):
    folder, files = index
    forget_machine(folder)
    assert files == {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("damage", [lambda content: content[:-1], lambda content: b"x" + content[1:], lambda _: b""])
def test_a_damaged_segment_is_named(tmp_path, index, damage):
    folder, _ = index
    (tmp_path / "_0.si").write_bytes(damage(next(folder.glob("*.si")).read_bytes()))
    with pytest.raises(ValueError, match=r"_0\.si: not a description of a segment"):
        forget_machine(tmp_path)
