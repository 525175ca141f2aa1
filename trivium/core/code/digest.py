"""The digest of what a stage's modules reach, and where it comes from."""

import hashlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.util import find_spec
from pathlib import Path

from trivium.core.code.closure import Closures, Members
from trivium.core.code.packages import Packages, installed_version
from trivium.core.code.source import OWN, Source
from trivium.core.errors import BadInput

_PACKAGE, _SETTING = "package ", "setting "


@dataclass(frozen=True)
class Parts:
    """Everything that a digest covers.

    Attributes:
        entries: path of a module below the root to the digest of its normal form, path of another file to the digest of
            its bytes, `package NAME` to its versions, and `setting NAME` to its value. Nothing in them depends on the
            machine or on the root.
    """

    entries: Mapping[str, str]

    @cached_property
    def digest(self) -> str:
        """Sixteen hexadecimal digits."""
        lines = "".join(f"{name}\t{entry}\n" for name, entry in sorted(self.entries.items()))
        return hashlib.sha256(lines.encode()).hexdigest()[:16]

    @property
    def paths(self) -> list[str]:
        """Modules and files, below the root."""
        return [name for name in sorted(self.entries) if not name.startswith((_PACKAGE, _SETTING))]

    @property
    def packages(self) -> list[str]:
        """Their names."""
        return [name.removeprefix(_PACKAGE) for name in sorted(self.entries) if name.startswith(_PACKAGE)]

    def explain(self) -> str:
        """The digest and all that it covers, one a line: modules, files, packages, settings."""
        kinds = {"modules": [], "files": [], "packages": [], "settings": []}  # type: dict[str, list[str]]
        for name, entry in sorted(self.entries.items()):
            if name.startswith(_PACKAGE):
                kinds["packages"].append(f"{name.removeprefix(_PACKAGE)} {entry}")
            elif name.startswith(_SETTING):
                kinds["settings"].append(f"{name.removeprefix(_SETTING)} {entry}")
            else:
                kinds["modules" if name.endswith(".py") else "files"].append(name)
        listed = [
            line for kind, names in kinds.items() for line in (f"{len(names)} {kind}", *(f"  {n}" for n in names))
        ]
        return "\n".join([self.digest, *listed])

    def with_setting(self, name: str, value: object) -> "Parts":
        """These parts, and a setting that changes what all code computes."""
        return Parts({**self.entries, f"{_SETTING}{name}": str(value)})

    def differences(self, other: "Parts") -> list[str]:
        """What another digest's parts have changed, added or removed, in words."""
        return [
            f"{name} ({'added' if name not in self.entries else 'removed' if name not in other.entries else 'changed'})"
            for name in sorted({*self.entries, *other.entries})
            if self.entries.get(name) != other.entries.get(name)
        ]


def code_root(package: str = "stages") -> Path:
    """The folder that Python imports the stages from."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise BadInput("cannot be imported from here", got=package, expected="the folder of dvc.yaml")
    return Path(next(iter(spec.submodule_search_locations))).parent


class Code:
    """The project's code at one moment; closures share what they have in common.

    Args:
        root: folder of the packages and of `uv.lock`. Results are kept in `.work/code` below it.
        packages: the project's own.
    """

    def __init__(self, root: Path, packages: Sequence[str] = OWN) -> None:
        self.root = root
        self.source = Source(root, packages)
        self.closures = Closures(self.source)
        self._packages = Packages(root)

    def parts(self, modules: Sequence[str], members: Members | None = None) -> Parts:
        """What modules reach.

        Args:
            modules: dotted names, such as `["stages.kvqae.fuse"]`.
            members: family to the members that may be loaded; see `Closures.closure`.

        Raises:
            BadInput: see `Closures.closure`.
        """
        reach = self.closures.closure(modules, members)
        entries = {self.source.modules[name]: self.source.facts(name).form for name in reach.modules}
        entries |= {path: self.source.bytes_digest(path) for path in reach.files}
        for name in reach.imported:
            entries |= {f"{_PACKAGE}{key}": version for key, version in self._packages.versions(name).items()}
        return Parts(entries)

    def save(self) -> None:
        """Keep what was read of modules for the next time."""
        self.source.save()


def digest_of(main: Callable[..., object]) -> str:
    """The digest that names a stage's resume folder where no `Guard` has one: of all that `main`'s module reaches."""
    return module_parts(module_of(main)).digest


def module_of(function: Callable[..., object]) -> str:
    """The dotted name of the module that a function stands in, also where that module is run as a script."""
    module = inspect.getmodule(function)
    return getattr(getattr(module, "__spec__", None), "name", "") or inspect.getfile(function)


def versions_of(module: str) -> dict[str, str]:
    """What must be the same wherever a module's functions run, whatever is locked.

    Returns:
        package to its installed version, for all packages that the module reaches; last, under the module's own name,
        the digest of all that it reaches.
    """
    parts = module_parts(module)
    return {name: installed_version(name) for name in parts.packages} | {module: parts.digest}


@lru_cache
def module_parts(module: str) -> Parts:
    """All that a module reaches; once a process: what it has imported does not change.

    A module that lies outside the project's packages, such as a test's, is its file alone.

    Args:
        module: its dotted name, or its file where it has none.

    Raises:
        BadInput: there is no such module.
    """
    code = Code(code_root())
    if module not in code.source.modules:
        file = _file_of(module)
        return Parts({file.name: hashlib.sha256(file.read_bytes()).hexdigest()})
    parts = code.parts([module])
    with suppress(OSError):  # what was read is kept for the next time, where this folder may be written to
        code.save()
    return parts


def _file_of(module: str) -> Path:
    spec = None if module.endswith(".py") else find_spec(module)
    file = Path(spec.origin if spec and spec.origin else module)
    if not file.is_file():
        raise BadInput("no such module", got=module)
    return file
