"""What pytest is told in the forked process: which tests are asked, in which order, and what is noted of them.

The quickest test comes first, whatever its file, because most mutants are noticed by many tests. A test's time has the
times of the fixtures that it uses in it, also where another test has made them.
"""

import json
import resource
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

Seconds = tuple[float, float]  # of the clock, and of the processor


@dataclass(eq=False)
class Chosen:
    """Asks some of the tests that are found, and notes the first that fails.

    Attributes:
        file: where its name is noted.
        seconds: of the clock that the tests take which are asked; None: all are asked, in their own order.
    """

    file: Path
    seconds: Mapping[str, float] | None = None

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave the others out."""
        if (seconds := self.seconds) is not None:
            chosen = [item for item in items if item.nodeid in seconds]
            items[:] = sorted(chosen, key=lambda item: seconds[item.nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test has failed, or not."""
        if report.failed and not self.file.exists():
            self.file.write_text(report.nodeid)


@dataclass(eq=False)
class Stopwatch:
    """Notes how long each test takes.

    Attributes:
        file: gets them as JSON: name to `Seconds`.
    """

    file: Path
    _fixtures: dict[str, Seconds] = field(default_factory=dict)
    _tests: dict[str, tuple[Seconds, list[str]]] = field(default_factory=dict)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
        """A fixture is made; the longest time counts."""
        before = _now()
        result = yield
        took, known = _since(before), self._fixtures.get(fixturedef.argname, (0.0, 0.0))
        self._fixtures[fixturedef.argname] = max(took, known)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Function) -> Iterator[None]:
        """A test is run."""
        before = _now()
        result = yield
        self._tests[item.nodeid] = (_since(before), item.fixturenames)
        return result

    def pytest_sessionfinish(self) -> None:
        """All were run."""
        told = {}
        for name, (own, fixtures) in self._tests.items():
            parts = [own, *(self._fixtures[each] for each in fixtures if each in self._fixtures)]
            told[name] = [round(sum(column), 3) for column in zip(*parts, strict=True)]
        self.file.write_text(json.dumps(told))


def _now() -> Seconds:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return time.monotonic(), sum(one.ru_utime + one.ru_stime for one in used)


def _since(before: Seconds) -> Seconds:
    clock, processor = _now()
    return clock - before[0], processor - before[1]
