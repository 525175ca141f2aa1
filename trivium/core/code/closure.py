"""Which modules, files and packages a module reaches: the rules.

**Modules.** Every import statement counts, also inside functions; not under `if TYPE_CHECKING:`. A module brings the
`__init__` of each package above it; `from package import module` brings the module. A string constant that is the
dotted name of a module of the project counts as an import of it, so that `[sys.executable, "-m", "trivium.a.worker"]`
and tables for `import_module` need no more. So does the name of a Python file beside the module, such as `"worker.py"`,
and what follows `"-m"` or is told to `import_module` or `find_spec`, here also a package of others.

**Files.** A string constant that is the path of a file or of a folder without modules, seen from the module's own
folder, from a package that another constant of the module names, or (where the module says `__file__`) from a folder
above it: `Path(__file__).with_name("words.yaml")`, `files("trivium.page") / "templates"`. A folder counts with
everything in it. `PackageLoader` without a folder means `"templates"`. The lock of a script, `worker.py.lock`, comes
with `worker.py`. `unclaimed_files` lists the files that no module names: a test keeps it empty.

**Declarations**, module-level literals that are read without importing:

- `FAMILY = "trivium.complexity.readers"` in the module that loads members of this package by name: by itself, or by a
  `Registry`, which must stand beside its declaration. All modules of the package but this one and its `__init__` are
  members. Whoever asks may say which members are loaded; otherwise all count.
- `LAZY = {"fuse": "trivium.kvqae.fuse"}` in an `__init__` that imports when asked for a name (PEP 562): a text after
  a colon is ignored. `from trivium import fuse` brings this one module, `import trivium` and `import *` bring all.
- `APART = "trivium.core.tracking_writer"` in the module that starts this one in a process of its own, which gives
  nothing back. The name does not count: what only that process imports, MLflow, has no part in what a stage makes. An
  import statement counts all the same.
- `LOADS` in the module of a stage: see `pipeline.py`.

A use of `import_module` with a computed name, in a module that declares neither and names no module, is an error. What
none of this sees a stage's `Guard` finds among the modules that were imported.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from trivium.core.code.source import Source
from trivium.core.code.syntax import Facts
from trivium.core.errors import BadInput

REGISTRY = ("trivium.core.registry", "Registry")  # imports by names that whoever makes one declares
Members = Mapping[str, Sequence[str]]  # of a family: names of the modules in its package that may be loaded


@dataclass
class Reach:
    """What modules reach: directly, or in all.

    Attributes:
        modules: dotted names of the project's own modules.
        files: paths of files below the root.
        imported: top-level names of what is imported from elsewhere.
        families: family to the module that declares it, for members that are yet to be chosen.
    """

    modules: set[str] = field(default_factory=set)
    files: set[str] = field(default_factory=set)
    imported: set[str] = field(default_factory=set)
    families: dict[str, str] = field(default_factory=dict)


class Closures:
    """Closures over one scan of the packages; what a module reaches directly is found once."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._direct: dict[str, Reach] = {}

    def closure(self, starts: Sequence[str], members: Members | None = None) -> Reach:
        """All that the modules reach at any depth, themselves included.

        Args:
            starts: dotted names.
            members: of a family, which of its members may be loaded; of a family that is not in it, all.

        Raises:
            BadInput: no such module or member, a module that cannot be read, or one that hides what it imports.
        """
        unknown = [name for name in starts if name not in self.source.modules]
        if unknown:
            raise BadInput("no such module", got=unknown[0], expected=f"a module of {', '.join(self.source.packages)}")
        found, todo = Reach(), list(starts)
        while todo:
            module = todo.pop()
            if module in found.modules:
                continue
            direct = self.direct(module)
            found.modules.add(module)
            found.files |= direct.files
            found.imported |= direct.imported
            found.families |= direct.families
            todo += direct.modules
            for family, owner in direct.families.items():
                todo += self._chosen(family, owner, (members or {}).get(family))
        return found

    def members(self, family: str, owner: str = "") -> dict[str, str]:
        """The members of a family by name: their modules.

        Args:
            family: as declared by `FAMILY`.
            owner: the module that declares it, which is no member.
        """
        prefix = f"{family}."
        below = (name.removeprefix(prefix) for name in self.source.modules if name.startswith(prefix))
        inside = {name: f"{prefix}{name}" for name in sorted(below) if "." not in name}
        return {name: module for name, module in inside.items() if module != owner}

    def direct(self, module: str) -> Reach:
        """What a module reaches by itself."""
        if module not in self._direct:
            self._direct[module] = self._find(module)
        return self._direct[module]

    def _chosen(self, family: str, owner: str, names: Sequence[str] | None) -> list[str]:
        members = self.members(family, owner)
        for name in names or ():
            if name not in members:
                raise BadInput(
                    "no such member", file=self.source.modules[owner], field=family, got=name, choices=members
                )
        return [members[name] for name in (members if names is None else names)]

    def _find(self, module: str) -> Reach:
        facts, found = self.source.facts(module), Reach()
        found.modules |= self._existing(_prefixes(module)[:-1])
        for level, name, names in facts.imports:
            self._follow(found, self._absolute(module, level, name), names)
        named = self._named(module, facts)
        found.modules |= named
        if facts.family:
            found.families[facts.family] = module
        elif (row := self._hides(module, facts)) and not facts.lazy and not any("." in name for name in named):
            raise BadInput(
                "a module is imported by a computed name",
                file=self.source.modules[module],
                row=row,
                expected="FAMILY or LAZY, or the names as string constants (see trivium/core/code/closure.py)",
            )
        found.files |= set(self._files(module, facts))
        return found

    @staticmethod
    def _hides(module: str, facts: Facts) -> int | str | None:
        """Where a module imports what it does not name."""
        makes = any(name == REGISTRY[0] and REGISTRY[1] in names for _, name, names in facts.imports)
        return REGISTRY[1] if makes else facts.computed if module != REGISTRY[0] else None

    def _absolute(self, module: str, level: int, name: str) -> str:
        if not level:
            return name
        parts = module.split(".")
        up = level - 1 if self.source.is_package(module) else level
        return ".".join([*parts[: len(parts) - up], *([name] if name else [])])

    def _follow(self, found: Reach, module: str, names: Sequence[str]) -> None:
        if module.partition(".")[0] not in self.source.packages:
            found.imported.add(module.partition(".")[0])
            return
        found.modules |= self._existing(_prefixes(module))
        lazy = self.source.facts(module).lazy if module in self.source.modules else {}
        for name in names or ("*",):
            found.modules |= self._existing([f"{module}.{name}"])
            found.modules |= self._existing(_lazy_modules(lazy, name))

    def _existing(self, names: Sequence[str]) -> set[str]:
        return {name for name in names if name in self.source.modules}

    def _named(self, module: str, facts: Facts) -> set[str]:
        """Modules that string constants name; of a family's members those that are loaded are chosen elsewhere."""
        beside = module if self.source.is_package(module) else module.rpartition(".")[0]
        scripts = [f"{beside}.{text.removesuffix('.py')}" for text in facts.texts if text.endswith(".py")]
        named = {text for text in facts.texts if "." in text} | set(scripts)
        members = set(self.members(facts.family, module).values()) if facts.family else set()
        return self._existing(sorted(named - members)) - {module, facts.apart}

    def _files(self, module: str, facts: Facts) -> Iterator[str]:
        own = self.source.folder(module)
        folders = {
            own,
            *(text.replace(".", "/") for text in facts.texts if text.partition(".")[0] in self.source.packages),
        }
        if facts.says_file:
            folders |= {"/".join(own.split("/")[:depth]) for depth in range(1, own.count("/") + 1)}
        for path in [f"{folder}/{text}" for folder in sorted(folders) for text in facts.texts]:
            yield from self.source.folders.get(path, [path] if path in self.source.files else [])
        lock = f"{self.source.modules[module]}.lock"
        if lock in self.source.files:
            yield lock


def unclaimed_files(source: Source) -> list[str]:
    """The files beside the code that no module names: nothing would run again after a change of them."""
    closures = Closures(source)
    claimed = {path for module in source.modules for path in closures.direct(module).files}
    return sorted(source.files - claimed)


def _prefixes(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:depth]) for depth in range(1, len(parts) + 1)]


def _lazy_modules(lazy: Mapping[str, str], name: str) -> list[str]:
    wanted = lazy.values() if name == "*" else [lazy[name]] if name in lazy else []
    return [target.partition(":")[0] for target in wanted]
