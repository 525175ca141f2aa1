"""The stages of a `dvc.yaml`, cell by cell, with the names that DVC gives them, and the digest of each.

DVC itself is not asked: importing it takes a second. What is understood is what the project's `dvc.yaml` uses: plain
stages, `foreach` over a list or mapping, `matrix`, and `${a.b.c}` from `params.yaml` in these two.
"""

import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import yaml

from trivium.core.code.digest import Code, Parts
from trivium.core.errors import BadInput

DVC_YAML, PARAMS_YAML = Path("dvc.yaml"), Path("params.yaml")
_YAML_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml is ten times as fast, and not everywhere
_COMMAND = re.compile(r"(?:^|\s)-m\s+([\w.]+)")
_REFERENCE = re.compile(r"\$\{\s*([^{}]+?)\s*\}")


@dataclass(frozen=True)
class Cell:
    """A stage as DVC runs it.

    Attributes:
        name: `stage`, or `stage@key`.
        command: its command, with `${…}` as written.
        values: what `${item}` and `${key}` mean in it.
    """

    name: str
    command: str
    values: Mapping[str, Any] = field(default_factory=dict)


class Pipeline:
    """The stages of a folder.

    Args:
        folder: holds `dvc.yaml`, and `params.yaml` where a stage needs it.

    Raises:
        BadInput: no `dvc.yaml`, or one of them is not a YAML mapping.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / DVC_YAML
        self._params = _read(folder / PARAMS_YAML) if (folder / PARAMS_YAML).exists() else {}
        self.cells = {cell.name: cell for cell in self._cells(_read(self._file).get("stages") or {})}

    def parts(self, code: Code, name: str) -> Parts | None:
        """What a stage's command reaches; None for a command that starts no module of the project.

        A stage's module may say that a cell loads certain members of a family only, by a literal `LOADS` of families to
        texts such as `"complexity.finetune.models.${item.name}.kind"`: where `params.yaml` has the member's name (or a
        list of names), or the name itself. A name that is no member restricts nothing: the stage says what is wrong.

        Raises:
            BadInput: see `Closures.closure`; or `LOADS` names a family that the stage does not reach.
        """
        cell = self.cells[name]
        starts = [module for module in _COMMAND.findall(cell.command) if module in code.source.modules]
        if not starts:
            return None
        loads = {family: text for module in starts for family, text in code.source.facts(module).loads.items()}
        families = code.closures.closure(starts).families if loads else {}
        declared = {name: code.closures.members(name, owner) for name, owner in families.items()}
        for family in loads:
            if family not in declared:
                raise BadInput(
                    "LOADS names no family that the stage reaches", file=starts[0], got=family, choices=declared
                )
        members = {family: self._members(declared[family], text, cell) for family, text in loads.items()}
        starts += [f"{module}.__main__" for module in starts if f"{module}.__main__" in code.source.modules]
        parts = code.parts(starts, {family: names for family, names in members.items() if names})
        run = self._params.get("run")
        return parts.with_setting("run.portable", run.get("portable") if isinstance(run, dict) else None)

    def _members(self, existing: Container[str], text: str, cell: Cell) -> list[str]:
        try:
            told = str(_filled(text, dict(cell.values)))
            found = told if told in existing else _at(self._params, told)
        except KeyError:
            return []
        names = found if isinstance(found, list) else [found]
        return names if all(name in existing for name in names) else []

    def _cells(self, stages: Mapping[str, Any]) -> Iterator[Cell]:
        for name, stage in stages.items():
            try:
                for key, values in self._variants(stage):
                    command = (stage.get("do") or stage).get("cmd", "")
                    lines = command if isinstance(command, list) else [command]
                    yield Cell(name + key, "\n".join(map(str, lines)), values)
            except (KeyError, TypeError, AttributeError) as error:
                raise BadInput(f"cannot be read: {error}", file=self._file, field=f"stages.{name}") from None

    def _variants(self, stage: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        """(suffix of the name, values of the variables) for each cell of a stage, as `dvc.parsing` has them."""
        if "foreach" in stage:
            items = _filled(stage["foreach"], self._params)
            if isinstance(items, list):
                plain = not any(isinstance(item, dict | list) for item in items)
                keys = [_text(item) if plain else str(index) for index, item in enumerate(items)]
                yield from ((f"@{key}", {"item": item}) for key, item in zip(keys, items, strict=True))
            else:
                yield from ((f"@{_text(key)}", {"item": item, "key": _text(key)}) for key, item in items.items())
        elif "matrix" in stage:
            axes = _filled(stage["matrix"], self._params)
            for chosen in product(*(enumerate(values) for values in axes.values())):
                parts = [
                    f"{axis}{index}" if isinstance(value, dict | list) else _text(value)
                    for axis, (index, value) in zip(axes, chosen, strict=True)
                ]
                item = {axis: value for axis, (_, value) in zip(axes, chosen, strict=True)}
                yield f"@{'-'.join(parts)}", {"item": item, "key": "-".join(parts)}
        else:
            yield "", {}


def _read(file: Path) -> dict[str, Any]:
    try:
        tree = yaml.load(file.read_text(encoding="utf-8"), _YAML_LOADER)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BadInput(f"cannot be read: {error}", file=file) from None
    if not isinstance(tree, dict):
        raise BadInput("not a mapping", file=file)
    return tree


def _text(value: object) -> str:
    """As DVC writes a value into a name."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _filled(value: Any, variables: Mapping[str, Any]) -> Any:
    """A value with its references replaced: a text that is nothing but one becomes what it refers to."""
    if isinstance(value, dict):
        return {key: _filled(item, variables) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, variables) for item in value]
    if not isinstance(value, str):
        return value
    whole = _REFERENCE.fullmatch(value)
    if whole:
        return _at(variables, whole[1])
    return _REFERENCE.sub(lambda match: _text(_at(variables, match[1])), value)


def _at(tree: Any, name: str) -> Any:
    """The value at a dotted name; a number chooses from a list.

    Raises:
        KeyError: there is none.
    """
    for key in name.replace("[", ".").replace("]", "").split("."):
        if isinstance(tree, list) and key.isdigit() and int(key) < len(tree):
            tree = tree[int(key)]
        elif isinstance(tree, dict) and key in tree:
            tree = tree[key]
        else:
            raise KeyError(name)
    return tree
