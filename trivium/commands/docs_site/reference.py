"""The reference: stages from `dvc.yaml`, parameters from `params.yaml`, commands from the Makefile and `--help`."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap

from trivium.commands.cli import COMMANDS
from trivium.core.parameters import read_parameters

USES = {"deps": "reads", "outs": "writes", "metrics": "metrics", "plots": "plots"}  # of a stage
TARGET = re.compile(r"^([a-z-]+):.*?## (.*)$", re.MULTILINE)  # as `make help` finds them


def stages(root: Path) -> str:
    """Every stage: what it is for, its command, its parameters, what it reads and writes."""
    parts = ["# Stages in detail", "`make docs` writes this page from `dvc.yaml`."]
    for name, entry in read_parameters(root / "dvc.yaml")["stages"].items():
        stage = entry.get("do", entry)
        parts += [f"## {name}", stage["desc"] + ".", f"```console\n$ {stage['cmd'].strip()}\n```"]
        lines = [f"- one a line of {_code(str(entry[each]))}" for each in ("foreach", "matrix") if each in entry]
        lines += [f"- parameters: {_listed(sections_of(stage))}"] if sections_of(stage) else []
        lines += [f"- {said}: {_listed(_paths(stage[key]))}" for key, said in USES.items() if stage.get(key)]
        parts += ["\n".join(lines)] if lines else []
    return "\n\n".join(parts) + "\n"


def sections_of(stage: Mapping[str, Any]) -> list[str]:
    """The dotted keys of `params.yaml` that a stage depends on; those of other files are left out."""
    return [each for each in stage.get("params", []) if isinstance(each, str)]


def _paths(entries: Any) -> list[str]:
    return [next(iter(each)) if isinstance(each, Mapping) else each for each in entries]


def _listed(names: list[str]) -> str:
    return ", ".join(map(_code, names))


def _code(text: str) -> str:
    return f"`{text}`"


def parameters(root: Path) -> str:
    """Every parameter with the sample's value, the comment beside it, and the stages that read its section."""
    tree: CommentedMap = YAML().load((root / "params.yaml").read_text(encoding="utf-8"))
    readers = _readers(root)
    parts = [
        "# Parameters",
        "`make docs` writes this page from `params.yaml` and `dvc.yaml`. The values are the sample's.",
    ]
    for section, rows in _sections(tree):
        read = [stage for stage, keys in readers.items() if any(_meet(section, key) for key in keys)]
        parts += [f"## {section}"]
        parts += [f"Read by {_listed(read)}."] if read else []
        parts += ["\n".join(["| | value | |", "|---|---|---|", *rows])]
    return "\n\n".join(parts) + "\n"


def _readers(root: Path) -> dict[str, list[str]]:
    entries = read_parameters(root / "dvc.yaml")["stages"]
    return {name: sections_of(entry.get("do", entry)) for name, entry in entries.items()}


def _meet(section: str, key: str) -> bool:
    """Whether a stage that depends on `key` reads something of the section."""
    return key == section or section.startswith(f"{key}.") or key.startswith(f"{section}.")


def _sections(node: CommentedMap, name: str = "") -> Iterator[tuple[str, list[str]]]:
    """(dotted name, rows of its own values) of every section that has some, outer ones first."""
    inner = {key for key, value in node.items() if isinstance(value, CommentedMap) and not value.fa.flow_style()}
    rows = [f"| `{key}` | {_cell(value)} | {_comment(node, key)} |" for key, value in node.items() if key not in inner]
    if rows:
        yield name, rows
    for key in node:
        if key in inner:
            yield from _sections(node[key], f"{name}.{key}" if name else key)


def _cell(value: Any) -> str:
    said = {"None": "null", "True": "true", "False": "false"}.get(str(value), str(value))
    return _code(said.replace("|", "\\|"))


def _comment(node: CommentedMap, key: str) -> str:
    """What stands behind a value on its line; ruamel keeps it with the value where that is a list or a mapping."""
    own = getattr(node[key], "ca", None)
    tokens = [node.ca.items.get(key, [None] * 3)[2], own.comment[0] if own and own.comment else None]
    said = next((token.value.split("\n")[0].lstrip("# ") for token in tokens if token), "")
    return said.replace("|", "\\|").replace("<", "&lt;")


def commands(root: Path) -> str:
    """Every target of the Makefile in a line, and every sub-command with its `--help`."""
    rows = [f"| `make {name}` | {said} |" for name, said in TARGET.findall((root / "Makefile").read_text("utf-8"))]
    parts = ["# Commands", "`make docs` writes this page from the Makefile and from `--help`."]
    parts += ["## make", "\n".join(["| | |", "|---|---|", *rows])]
    for name, said in COMMANDS.items():
        parts += [f"## trivium {name}", f"{said[0].upper()}{said[1:]}.", f"```text\n{_help(name, root)}\n```"]
    return "\n\n".join(parts) + "\n"


def _help(command: str, root: Path) -> str:
    """What a sub-command says of itself, in lines of 100 characters."""
    asked = [sys.executable, "-m", "trivium", command, "--help"]
    environment = os.environ | {"COLUMNS": "100", "NO_COLOR": "1"}
    done = subprocess.run(asked, cwd=root, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.rstrip()
