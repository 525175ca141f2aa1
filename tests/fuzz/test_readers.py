"""No file, whatever is in it, makes a reader fail in any way but `BadInput`."""

from pathlib import Path

import pytest

from tests.fuzz.fuzzing import FINDS, fuzz, try_case
from tests.fuzz.readers import READERS

CASES = 500


@pytest.mark.parametrize("name", READERS)
def test_each_case_is_a_clean_refusal_or_a_valid_record(name: str, tmp_path: Path):
    found = fuzz(name, tmp_path, CASES, "tests")
    if found is not None:
        try_case(READERS[name], found, tmp_path)


@pytest.mark.parametrize("find", sorted(FINDS.glob("*/*")), ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_was_found_once_stays_mended(find: Path, tmp_path: Path):
    try_case(READERS[find.parent.name], find.read_bytes(), tmp_path)
