"""Decorrelation's Figure 3: pictures with and without an object, and the two best sentences of every model."""

import random
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from markupsafe import Markup

from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.core.tables import read_table
from trivium.decorrelation.models.kind import KINDS
from trivium.formats import masks
from trivium.page.decorrelation.results import LABELS, MAIN, Results
from trivium.page.html import half_each, render
from trivium.page.inline_pictures import draw_outlined
from trivium.page.published import DATASETS, VARIANTS

SENTENCES = 2
FIRST = (("clip", "finetune"), ("clip", "ours"))  # models shown without asking, where one of them was trained
FACTS = ("query", "odmap@1", "removed_named", "partner_remains")  # of an answer


def status_of(classes: Iterable[str], removed: set[str], present: set[str]) -> str:
    """What a phrase that names these classes says about a picture: gone, present, absent (never there), or nothing."""
    named = set(classes)
    return "gone" if named & removed else "present" if named & present else "absent" if named else ""


def sentence(row: Mapping[str, Any], removed: set[str], present: set[str]) -> dict[str, Any]:
    """A retrieved sentence cut at its phrases, and whether it is right.

    Joined, the (text, status) pairs of `pieces` are the sentence. A phrase that begins within another is passed over.
    """
    text, cut, end = row["text"], [], 0
    for phrase in sorted(row["phrases"], key=lambda phrase: (phrase["start"], -phrase["end"])):
        status = status_of(phrase["classes"], removed, present)
        if status and phrase["start"] >= end:
            cut += [(text[end : phrase["start"]], ""), (text[phrase["start"] : phrase["end"]], status)]
            end = phrase["end"]
    named = set(row["classes"])
    return {"pieces": [*cut, (text[end:], "")], "right": bool(named & present) and not named & removed}


def best(file: Path, queries: Sequence[str]) -> dict[str, list[int]]:
    """{query: the ids of its best sentences}."""
    rows = rows_by(file, "query", queries, ["captions"])
    return {query: rows[query]["captions"][:SENTENCES] for query in queries}


def rows_by(file: Path, key: str, values: Iterable[Any], columns: Sequence[str]) -> dict[Any, dict[str, Any]]:
    """{value: row} of the rows of a table whose column `key` has one of these values."""
    table = read_table(file, [key, *columns])
    chosen = table.filter(pc.is_in(table[key], pa.array(sorted(set(values)), table.schema.field(key).type)))
    return {row[key]: row for row in chosen.to_pylist()}


def gallery_html(
    results: Results, data: Path, settings: Mapping[str, Any]
) -> tuple[dict[str, Markup], dict[str, float]]:
    """The `gallery` and a `picture` of it, and how much it shows: `examples`, `pictures_missing`.

    Half of the queries, as far as can be, are such as the reference cell gets wrong at the first sentence. The picture
    is the one of `clearest`, if there is one, in the place of the last that was drawn. `data` is the folder of the
    stages' outputs, `settings` are `decorrelation.page.gallery`.
    """
    dataset, side = results.datasets[0], settings["image_side"]
    cells, judge = shown_cells(results, dataset)
    reference = cells[judge]
    names = {(model, variant): f"{KINDS[model].label} {VARIANTS[variant]}" for model, variant in cells}
    evaluated = read_table(data / "evaluation.parquet", ["cell", "set", *FACTS])
    evaluated = evaluated.filter(pc.equal(evaluated["set"], "synthetic"))
    judged = evaluated.filter(pc.equal(evaluated["cell"], reference)).to_pylist()
    wrong, right = (sorted(row["query"] for row in judged if bool(row["odmap@1"]) is good) for good in (False, True))
    chosen = half_each(wrong, right, settings["examples"], random.Random(settings["seed"]))
    originals = Images(data / "raw" / dataset / "images")
    holes = Images(data / "painted" / dataset / results.cells[reference].queries / "test")
    fooled = evaluated.filter(pc.and_(pc.equal(evaluated["cell"], cells.get(FIRST[0], "")), evaluated["removed_named"]))
    telling = sorted({query for query in fooled["query"].to_pylist() if query in holes} & set(right))
    shown = clearest(telling, data, dataset, reference) if telling else next(iter(chosen), "")
    if chosen and shown not in chosen:
        chosen[-1] = shown

    columns = ["picture", "name", "removed", "remaining", "mask", "height", "width"]
    of_query = rows_by(data / "removals" / dataset / "removals.parquet", "removal", chosen, columns)
    pictures = {query: str(of_query[query]["picture"]) for query in chosen}
    lists = {}
    for key, cell in cells.items():
        original = best(data / "retrieved" / cell / "original.parquet", list(dict.fromkeys(pictures.values())))
        lists[key] = original, best(data / "retrieved" / cell / "synthetic.parquet", chosen)
    captions = {caption for both in lists.values() for rows in both for ids in rows.values() for caption in ids}
    texts = rows_by(data / "phrases" / f"{dataset}.parquet", "caption", captions, ["text", "phrases", "classes"])
    of_cell = {(row["cell"], row["query"]): row for row in evaluated.to_pylist() if row["query"] in pictures}
    items: dict[str, dict[str, Any]] = {}
    for query, picture in pictures.items():
        about, row, finetune = of_query[query], of_cell[reference, query], of_cell.get((cells.get(FIRST[0], ""), query))
        removed, present, name = set(about["removed"]), set(about["remaining"]), about["name"]
        mask = masks.decode(about["mask"], about["height"], about["width"])
        models = [
            {"name": names[key], "first": key in FIRST or not set(FIRST) & set(cells),
             "original": [sentence(texts[of], set(), present | removed) for of in before[picture]],
             "painted": [sentence(texts[of], removed, present) for of in after[query]]}
            for key, (before, after) in lists.items()
        ]  # fmt: skip
        tags = ["right" if row["odmap@1"] > 0 else "wrong"]
        tags += ["fooled"] * bool(finetune and finetune["removed_named"]) + ["partner"] * bool(row["partner_remains"])
        items[query] = {
            "original": draw_outlined(originals.read(name), side, mask) if name in originals else None,
            "painted": draw_outlined(holes.read(query), side) if query in holes else None,
            "removed": sorted(removed),
            "present": sorted(present),
            "tags": tags,
            "models": models,
        }
    short, reference = ("Ours", "ours (CLIP, first seed)") if judge == FIRST[-1] else (names[judge], names[judge])
    labels = LABELS["filters"].items()
    filters = [(tag, label.format(short)) for tag, label in labels if tag != "fooled" or FIRST[0] in cells]
    html = render("decorrelation_gallery.html", items=list(items.values()), filters=filters, reference=reference,
                  seed=settings["seed"], dataset=DATASETS[dataset])  # fmt: skip
    missing = sum(item[name] is None for item in items.values() for name in ("original", "painted"))
    counts = {"examples": float(len(items)), "pictures_missing": float(missing)}
    return {"gallery": html, "picture": render("decorrelation_picture.html", item=items.get(shown))}, counts


def clearest(queries: Sequence[str], data: Path, dataset: str, cell: str) -> str:
    """The query whose best sentences by a cell name least that was never in the picture, and most that is there."""
    sentences = best(data / "retrieved" / cell / "synthetic.parquet", queries)
    captions = chain.from_iterable(sentences.values())
    phrases = rows_by(data / "phrases" / f"{dataset}.parquet", "caption", captions, ["phrases"])
    about = rows_by(data / "removals" / dataset / "removals.parquet", "removal", queries, ["removed", "remaining"])

    def tells(query: str) -> tuple[int, int]:
        removed, present = set(about[query]["removed"]), set(about[query]["remaining"])
        of_query = [phrase for caption in sentences[query] for phrase in phrases[caption]["phrases"]]
        said = [status_of(phrase["classes"], removed, present) for phrase in of_query]
        return -said.count("absent") - said.count("gone"), said.count("present")

    return max(queries, key=tells)


def shown_cells(results: Results, dataset: str) -> tuple[dict[tuple[str, str], str], tuple[str, str]]:
    """{(model, variant): its first cell} of the rows of Table 1 that were asked the same pictures.

    And the key of the one whose first sentences decide which queries are shown.
    """
    groups = {(model, variant): f"{dataset}_{model}_{variant}" for model, variant in MAIN}
    first = {key: next(iter(results.members[group])) for key, group in groups.items() if group in results.members}
    if not first:
        raise BadInput("no row of table 1 among the cells", field="decorrelation.cells", got=dataset)
    judge = FIRST[-1] if FIRST[-1] in first else list(first)[-1]
    queries = results.cells[first[judge]].queries
    return {key: cell for key, cell in first.items() if results.cells[cell].queries == queries}, judge
