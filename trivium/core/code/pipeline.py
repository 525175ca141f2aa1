"""The stages of a `dvc.yaml`, cell by cell, with the names that DVC gives them, the digest of each, and `code.yaml`.

DVC itself is not asked: importing it takes a second. What is understood is what the project's `dvc.yaml` uses: plain
stages, `foreach` over a list of names or a mapping, `matrix` of names, and `${a.b.c}` from `params.yaml` in these two.
"""

import json
import os
import re
import time
from collections import ChainMap
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import reduce
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from trivium.core.atomic import write_atomically
from trivium.core.code.digest import Code, Parts, code_files, code_root
from trivium.core.errors import BadInput
from trivium.core.parameters import flatten, read_parameters

CODE_YAML = Path("code.yaml")
OWN_STAGE = "code"  # has no digest
_COMMAND = re.compile(r"(?:^|\s)-m\s+([\w.]+)")
_REFERENCE = re.compile(r"\$\{\s*([^{}]+?)\s*\}")


class Cell(NamedTuple):
    """A stage as DVC runs it: its command, with `${…}` as written, and what `${item}` and `${key}` mean in it."""

    command: str
    values: Mapping[str, Any]


class Pipeline:
    """The stages of a folder that holds `dvc.yaml`, and `params.yaml` where a stage needs it, by their names.

    Args:
        folder: the folder.
        parameters: in the place of those in `params.yaml`.

    Raises:
        BadInput: no `dvc.yaml`, or one of them is not a YAML mapping.
    """

    def __init__(self, folder: Path, parameters: dict[str, Any] | None = None) -> None:
        file = folder / "params.yaml"
        self._params = parameters or (read_parameters(file) if file.exists() else {})
        self.cells = dict(self._cells(read_parameters(folder / "dvc.yaml").get("stages") or {}))

    def parts(self, code: Code, name: str) -> Parts | None:
        """What a stage's command reaches; None for a command that starts no module of the project.

        A stage's module may say that a cell loads certain members of a family only, by a literal `LOADS` of families to
        texts such as `"complexity.finetune.models.${item.name}.kind"`: where `params.yaml` has the member's name, or
        the name itself. A name that is no member restricts nothing: the stage says what is wrong.

        Raises:
            BadInput: see `Code.parts`.
        """
        command, values = self.cells[name]
        starts = [module for module in _COMMAND.findall(command) if module in code.modules]
        if not starts:
            return None
        chosen: dict[str, list[str]] = {}
        for family, text in ChainMap(*(code.facts(start).declared.get("LOADS", {}) for start in starts)).items():
            with suppress(KeyError):
                told = _REFERENCE.sub(lambda name: str(_at(values, name[1])), text)
                member = str(_at(self._params, told)) if "." in told else told
                chosen |= {family: [member]} if member in code.members(family) else {}
        run = self._params.get("run")
        portable = run.get("portable") if isinstance(run, dict) else None
        return Parts(code.parts(starts, chosen) | {"setting run.portable": str(portable)})

    def _cells(self, stages: Mapping[str, Any]) -> Iterator[tuple[str, Cell]]:
        for name, stage in stages.items():
            try:
                command = (stage.get("do") or stage).get("cmd", "")
                lines = "\n".join(map(str, command if isinstance(command, list) else [command]))
                for key, values in self._variants(stage):
                    yield f"{name}@{key}" if key else name, Cell(lines, values)
            except (KeyError, TypeError, AttributeError) as error:
                raise BadInput(f"cannot be read: {error}", file="dvc.yaml", field=f"stages.{name}") from None

    def _variants(self, stage: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        """(key, values of the variables) for each cell of a stage, as `dvc.parsing` has them."""
        if "foreach" in stage:
            items = self._resolve(stage["foreach"])
            pairs = items.items() if isinstance(items, dict) else ((item, item) for item in items)
            yield from ((_text(key), {"item": item, "key": _text(key)}) for key, item in pairs)
        elif "matrix" in stage:
            axes = self._resolve(stage["matrix"])
            for chosen in product(*map(self._resolve, axes.values())):
                key = "-".join(map(_text, chosen))
                yield key, {"item": dict(zip(axes, chosen, strict=True)), "key": key}
        else:
            yield "", {}

    def _resolve(self, value: Any) -> Any:
        """What a text that is one reference refers to in `params.yaml`; any other value is itself."""
        reference = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
        return _at(self._params, reference[1]) if reference else value


def stage_parts(folder: Path, root: Path) -> dict[str, Parts]:
    """What the code of every stage of a folder's pipeline reaches, by the stage's name.

    Raises:
        BadInput: `dvc.yaml` or a module cannot be read.
    """
    pipeline, code = Pipeline(folder), Code(root)
    reached = {name: pipeline.parts(code, name) for name in pipeline.cells if name != OWN_STAGE}
    return {name: parts for name, parts in reached.items() if parts is not None}


def write_code(folder: Path, root: Path) -> None:
    """Write `code.yaml`: the digest of every stage, as DVC reads it; its time of change is when the code was read.

    DVC takes a dot in the name of a parameter for a step down, so a stage `answer@a-0.5` stands under `answer@a-0` and
    `5`. Digests are quoted: YAML takes some, such as `12e4567890123456`, for numbers.
    """
    started = time.time()
    tree: dict[str, Any] = {}
    for name, parts in sorted(stage_parts(folder, root).items()):
        *above, last = name.split(".")
        node = tree
        for part in above:
            node = node.setdefault(part, {})
        node[last] = parts.digest
    with write_atomically(folder / CODE_YAML) as file:
        file.write_text(json.dumps(tree, indent=1) + "\n")  # JSON is YAML
        os.utime(file, (started, started))


def read_digests(file: Path) -> dict[str, str]:
    """Stage to digest; empty if there is no such file."""
    return {name: str(digest) for name, digest in flatten(read_parameters(file))} if file.exists() else {}


def running_digest(stage: str, folder: Path = Path()) -> str:
    """The digest that `code.yaml` has for a stage that DVC runs, which must be that of its code as it lies there now.

    Raises:
        BadInput: the code was changed since.
    """
    file, root = folder / CODE_YAML, code_root()
    written = read_digests(file).get(stage)
    if written is None or max((root / path).stat().st_mtime for path in code_files(root)) >= file.stat().st_mtime:
        parts = stage_parts(folder, root).get(stage)
        if parts is None or parts.digest != (written or parts.digest):
            expected = "run it again while the code stays as it is; work kept by the same code is resumed"
            raise BadInput(f"the code of {stage} was changed: nothing was published", file=file, expected=expected)
        return parts.digest
    return written


def _text(value: object) -> str:
    """As DVC writes a value into a name."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _at(tree: Any, name: str) -> Any:
    """The value at a dotted name; a KeyError where there is none."""
    try:
        return reduce(lambda node, key: node[key], name.split("."), tree)
    except (KeyError, TypeError):
        raise KeyError(name) from None
