"""Cases of a reader: the tests let hypothesis draw and shrink them, `make fuzz` draws them by number."""

import hashlib
from collections.abc import Iterable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from random import Random

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.fuzz.readers import READERS, Reader, check
from trivium.core.errors import BadInput

FINDS = Path(__file__).parent / "finds"


def try_case(reader: Reader, data: bytes, folder: Path) -> None:
    """Fail unless the file is refused with its name, or read as valid records."""
    path = folder / reader.file
    path.unlink(missing_ok=True)  # a new file: threads of a reader that gave up may still look into the old one
    path.write_bytes(data)
    message = None
    try:
        with redirect_stdout(StringIO()):
            read = reader.read(path)
    except BadInput as error:
        message = str(error)
    if message is None:
        check(read)
    else:
        assert str(folder) in message, "the message names no file"


def fuzz(name: str, folder: Path, cases: int) -> None:
    """Let hypothesis draw that many cases of a reader, the same each time; fails with the smallest that fails.

    Args:
        name: of `READERS`.
        folder: where files are written.
        cases: how many.
    """
    reader = READERS[name]

    @hypothesis.seed(int.from_bytes(hashlib.sha256(name.encode()).digest()[:8]))
    @settings(
        max_examples=cases,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    @given(st.randoms(use_true_random=False).map(reader.cases))
    def run(data: bytes) -> None:
        try_case(reader, data, folder)

    run()


def first_failure(name: str, folder: Path, seed: str, numbers: Iterable[int]) -> bytes | None:
    """Try cases of a reader by their numbers; the first that fails, if one does.

    Args:
        name: of `READERS`.
        folder: where files are written.
        seed: the same seed and number draw the same case.
        numbers: of the cases.
    """
    reader = READERS[name]
    for number in numbers:
        data = reader.cases(Random(f"{name} {seed} {number}"))
        try:
            try_case(reader, data, folder)
        except Exception:  # whatever it is, it is what is looked for
            return data
    return None


def keep(name: str, data: bytes) -> Path:
    """Write a case to `finds/`, where the tests try it from now on."""
    path = FINDS / name / hashlib.sha256(data).hexdigest()[:12]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path
