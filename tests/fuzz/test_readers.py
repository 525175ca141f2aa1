"""No file, whatever is in it, makes a reader fail in any way but `BadInput`."""

import dataclasses
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

from tests.fuzz import readers
from tests.fuzz.fuzzing import FINDS, first_failure, fuzz, try_case
from tests.fuzz.readers import READERS
from trivium import formats
from trivium.core.errors import BadInput

CASES, SHRUNK = 500, 100


ELSEWHERE = {
    "read_conllu": "load_conllu without its counts",
    "read_examples": "read_texts, then load_examples",
    "read_json_or_lines": "what read_answers and read_question_set begin with",
    "read_run_over": "read_run, then a comparison of questions",
}


def test_every_reader_of_formats_is_tried():
    """`readers.py` imports those that it tries, and no other."""
    modules = [import_module(f"{formats.__name__}.{each.name}") for each in iter_modules(formats.__path__)]
    others = {
        name
        for module in modules
        for name, found in vars(module).items()
        if name.startswith(("read_", "load_"))
        and found.__module__ == module.__name__
        and vars(readers).get(name) is not found
    }
    assert others == set(ELSEWHERE)


@pytest.mark.parametrize("name", READERS)
def test_each_case_is_a_clean_refusal_or_a_valid_record(name: str, tmp_path: Path):
    """Hypothesis shrinks what fails of its cases; it takes as long for one as a plain generator takes for ten."""
    fuzz(name, tmp_path, SHRUNK)
    assert first_failure(name, tmp_path, "tests", range(CASES - SHRUNK)) is None


@pytest.mark.parametrize("find", sorted(FINDS.glob("*/*")), ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_was_found_once_stays_mended(find: Path, tmp_path: Path):
    try_case(READERS[find.parent.name], find.read_bytes(), tmp_path)


def _careless(path: Path) -> str:
    """A reader that refuses nothing, and passes over UTF-8 that is none."""
    return path.read_bytes().decode("utf-8", "surrogateescape")


def _nameless(path: Path) -> str:
    """A reader whose message names no file."""
    raise BadInput("something is wrong")


@pytest.mark.parametrize("read", [_careless, _nameless])
def test_a_reader_that_is_wrong_is_found_in_both_ways(read, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(READERS, "wrong", dataclasses.replace(READERS["trec_run"], read=read))
    with pytest.raises((UnicodeEncodeError, AssertionError)):
        fuzz("wrong", tmp_path, CASES)
    found = first_failure("wrong", tmp_path, "0", range(CASES))
    assert found is not None
    assert first_failure("wrong", tmp_path, "0", range(CASES)) == found
