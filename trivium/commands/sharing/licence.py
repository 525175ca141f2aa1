"""Under which licence weights or data came that an output was made from, as far as anybody has said."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trivium.commands.sharing.lineage import SAMPLE, Lineage
from trivium.core.tables import read_json
from trivium.nets.cards import licence_of
from trivium.sources.brought import PROVENANCE
from trivium.sources.minilm import MINILM

# Identifiers that the hub knows; what is none of them it shows as "other", with a name.
KNOWN = frozenset(
    {"apache-2.0", "mit", "bsd-3-clause", "cc-by-3.0", "cc-by-4.0", "cc-by-sa-3.0", "cc-by-sa-4.0", "cc0-1.0", "llama2"}
)
OWN = "apache-2.0"  # of this repository, and so of what the sample invents
UNKNOWN = ("other", "not stated")  # of a user's own files; in pins.yaml
_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")
_TEXT = "models/kvqae/base/text"
_PUBLISHED = "models/kvqae/published/"


@dataclass(frozen=True)
class Start:
    """Weights, or data, that something was made from.

    Attributes:
        name: what they are.
        licence: as their owner states it; None where nobody does.
    """

    name: str
    licence: str | None

    @property
    def hub_name(self) -> str | None:
        """`OWNER/NAME`, where they are of the hub."""
        found = _HUB_NAME.match(self.name)
        return found[0] if found and (found[0] == self.name or self.name == MINILM["from"]) else None


def start_in(folder: Path) -> Start:
    """What `provenance.json` says in the folder of a base model."""
    path = folder / PROVENANCE
    return _start(read_json(path)) if path.is_file() else Start(f"weights of {folder.name}, brought by the user", None)


def kvqae_start(project: Path, lineage: Lineage) -> Start:
    """What KVQAE's text models start from: the authors' checkpoint, the encoder that the user brings, BERT, MiniLM."""
    for path in sorted(path for path in lineage.inputs if path.startswith(_PUBLISHED)):
        if found := list(read_json(project / path / PROVENANCE).values()):
            return _start(found[0])
    source = lineage.weights.get("KVQAE's encoders", SAMPLE)
    if source == SAMPLE:
        return Start(MINILM["from"], MINILM["licence"])
    if source == "hub":
        return _start(read_json((project / _TEXT).parent / PROVENANCE)["bert"])
    return Start("a text encoder that the user brought", licence_of(project / _TEXT, without_card=UNKNOWN[0]))


def data_licences(project: Path, lineage: Lineage) -> list[Start]:
    """Every licence that the records of downloads state, of the folders that an output was made from.

    A user's own data have no such record.
    """
    found: dict[tuple[str, str], Start] = {}
    for path in sorted(path for path in lineage.inputs if path.startswith("data/")):
        folder = project / path if (project / path).is_dir() else (project / path).parent
        places = {folder, folder.parent}  # the raw folder of KVQAE is several outputs
        files = {file for place in places for name in (PROVENANCE, "sources.json", "provenance/*.json")
                 for file in place.glob(name)}  # fmt: skip
        for file in sorted(files):
            for each in _records(read_json(file)):
                start = _start(each)
                found[start.name, start.licence or ""] = start
    return list(found.values())


def _records(tree: Any) -> Iterator[Mapping[str, Any]]:
    """Every object, at any depth, that states a licence."""
    if isinstance(tree, dict):
        if isinstance(tree.get("licence"), str):
            yield tree
        for value in tree.values():
            yield from _records(value)


def _start(record: Mapping[str, Any]) -> Start:
    licence = record["licence"]
    return Start(str(record.get("from") or record.get("url") or "a source"), None if licence in UNKNOWN else licence)
