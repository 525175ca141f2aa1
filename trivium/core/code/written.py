"""`code.yaml`: the digest of every stage, as DVC reads it.

DVC takes a dot in the name of a parameter for a step down, so a stage `answer@a-0.5` stands under `answer@a-0` and `5`.
Digests are quoted: YAML takes some, such as `12e4567890123456`, for numbers.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from trivium.core.code.source import write_text
from trivium.core.errors import BadInput

CODE_YAML = Path("code.yaml")
_HEAD = "# Written by `python -m stages.code`: what each stage's code is. Not for Git.\n"


def write_digests(path: Path, digests: Mapping[str, str]) -> None:
    """Write the file whole or not at all.

    Raises:
        BadInput: one name is the beginning of another, up to a dot.
    """
    tree: dict[str, Any] = {}
    for name, digest in sorted(digests.items()):
        *above, last = name.split(".")
        node = tree
        for part in above:
            node = node.setdefault(part, {})
            if not isinstance(node, dict):
                raise BadInput("a stage's name is the beginning of another's, up to a dot", file="dvc.yaml", got=name)
        node[last] = digest
    write_text(path, _HEAD + "".join(_lines(tree, "")))


def read_digests(path: Path) -> dict[str, str]:
    """Stage to digest; empty if there is no such file.

    Raises:
        BadInput: not such a file.
    """
    try:
        tree = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise BadInput(f"cannot be read: {error}", file=path, expected="as `dvc repro code` writes it") from None
    return dict(_flat(tree or {}, ""))


def _lines(tree: Mapping[str, Any], indent: str) -> Iterator[str]:
    for name, value in tree.items():
        if isinstance(value, dict):
            yield f"{indent}{json.dumps(name)}:\n"
            yield from _lines(value, indent + "  ")
        else:
            yield f"{indent}{json.dumps(name)}: {json.dumps(value)}\n"


def _flat(tree: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, str]]:
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", str(value)
