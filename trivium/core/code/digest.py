"""Which modules, files and packages a stage reaches, the digest of them all, and `code.yaml`.

**Modules**: every import statement, also inside functions, but not under `if TYPE_CHECKING:`; with the `__init__` of
each package above. A string constant that is the dotted name of a module of the project, or the name of a Python file
beside the module (`"worker.py"`), counts as an import of it. What only shows (`syntax.py`) is not followed.

**Files**: a string constant that is the path of a file or of a folder without modules, seen from the module's own
folder, from a package that another constant names, or (where the module says `__file__`) from a folder above it. A
folder counts with all in it, and a script with its lock, `worker.py.lock`.

**Packages** of others count by the installed version of those that a module names itself.

**Declarations**, module-level literals that are read without importing:

- `FAMILY = "trivium.complexity.readers"` in a module that loads modules of this package, its members, by name.
- `LOADS = {family: "complexity.finetune.models.${item.name}.kind"}` in a stage whose cells load one member: where
  `params.yaml` has its name, or the name itself. One that is no member restricts nothing: the stage says what is wrong.
- `LAZY = {"fuse": "trivium.kvqae.fuse"}` in an `__init__` that imports when asked for a name (PEP 562).
  `from trivium import fuse` brings this one module, `import trivium` and `import *` bring all.
"""

import hashlib
import inspect
import json
import os
import re
import sys
import time
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, reduce
from importlib.metadata import packages_distributions, version
from importlib.util import find_spec
from itertools import accumulate, product
from pathlib import Path
from typing import Any

from trivium.core.atomic import write_atomically
from trivium.core.code.syntax import is_showing, read_facts
from trivium.core.errors import BadInput
from trivium.core.parameters import flatten, read_parameters, value_at

OWN = ("stages", "trivium", "sample")
RECORDED = "pins.lock.yaml"  # the one file beside the code that runs write
CODE_YAML, PARAMS = Path("code.yaml"), Path("params.yaml")
OWN_STAGE = "code"  # has no digest
_NO_PACKAGE = {*OWN, *sys.stdlib_module_names, "__main__"}
_COMMAND = re.compile(r"(?:^|\s)-m\s+([\w.]+)(?:\s+([\w.]+))?")  # `-m stages kvqae.fuse` runs `stages.kvqae.fuse`
_REFERENCE = re.compile(r"\$\{\s*([^{}]+?)\s*\}")
_distributions = cache(packages_distributions)


class Code:
    """The project's packages in a folder at one moment, and what their modules reach.

    Attributes:
        modules: dotted name to path below the folder, with slashes.
        files: path of any other file to what names it: itself, and the folders without modules above it.
        facts: what a module says, by its dotted name; see `read_facts`.
    """

    def __init__(self, root: Path) -> None:
        paths = code_files(root)
        self.modules = {p[:-3].removesuffix("/__init__").replace("/", "."): p for p in paths if p.endswith(".py")}
        with_modules = {folder for path in self.modules.values() for folder in _prefixes(path, "/")}
        self.files = {path: {*_prefixes(path, "/")} - with_modules for path in paths if not path.endswith(".py")}
        self.facts = cache(lambda module: read_facts((root / self.modules[module]).read_bytes(), self.modules[module]))
        self._reach, self._root = cache(self._reach_from), root

    def parts(self, modules: Sequence[str], members: Mapping[str, Sequence[str]] | None = None) -> dict[str, str]:
        """Everything that modules reach at any depth, themselves included; of a family its `members`, where it has any.

        Returns digests of syntax trees and of files' bytes by path, and versions by `package NAME`. `BadInput` where a
        module cannot be read.
        """
        parts, todo = dict[str, str](), list(modules)
        while todo:
            module = todo.pop()
            if self.modules[module] not in parts:
                own, imported = self._reach(module)
                parts |= own
                todo += imported
                if family := self.facts(module).declared.get("FAMILY"):
                    todo += [f"{family}.{name}" for name in (members or {}).get(family, self.members(family))]
        return parts

    def members(self, family: str) -> set[str]:
        """The names of a family's members: the modules of its package."""
        return {name.rpartition(".")[2] for name in self.modules if name.rpartition(".")[0] == family}

    def files_of(self, module: str) -> set[str]:
        """The files that a module names."""
        texts, own = self.facts(module).texts, self.modules[module].rpartition("/")[0]
        folders = {own, *(text.replace(".", "/") for text in texts if text.partition(".")[0] in OWN)}
        if "__file__" in texts:
            folders |= {*_prefixes(own, "/")}
        named = {f"{folder}/{text}" for folder in folders for text in texts} | {f"{self.modules[module]}.lock"}
        return {path for path, names in self.files.items() if not named.isdisjoint(names)}

    def _reach_from(self, module: str) -> tuple[dict[str, str], set[str]]:
        """A module's own parts, and the modules that it imports or names, but for members of its family."""
        facts, path = self.facts(module), self.modules[module]
        parts = {name: hashlib.sha256((self._root / name).read_bytes()).hexdigest() for name in self.files_of(module)}
        packages = {name.partition(".")[0] for name, _ in facts.imports} - _NO_PACKAGE
        parts |= {path: facts.form} | {f"package {package}": installed_version(package) for package in packages}
        package = path.rpartition("/")[0].replace("/", ".")
        texts = {f"{package}.{text[:-3]}" if text.endswith(".py") else text for text in facts.texts if "." in text}
        names = {text for text in texts if text.rpartition(".")[0] != facts.declared.get("FAMILY")}
        for imported, name in facts.imports:
            lazy = self.facts(imported).declared.get("LAZY", {}) if imported in self.modules else {}
            wanted = [lazy[name]] if name in lazy else lazy.values() if name in ("", "*") else ()
            names |= {target.partition(":")[0] for target in wanted}
            names |= {f"{imported}.{name}", *_prefixes(imported, ".")}
        names |= {*_prefixes(module, ".")}
        return parts, {name for name in names & self.modules.keys() if not is_showing(name)}


def read_stages(folder: Path, parameters: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(DVC's name, command as written, what `item` and `key` mean there) of each stage of a folder's `dvc.yaml`.

    DVC itself is not asked: importing it takes a second. What is understood is what the project's `dvc.yaml` uses:
    plain stages, `foreach` over a list of names or a mapping, `matrix` of names, and `${a.b.c}` in these two.
    """

    def resolve(value: Any) -> Any:
        reference = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
        return value_at(parameters, PARAMS, reference[1]) if reference else value

    def text(value: object) -> str:
        return str(value).lower() if isinstance(value, bool) else str(value)

    for name, stage in (read_parameters(folder / "dvc.yaml").get("stages") or {}).items():
        try:
            command = str((stage.get("do") or stage).get("cmd", ""))
            axes, items = resolve(stage.get("matrix")), resolve(stage.get("foreach"))
            if axes is not None:
                rows = [dict(zip(axes, row, strict=True)) for row in product(*map(resolve, axes.values()))]
                items = {"-".join(map(text, row.values())): row for row in rows}
            elif isinstance(items, list):
                items = {text(item): item for item in items}
            for key, item in ({"": None} if items is None else items).items():
                yield f"{name}@{text(key)}" if key else name, command, {"item": item, "key": text(key)}
        except (BadInput, TypeError, AttributeError) as error:
            raise BadInput(f"cannot be read: {error}", file="dvc.yaml", field=f"stages.{name}") from None


def stage_parts(folder: Path, code: Code, parameters: dict[str, Any] | None = None) -> dict[str, dict[str, str]]:
    """What each stage of a folder's `dvc.yaml` reaches, with `run.portable`; `parameters` replace its `params.yaml`."""
    if parameters is None:
        parameters = read_parameters(folder / PARAMS) if (folder / PARAMS).exists() else {}
    run, stages = parameters.get("run"), dict[str, dict[str, str]]()
    setting = {"setting run.portable": str(run.get("portable") if isinstance(run, dict) else None)}
    for name, command, values in read_stages(folder, parameters):
        members: dict[str, list[str]] = {}
        runs = _COMMAND.findall(command) if name != OWN_STAGE else []
        named = [start for module, word in runs for start in (module, f"{module}.__main__", f"{module}.{word}")]
        starts = [start for start in named if start in code.modules]
        for family, text in ChainMap(*(code.facts(start).declared.get("LOADS", {}) for start in starts)).items():
            with suppress(BadInput):
                words = enumerate(_REFERENCE.split(text))  # every second one is a reference
                filled = "".join(str(value_at(values, PARAMS, word)) if place % 2 else word for place, word in words)
                member = str(value_at(parameters, PARAMS, filled)) if "." in filled else filled
                members |= {family: [member]} if member in code.members(family) else {}
        if starts:
            stages[name] = code.parts(starts, members) | setting
    return stages


def write_code(folder: Path, root: Path) -> None:
    """Write `code.yaml`: the digest of every stage, as DVC reads it; its time of change is when the code was read.

    DVC takes a dot in the name of a parameter for a step down, so a stage `answer@a-0.5` stands under `answer@a-0` and
    `5`. Digests are quoted: YAML takes some, such as `12e4567890123456`, for numbers.
    """
    started = time.time()
    tree: dict[str, Any] = {}
    for name, parts in sorted(stage_parts(folder, Code(root)).items()):
        *above, last = name.split(".")
        reduce(lambda node, part: node.setdefault(part, {}), above, tree)[last] = digest_of(parts)
    with write_atomically(folder / CODE_YAML) as file:
        file.write_text(json.dumps(tree, indent=1) + "\n")  # JSON is YAML
        os.utime(file, (started, started))


def running_digest(stage: str, folder: Path = Path()) -> str:
    """The digest that `code.yaml` has for a stage that DVC runs; `BadInput` where its code was changed since."""
    file, root = folder / CODE_YAML, code_root()
    written = dict(flatten(read_parameters(file))).get(stage) if file.exists() else None
    if written and max((root / path).stat().st_mtime for path in code_files(root)) < file.stat().st_mtime:
        return written
    now = digest_of(stage_parts(folder, Code(root)).get(stage, {}))
    if written and now != written:
        expected = "run it again while the code stays as it is; work kept by the same code is resumed"
        raise BadInput(f"the code of {stage} was changed: nothing was published", file=file, expected=expected)
    return now


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


def code_root() -> Path:
    """The folder that Python imports the stages from."""
    spec = find_spec("stages")
    if spec is None or not spec.submodule_search_locations:
        raise BadInput("cannot be imported from here", got="stages", expected="the folder of dvc.yaml")
    return Path(next(iter(spec.submodule_search_locations))).parent


@cache
def parts_of(function: Callable[..., object]) -> dict[str, str]:
    """What the module of a function reaches; nothing for one outside the project, such as a test's."""
    code, module = Code(code_root()), inspect.getmodule(function)
    name = getattr(getattr(module, "__spec__", None), "name", "")  # also where the module is run as a script
    return code.parts([name]) if name in code.modules else {}


def digest_of(parts: Mapping[str, str]) -> str:
    """The digest of what `Code.parts` returns, of sixteen hexadecimal digits."""
    lines = "".join(f"{name}\t{entry}\n" for name, entry in sorted(parts.items()))
    return hashlib.sha256(lines.encode()).hexdigest()[:16]


def _prefixes(name: str, separator: str) -> list[str]:
    """`a`, `a.b` and `a.b.c` of `a.b.c`."""
    return [*accumulate(name.split(separator), lambda above, part: f"{above}{separator}{part}")]
