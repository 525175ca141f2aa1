"""Benches on small inputs: what they write."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench import harness


def called(function: Callable[..., object], *arguments: Any, **options: Any) -> float:
    """In place of `harness.peak_memory`: the call, in this process."""
    function(*arguments, **options)
    return 1.0


@pytest.fixture
def figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], dict[str, Any]]:
    """The figures of a bench, once its `main` has run."""
    monkeypatch.setattr(harness, "FOLDER", tmp_path)
    monkeypatch.setattr(harness, "peak_memory", called)
    return lambda name: json.loads((tmp_path / f"{name}.json").read_text())
