"""The tests of a module are those that import it, its own room's first."""

from tests.mutation.nearest import nearest


def test_rooms_and_steps(tmp_path):
    files = {
        "trivium/formats/record.py": "",
        "trivium/formats/reader.py": "from trivium.formats import record",
        "trivium/kvqae/user.py": "def load():\n    import trivium.formats.record",
        "tests/formats/test_record.py": "from trivium.formats.record import read",
        "tests/formats/test_reader.py": "from trivium.formats.reader import read",
        "tests/formats/test_other.py": "import json",
        "tests/formats/test_also.py": "from trivium.formats import record, reader",
        "tests/kvqae/test_near.py": "import trivium.formats.record",
        "tests/kvqae/test_far.py": "from trivium.kvqae import user",
        "tests/end_to_end/test_all.py": "import trivium.formats.record",
        "trivium/formats/alone.py": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)

    def names(module: str) -> tuple[list[str], ...]:
        return tuple([file.stem for file in group] for group in nearest(tmp_path, module))

    assert names("trivium/formats/record.py") == (["test_record", "test_also"], ["test_reader", "test_near"])
    assert names("trivium/formats/reader.py") == (["test_reader", "test_also"], [])
    assert names("trivium/kvqae/user.py") == (["test_far"], [])
    assert names("trivium/formats/alone.py") == ([], [])
