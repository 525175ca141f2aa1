"""Reading `dvc.lock`: which stage made an output, what that depends on, and whether artifacts belong together."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from trivium.core.errors import BadInput
from trivium.core.reading import Signature, signature_of

LOCK = "dvc.lock"
ANEW = "was made anew after the page or the command had loaded it: start it again, when `make repro` has ended"


def read_lock(project: Path) -> dict[str, Any]:
    """The stages of `dvc.lock` that run a command; `BadInput`: it is not there, or not whole."""
    file = project / LOCK
    if not file.is_file():
        raise BadInput("not there: run `make repro` first", file=file)
    try:
        # libyaml, where it is there: PyYAML's own parser takes seconds.
        stages = yaml.load(file.read_bytes(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))["stages"]
        stages = {name: stage for name, stage in stages.items() if stage["cmd"]}
        entries = [entry for stage in stages.values() for kind in ("deps", "outs") for entry in stage.get(kind, ())]
        if not all(entry["path"] for entry in entries):
            raise KeyError("path")
        return stages
    except (OSError, yaml.YAMLError, TypeError, KeyError, AttributeError):
        raise BadInput("it cannot be read; if DVC is writing it, try again in a moment", file=file) from None


def outputs_of(lock: Mapping[str, Any]) -> dict[str, str]:
    """{path of an output: the stage that made it}."""
    return {out["path"]: name for name, stage in lock.items() for out in stage.get("outs", ())}


def hashes_of(stages: Iterable[Mapping[str, Any]], kind: str) -> dict[str, str]:
    """{path: hash} of what stages of `dvc.lock` have read (`deps`) or written (`outs`)."""
    return {entry["path"]: entry["md5"] for stage in stages for entry in stage.get(kind, ()) if "md5" in entry}


def ancestors_of(lock: Mapping[str, Any], targets: Iterable[str]) -> list[str]:
    """The targets and all stages that they depend on, sorted by name; `lock` as `read_lock` returns it."""
    made_by = outputs_of(lock)
    makers: defaultdict[str, set[str]] = defaultdict(set)  # of what lies at a path, or below it
    for out, stage in made_by.items():
        for path in (out, *folders_of(out)):
            makers[path].add(stage)
    stages: set[str] = set()
    waiting = list(targets)
    while waiting:
        if (stage := waiting.pop()) not in stages:
            stages.add(stage)
            for path in (dep["path"] for dep in lock[stage].get("deps", ())):
                waiting += [*makers[path], *(made_by[folder] for folder in folders_of(path) if folder in made_by)]
    return sorted(stages)


def folders_of(path: str) -> list[str]:
    """The folders that a path lies in, the innermost first."""
    return [str(folder) for folder in PurePosixPath(path).parents][:-1]


def value_in(tree: Any, key: str) -> Any:
    """The value at a dotted key of parameters as `dvc.lock` has them, numbers for places in lists; or None."""
    for part in key.split("."):
        step = dict(enumerate(tree)) if isinstance(tree, list) else tree
        tree = step.get(int(part) if isinstance(tree, list) else part) if isinstance(step, dict) else None
    return tree


class Artifacts:
    """The artifacts of a project, a DVC repository, that are in use, and belong together.

    Each is what `dvc.lock` says, and was made from the others there. Hashes are DVC's own, kept by DVC while time, size
    and inode of a file stay: the second look at a file costs nothing.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._signatures: dict[str, Signature] = {}  # of the outputs in use, as they were loaded
        self._compared: set[str] = set()  # the stages whose inputs were

    def use(self, path: str) -> None:
        """Check an artifact, and have `check` look at it again.

        Raises:
            BadInput: `dvc.lock` does not name it, or has another hash, or something it was made from was made anew.
        """
        if not (outputs := self._outputs_at(path)):
            raise BadInput(f"{LOCK} does not know it: run `make repro` first", file=self._root / path)
        for output in outputs:
            if output not in self._signatures:
                self._signatures[output] = signature_of(self._root / output)
                if self._hash(output) != self._hashes[output]:
                    raise BadInput(f"it is not what {LOCK} says: run `make repro` first", file=self._root / output)
                self._check_inputs(output)

    def check(self) -> None:
        """Raise `BadInput` where an artifact in use has another time, size or inode than it had; nothing is read."""
        for output, signature in self._signatures.items():
            if signature_of(self._root / output) != signature:
                raise BadInput(ANEW, file=self._root / output)

    @cached_property
    def _lock(self) -> dict[str, Any]:
        return read_lock(self._root)

    @cached_property
    def _hashes(self) -> dict[str, str]:
        return hashes_of(self._lock.values(), "outs")

    @cached_property
    def _cache(self) -> Any:
        from dvc.exceptions import DvcException
        from dvc.repo import Repo

        try:
            return Repo(str(self._root)).cache.local
        except DvcException as error:
            raise BadInput(f"no DVC repository: {error}", file=self._root) from None

    def _outputs_at(self, path: str) -> list[str]:
        """The output that is at a path or around it, or else those below it."""
        around = [folder for folder in (path, *folders_of(path)) if folder in self._hashes]
        return around[:1] or [output for output in self._hashes if path in folders_of(output)]

    def _hash(self, path: str) -> str:
        from dvc_data.hashfile.build import build

        try:
            _, _, tree = build(self._cache, str((self._root / path).absolute()), self._cache.fs, "md5", dry_run=True)
        except FileNotFoundError:
            raise BadInput(ANEW, file=self._root / path) from None
        return str(tree.hash_info.value)

    def _check_inputs(self, output: str) -> None:
        """Compare what an output, and all that it comes from, was made from with what is there now."""
        stages = ancestors_of(self._lock, [outputs_of(self._lock)[output]])
        for name in (name for name in stages if name not in self._compared):
            self._compared.add(name)
            for path, md5 in hashes_of([self._lock[name]], "deps").items():
                now = self._hashes.get(path)
                if now is None and self._outputs_at(path) and (self._root / path).exists():
                    now = self._hash(path)  # of a part of an output, or of several
                if now not in (None, md5):
                    problem = f"it was made by {name} from another {path}: run `make repro` first"
                    raise BadInput(problem, file=self._root / output)
