"""Runs cases of a reader: hypothesis draws them, shrinks the first that fails, and it is kept."""

import hashlib
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings

from tests.fuzz.readers import READERS, Reader, check
from trivium.errors import BadInput

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


def fuzz(name: str, folder: Path, cases: int, seed: str) -> bytes | None:
    """Try that many cases of a reader; the smallest that fails, if one does.

    Args:
        name: of `READERS`.
        folder: where files are written.
        cases: how many.
        seed: the same seed draws the same cases.
    """
    reader, failed = READERS[name], []

    @hypothesis.seed(int.from_bytes(hashlib.sha256(f"{name} {seed}".encode()).digest()[:8]))
    @settings(
        max_examples=cases,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    @given(reader.cases)
    def run(data: bytes) -> None:
        try:
            try_case(reader, data, folder)
        except BaseException:
            failed.append(data)
            raise

    try:
        run()
    except Exception:
        if not failed:
            raise
        return failed[-1]  # hypothesis ends with the smallest
    return None


def keep(name: str, data: bytes) -> Path:
    """Write a case to `finds/`, where the tests try it from now on."""
    path = FINDS / name / hashlib.sha256(data).hexdigest()[:12]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path
