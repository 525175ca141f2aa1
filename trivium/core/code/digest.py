"""Which modules, files and packages a module reaches, and the digest of them all.

**Modules**: every import statement, also inside functions, but not under `if TYPE_CHECKING:`; with the `__init__` of
each package above. A string constant that is the dotted name of a module of the project, or the name of a Python file
beside the module (`"worker.py"`), counts as an import of it. What only shows (`syntax.py`) is not followed.

**Files**: a string constant that is the path of a file or of a folder without modules, seen from the module's own
folder, from a package that another constant names, or (where the module says `__file__`) from a folder above it. A
folder counts with all in it; `PackageLoader` means `"templates"`; the lock of a script, `worker.py.lock`, comes with
`worker.py`.

**Packages** of others count by the installed version of those that a module names itself.

**Declarations**, module-level literals that are read without importing:

- `FAMILY = "trivium.complexity.readers"` in the module that loads members of this package by name: by itself, or by a
  `Registry`. All modules of the package but this one and its `__init__` are members. Whoever asks may say which count.
- `LAZY = {"fuse": "trivium.kvqae.fuse"}` in an `__init__` that imports when asked for a name (PEP 562).
  `from trivium import fuse` brings this one module, `import trivium` and `import *` bring all.
- `LOADS` in the module of a stage: see `pipeline.py`.
"""

import hashlib
import inspect
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from importlib.metadata import packages_distributions, version
from importlib.util import find_spec
from pathlib import Path

from trivium.core.code.syntax import Facts, is_showing, read_facts
from trivium.core.errors import BadInput

OWN = ("stages", "trivium", "sample")
RECORDED = "pins.lock.yaml"  # the one file beside the code that runs write
_NO_PACKAGE = {*OWN, *sys.stdlib_module_names, "__main__"}


class Parts(dict[str, str]):
    """Everything that a digest covers.

    Path of a module below the root to the digest of its syntax tree, path of another file to the digest of its bytes,
    `package NAME` to its version, and `setting NAME` to its value.
    """

    @cached_property
    def digest(self) -> str:
        """Sixteen hexadecimal digits."""
        lines = "".join(f"{name}\t{entry}\n" for name, entry in sorted(self.items()))
        return hashlib.sha256(lines.encode()).hexdigest()[:16]

    @property
    def paths(self) -> list[str]:
        """Modules and files, below the root."""
        return [name for name in sorted(self) if " " not in name]


class Code:
    """The project's packages on disk at one moment, and what their modules reach.

    Args:
        root: folder that holds the packages.

    Attributes:
        modules: dotted name to path below the root, with slashes.
        files: the paths of all other files, but for hidden ones and what runs write.
        folders: path of each folder that holds no module, at any depth, to the files in it.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        paths = code_files(root)
        modules = [path for path in paths if path.endswith(".py")]
        self.modules = {path[:-3].removesuffix("/__init__").replace("/", "."): path for path in modules}
        self.files = {*paths} - {*modules}
        with_modules = {folder for path in modules for folder in _above(path)}
        self.folders: dict[str, list[str]] = {}
        for path in self.files:
            for folder in {*_above(path)} - with_modules:
                self.folders.setdefault(folder, []).append(path)
        self._facts: dict[str, Facts] = {}
        self._imports: dict[str, set[str]] = {}
        self._digests: dict[str, str] = {}

    def facts(self, module: str) -> Facts:
        """What a module says; `BadInput` as `read_facts`."""
        if module not in self._facts:
            path = self.modules[module]
            self._facts[module] = read_facts((self.root / path).read_bytes(), path)
        return self._facts[module]

    def parts(self, modules: Sequence[str], members: Mapping[str, Sequence[str]] | None = None) -> Parts:
        """All that modules reach at any depth, themselves included.

        Args:
            modules: dotted names, such as `["stages.kvqae.fuse"]`.
            members: of a family, which of its members may be loaded; of a family that is not in it, all.

        Raises:
            BadInput: no such module, or one that cannot be read.
        """
        parts, reached, todo = Parts(), set[str](), list(modules)
        while todo:
            module = todo.pop()
            if module in reached:
                continue
            if module not in self.modules:
                raise BadInput("no such module", got=module, expected=f"a module of {', '.join(OWN)}")
            reached.add(module)
            facts = self.facts(module)
            parts[self.modules[module]] = facts.form
            parts |= {path: self._digest_of(path) for path in self.files_of(module)}
            others = {name.partition(".")[0] for name, _ in facts.imports} - _NO_PACKAGE
            parts |= {f"package {name}": installed_version(name) for name in others}
            if module not in self._imports:
                self._imports[module] = self._imported(module)
            todo += self._imports[module]
            if family := facts.declared.get("FAMILY"):
                loaded = self.members(family, module)
                todo += [loaded[name] for name in (members or {}).get(family, loaded)]
        return parts

    def members(self, family: str, owner: str = "") -> dict[str, str]:
        """The members of a family by name: the modules of its package, without `owner`, the one that declares it."""
        inside = (module for module in self.modules if module.rpartition(".")[0] == family and module != owner)
        return {module.rpartition(".")[2]: module for module in inside}

    def files_of(self, module: str) -> set[str]:
        """The files that a module names."""
        facts, own = self.facts(module), self.modules[module].rpartition("/")[0]
        folders = {own, *(text.replace(".", "/") for text in facts.texts if text.partition(".")[0] in OWN)}
        if facts.says_file:
            folders |= {*_above(own)}
        named = {f"{folder}/{text}" for folder in folders for text in facts.texts} | {f"{self.modules[module]}.lock"}
        return named & self.files | {path for folder in named & self.folders.keys() for path in self.folders[folder]}

    def _imported(self, module: str) -> set[str]:
        """The modules that a module imports, or names by a text; members of its family are chosen elsewhere."""
        facts, package = self.facts(module), self.modules[module].rpartition("/")[0].replace("/", ".")
        scripts = {f"{package}.{text[:-3]}" for text in facts.texts if text.endswith(".py")}
        texts = {text for text in facts.texts if "." in text} | scripts
        named = texts.difference(self.members(facts.declared.get("FAMILY", ""), module).values())
        for imported, name in facts.imports:
            named |= {*_prefixes(imported), f"{imported}.{name}"}
            lazy = self.facts(imported).declared.get("LAZY", {}) if imported in self.modules else {}
            wanted = [lazy[name]] if name in lazy else lazy.values() if name in ("", "*") else ()
            named |= {target.partition(":")[0] for target in wanted}
        return {name for name in {*named, *_prefixes(module)} & self.modules.keys() if not is_showing(name)}

    def _digest_of(self, path: str) -> str:
        if path not in self._digests:
            self._digests[path] = hashlib.sha256((self.root / path).read_bytes()).hexdigest()
        return self._digests[path]


def code_files(root: Path) -> list[str]:
    """All modules, and all files beside them but hidden ones and what runs write; paths below the root."""
    paths = []
    for package in OWN:
        for folder, below, names in os.walk(root / package):
            below[:] = [name for name in below if name != "__pycache__" and not name.startswith(".")]
            here = Path(folder).relative_to(root).as_posix()
            paths += [f"{here}/{name}" for name in names if name != RECORDED and not name.startswith(".")]
    return sorted(paths)


@cache
def installed_version(package: str) -> str:
    """The version of what provides a top-level package, without a suffix such as `+cpu`; or "absent"."""
    provided = {version(name).partition("+")[0] for name in _distributions().get(package, ())}
    return " ".join(sorted(provided)) or "absent"


_distributions = cache(packages_distributions)


def code_root() -> Path:
    """The folder that Python imports the stages from."""
    spec = find_spec("stages")
    if spec is None or not spec.submodule_search_locations:
        raise BadInput("cannot be imported from here", got="stages", expected="the folder of dvc.yaml")
    return Path(next(iter(spec.submodule_search_locations))).parent


def digest_of(main: Callable[..., object]) -> str:
    """The digest of all that a function's module reaches."""
    return module_parts(module_of(main)).digest


def module_of(function: Callable[..., object]) -> str:
    """The dotted name of the module that a function stands in, also where that module is run as a script."""
    module = inspect.getmodule(function)
    return getattr(getattr(module, "__spec__", None), "name", "") or inspect.getfile(function)


@cache
def module_parts(module: str) -> Parts:
    """All that a module reaches; of one outside the project, such as a test's, its file alone.

    Args:
        module: its dotted name, or its file where it has none.
    """
    code = Code(code_root())
    if module in code.modules:
        return code.parts([module])
    spec = None if module.endswith(".py") else find_spec(module)
    file = Path(spec.origin if spec and spec.origin else module)
    return Parts({file.name: hashlib.sha256(file.read_bytes()).hexdigest()})


def _above(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _prefixes(name: str) -> Iterator[str]:
    return (part.replace("/", ".") for part in (*_above(name.replace(".", "/")), name))
