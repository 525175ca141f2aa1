"""The artifacts and parameters of the last `dvc repro`, which belong together.

Each artifact is what `dvc.lock` says, and was made from the others there. Hashes are DVC's own, kept by DVC while time,
size and inode of a file stay: the second look at a file costs nothing.
"""

from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

import yaml

from trivium.core.arithmetic import remember
from trivium.core.errors import BadInput
from trivium.core.parameters import Parameters, RunParameters, read_parameters, validate, value_at, values_of
from trivium.core.signatures import Signature, signature_of

LOCK = "dvc.lock"
ANEW = "was made anew after the page or the command had loaded it: start it again, when `make repro` has ended"
P = TypeVar("P", bound=Parameters)
Hashes = dict[PurePosixPath, str]  # by path


class _Lock:
    """The content of `dvc.lock`: by stage the hashes of its inputs, by output its hash and its stage."""

    def __init__(self, file: Path) -> None:
        if not file.exists():
            raise BadInput("not there: run `make repro` first", file=file)
        try:
            # libyaml where there is one: PyYAML's own parser takes seconds.
            stages = yaml.load(file.read_bytes(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))["stages"]
            made = {name: _hashes(stage.get("outs", [])) for name, stage in stages.items()}
            self.inputs = {name: _hashes(stage.get("deps", [])) for name, stage in stages.items()}
        except (OSError, yaml.YAMLError, TypeError, KeyError, AttributeError):
            raise BadInput("it cannot be read; if DVC is writing it, ask again in a moment", file=file) from None
        self.stage_of = {path: name for name, outputs in made.items() for path in outputs}
        self.hashes: Hashes = {path: md5 for outputs in made.values() for path, md5 in outputs.items()}

    def outputs_at(self, path: PurePosixPath) -> list[PurePosixPath]:
        """The output that is at a path or around it, or else those below it."""
        around = next((place for place in (path, *path.parents) if place in self.hashes), None)
        return [around] if around is not None else [output for output in self.hashes if path in output.parents]


def _hashes(entries: list[dict[str, Any]]) -> Hashes:
    return {PurePosixPath(entry["path"]): entry["md5"] for entry in entries if "md5" in entry}


class Artifacts:
    """The artifacts of a project, a DVC repository, that are in use."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._signatures: dict[PurePosixPath, Signature] = {}  # of the outputs in use, as they were loaded
        self._stages: set[str] = set()  # whose inputs were compared

    def use(self, path: str) -> None:
        """Check an artifact, and have `check` look at it again.

        Raises:
            BadInput: `dvc.lock` does not name it, or has another hash, or something it was made from was made anew.
        """
        outputs = self._lock.outputs_at(PurePosixPath(path))
        if not outputs:
            raise BadInput(f"{LOCK} does not know it: run `make repro` first", file=self._root / path)
        for output in outputs:
            if output not in self._signatures:
                self._signatures[output] = signature_of(self._root / output)
                if self._hash(output) != self._lock.hashes[output]:
                    raise BadInput(f"it is not what {LOCK} says: run `make repro` first", file=self._root / output)
                self._check_inputs(output)

    def check(self) -> None:
        """Raise `BadInput` where an artifact in use has another time, size or inode than it had; nothing is read."""
        for output, signature in self._signatures.items():
            if signature_of(self._root / output) != signature:
                raise BadInput(ANEW, file=self._root / output)

    @cached_property
    def _lock(self) -> _Lock:
        return _Lock(self._root / LOCK)

    @cached_property
    def _cache(self) -> Any:
        from dvc.exceptions import DvcException
        from dvc.repo import Repo

        try:
            return Repo(str(self._root)).cache.local
        except DvcException as error:
            raise BadInput(f"no DVC repository: {error}", file=self._root) from None

    def _hash(self, path: PurePosixPath) -> str:
        from dvc_data.hashfile.build import build

        try:
            _, _, tree = build(self._cache, str((self._root / path).absolute()), self._cache.fs, "md5", dry_run=True)
        except FileNotFoundError:
            raise BadInput(ANEW, file=self._root / path) from None
        return str(tree.hash_info.value)

    def _check_inputs(self, output: PurePosixPath) -> None:
        """Compare what an output, and all that it comes from, was made from with what is there now."""
        waiting = [self._lock.stage_of[output]]
        while waiting:
            stage = waiting.pop()
            if stage in self._stages:
                continue
            self._stages.add(stage)
            for path, md5 in self._lock.inputs[stage].items():
                makers = self._lock.outputs_at(path)
                now = self._lock.hashes.get(path)
                if now is None and makers and (self._root / path).exists():  # a part of an output, or several
                    now = self._hash(path)
                if now is not None and now != md5:
                    problem = f"it was made by {stage} from another {path}: run `make repro` first"
                    raise BadInput(problem, file=self._root / output)
                waiting += [self._lock.stage_of[maker] for maker in makers]


def made(root: Path, path: str) -> Path:
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

    def made(self, path: str) -> Path:
        """`made` in this project; `BadInput` also where it does not fit the other artifacts."""
        place = made(self.root, path)
        self.artifacts.use(path)
        return place
