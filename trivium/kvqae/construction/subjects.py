"""Describe linked entities by Wikidata, and select those that questions may be about (kvqae.md §2, step 3).

Wikidata changes: the image is the one that the knowledge base's own entities name, not today's. The Commons category,
if any, is used in the next step.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

import pyarrow as pa

from trivium.core.errors import BadInput
from trivium.core.tables import read_csv
from trivium.formats.wikidata import Entity, WikidataFile
from trivium.kvqae.construction.linking import LINK_SCHEMA
from trivium.kvqae.knowledge_base.articles import describe


def class_ancestors(item: str, superclasses: Callable[[str], Iterable[str]]) -> set[str]:
    """Collect the class itself and all classes that it is directly or indirectly a subclass of.

    `superclasses` returns a class's direct ones.
    """
    ancestors, pending = {item}, [item]
    while pending:
        above = set(superclasses(pending.pop())) - ancestors
        ancestors |= above
        pending += above
    return ancestors


SUBJECT_SCHEMA = pa.schema(
    [
        *LINK_SCHEMA,
        ("name", pa.string()),  # the entity's label in Wikidata
        ("types", pa.list_(pa.string())),  # labels of its concrete types
        ("occupations", pa.list_(pa.string())),
        ("gender", pa.string()),
        ("human", pa.bool_()),
        ("commons", pa.string()),  # its category, null when it has none
        ("reference", pa.string()),
    ]
)

# Why a subject is left out; the first that applies counts.
Reason = Literal["no_item", "abstract_type", "living_person", "no_kb_image"]
REASONS: tuple[Reason, ...] = get_args(Reason)
_ITEM = re.compile(r"Q?(\d+)")


def read_concrete_types(path: Path) -> dict[str, str]:
    """Read the manual list of types: CSV lines `id,label`; further columns and a heading `id,...` are ignored.

    An id may be an address, and lack the Q, as in the list of ViQuAE's authors.
    """
    types: dict[str, str] = {}
    for row, columns in read_csv(path):
        if columns[0].startswith("#") or (row == 1 and columns[0] == "id"):
            continue
        match = _ITEM.fullmatch(columns[0].strip().rpartition("/")[2])
        if match is None or len(columns) < 2:
            raise BadInput("not a type", file=path, row=row, got=columns, expected="id,label such as Q12280,bridge")
        types[f"Q{match[1]}"] = columns[1].strip()
    if not types:
        raise BadInput("no concrete types", file=path, expected="one a line, id,label")
    return types


def describe_subject(
    entity: Entity | None,
    in_base: Entity | None,
    wikidata: WikidataFile,
    is_concrete: Callable[[str], bool],
    image_properties: tuple[str, ...],
) -> dict[str, Any] | Reason:
    """Describe an entity as columns of its mentions (and `aliases`), or say why it is left out.

    `in_base` is the entity in the knowledge base, which names the available image.
    """
    if entity is None:
        return "no_item"
    concrete = [item for item in entity.values("P31") if is_concrete(item)]
    if entity.human and not entity.deceased:
        return "living_person"
    if not entity.human and not concrete:
        return "abstract_type"
    reference = in_base.image(image_properties) if in_base else None
    if reference is None:
        return "no_kb_image"
    about = describe(entity, wikidata, image_properties)
    commons = next(iter(entity.values("P373")), None)
    return {
        "name": entity.label,
        "aliases": entity.aliases,
        "types": _without_ids(["human"] if entity.human else map(wikidata.label, concrete)),
        "occupations": _without_ids(about["occupations"]),
        "gender": about["gender"],
        "human": entity.human,
        "commons": commons and commons.removeprefix("Category:").replace("_", " "),
        "reference": reference,
    }


def _without_ids(labels: Iterable[str]) -> list[str]:
    """Remove duplicates, and ids, which replace missing English labels."""
    return [label for label in dict.fromkeys(labels) if not _ITEM.fullmatch(label)]


def add_subjects(
    rows: Sequence[dict[str, Any]],
    wikidata: WikidataFile,
    base: WikidataFile,
    concrete_types: Collection[str],
    image_properties: tuple[str, ...],
) -> tuple[list[dict[str, Any]], dict[str, float]]:
    """Add columns from Wikidata to each linked mention; drop and count those that no question may be about.

    `rows` have `LINK_SCHEMA`, the returned ones `SUBJECT_SCHEMA`; `base` has the knowledge base's entities. The count
    `dropped_share` is the paper's: living persons and abstract types among all linked mentions.
    """

    @cache
    def superclasses(item: str) -> tuple[str, ...]:
        entity = wikidata.get(item)
        return entity.values("P279") if entity else ()

    def is_concrete(item: str) -> bool:
        return not class_ancestors(item, superclasses).isdisjoint(concrete_types)

    @cache
    def subject_of(item: str) -> dict[str, Any] | Reason:
        return describe_subject(wikidata.get(item), base.get(item), wikidata, is_concrete, image_properties)

    counts: Counter[str] = Counter(dict.fromkeys((*REASONS, *_PERSON_COUNTS), 0))
    kept = []
    for row in rows:
        subject = subject_of(row["wikidata_id"] or "")
        if isinstance(subject, str):
            counts[subject] += 1
            continue
        columns = {name: value for name, value in subject.items() if name != "aliases"}
        names = [*row["names"], *filter(None, [subject["name"], *subject["aliases"]])]
        kept.append(row | columns | {"name": subject["name"] or row["title"], "names": list(dict.fromkeys(names))})
        if subject["human"]:
            occupations = len(subject["occupations"])
            flags = (True, subject["gender"] is None, occupations == 0, occupations > 1)
            counts.update(dict(zip(_PERSON_COUNTS, map(int, flags), strict=True)))
    dropped = counts["abstract_type"] + counts["living_person"]
    metrics = {"linked": len(rows), "kept": len(kept), "dropped_share": dropped / len(rows) if rows else 0.0}
    return kept, {name: float(value) for name, value in (metrics | counts).items()}


_PERSON_COUNTS = ("persons", "person_without_gender", "person_without_occupation", "person_with_several_occupations")
