"""What the last `dvc repro` made in a project, and its parameters."""

from pathlib import Path
from typing import Any, TypeVar

from trivium.core.arithmetic import remember
from trivium.core.errors import BadInput
from trivium.core.lock import Artifacts
from trivium.core.parameters import Parameters, RunParameters, read_parameters, validate, value_at, values_of

P = TypeVar("P", bound=Parameters)


def require(root: Path, path: str) -> Path:
    """A file or folder that the graph writes; `BadInput` where it is not there."""
    if not (root / path).exists():
        raise BadInput("not there: run `make repro` first", file=root / path)
    return root / path


class Project:
    """A folder with `params.yaml`, `data/`, `models/` and `metrics/`; precision is as in its stages."""

    def __init__(self, root: Path) -> None:
        self.root, self._file = root, root / "params.yaml"
        self._tree = read_parameters(self._file)
        self.artifacts = Artifacts(root)
        remember(validate(RunParameters, self._tree.get("run") or {}, "run", self._file).portable)

    def section(self, name: str, model: type[P]) -> P:
        """A section of `kvqae`, as its stage reads it."""
        values = values_of(self._tree, f"kvqae.{name}", model, self._file, {})
        return validate(model, values, f"kvqae.{name}", self._file)

    def value(self, key: str) -> Any:
        """The value of a key of `kvqae`."""
        return value_at(self._tree, self._file, f"kvqae.{key}")

    def require(self, path: str) -> Path:
        """`require` in this project; `BadInput` also where it does not fit the other artifacts."""
        place = require(self.root, path)
        self.artifacts.use(path)
        return place
