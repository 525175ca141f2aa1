"""Outputs and parameters of the last `dvc repro` in a project."""

from pathlib import Path
from typing import Any, TypeVar

from trivium.core.arithmetic import remember
from trivium.core.errors import BadInput
from trivium.core.lock import Artifacts
from trivium.core.parameters import Parameters, RunParameters, read_parameters, validate, value_at, values_of

P = TypeVar("P", bound=Parameters)


def require(root: Path, path: str) -> Path:
    """Return the path of an output of the graph; `BadInput`: it does not exist."""
    if not (root / path).exists():
        raise BadInput("not there: run `make repro` first", file=root / path)
    return root / path


class Project:
    """A folder with `params.yaml`, `data/`, `models/` and `metrics/`; sets the precision that its stages have."""

    def __init__(self, root: Path) -> None:
        self.root, self._file = root, root / "params.yaml"
        self._tree = read_parameters(self._file)
        self.artifacts = Artifacts(root)
        remember(validate(RunParameters, self._tree.get("run") or {}, "run", self._file).portable)

    def section(self, name: str, model: type[P]) -> P:
        """Read a section of `kvqae`, as its stage does."""
        values = values_of(self._tree, f"kvqae.{name}", model, self._file, {})
        return validate(model, values, f"kvqae.{name}", self._file)

    def value(self, key: str) -> Any:
        """Read the value of a key of `kvqae`."""
        return value_at(self._tree, self._file, f"kvqae.{key}")

    def require(self, path: str) -> Path:
        """Return the path of an output of this project; `BadInput`: it is missing, or does not fit the others."""
        place = require(self.root, path)
        self.artifacts.use(path)
        return place
