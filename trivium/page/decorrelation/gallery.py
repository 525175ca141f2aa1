"""Decorrelation's Figure 3: pictures with and without an object, and the two best sentences of every model."""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from markupsafe import Markup

from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.core.tables import read_table
from trivium.decorrelation.matrix import groups
from trivium.formats import masks
from trivium.page.decorrelation.results import MAIN, Results, model_label
from trivium.page.html import half_each, render
from trivium.page.inline_pictures import outlined
from trivium.page.published import DATASETS, VARIANTS

SENTENCES = 2
FIRST = (("clip", "finetune"), ("clip", "ours"))  # models shown without asking, where one of them was trained
FILTERS = (
    ("all", "All"),
    ("right", "{} right"),
    ("wrong", "{} wrong"),
    ("fooled", "Finetune names what is gone"),
    ("partner", "Partner still there"),
)


@dataclass(frozen=True)
class Piece:
    """Part of a sentence: `status` is present, gone, absent (a class that was never there), or empty."""

    text: str
    status: str


def status_of(classes: Iterable[str], removed: set[str], present: set[str]) -> str:
    """What a phrase that names these classes says about a picture."""
    named = set(classes)
    if named & removed:
        return "gone"
    if named & present:
        return "present"
    return "absent" if named else ""


def pieces(
    text: str, phrases: Sequence[Mapping[str, Any]], removed: set[str], present: set[str], longest: int
) -> list[Piece]:
    """Cut a sentence at its phrases; joined, the pieces are the text, or its first characters and an ellipsis.

    A phrase that begins within another is passed over.
    """
    cut, end = [], 0
    for phrase in sorted(phrases, key=lambda each: (each["start"], -each["end"])):
        status = status_of(phrase["classes"], removed, present)
        if not status or phrase["start"] < end or phrase["end"] > longest:
            continue
        cut += [Piece(text[end : phrase["start"]], ""), Piece(text[phrase["start"] : phrase["end"]], status)]
        end = phrase["end"]
    cut.append(Piece(text[end:longest] + "…" * (len(text) > longest), ""))
    return [piece for piece in cut if piece.text]


def sentence(row: Mapping[str, Any], removed: set[str], present: set[str], longest: int) -> dict[str, Any]:
    """What the page shows of one retrieved sentence: its pieces, and whether it is right."""
    named = set(row["classes"])
    return {
        "pieces": pieces(row["text"], row["phrases"], removed, present, longest),
        "right": bool(named & present) and not named & removed,
    }


def draw(evaluated: pa.Table, reference: str, count: int, seed: int) -> list[str]:
    """Removal ids: as many that the reference cell gets wrong as right at the first sentence, as far as there are."""
    rows = evaluated.filter(pc.and_(pc.equal(evaluated["cell"], reference), pc.equal(evaluated["set"], "synthetic")))
    right = dict(zip(rows["query"].to_pylist(), rows["odmap@1"].to_pylist(), strict=True))
    wrong, good = (sorted(query for query, value in right.items() if bool(value) is side) for side in (False, True))
    return half_each(wrong, good, count, random.Random(seed))


def best(file: Path, queries: Sequence[str]) -> dict[str, list[int]]:
    """The ids of the best sentences for each of these queries."""
    table = read_table(file, ["query", "captions"])
    table = table.filter(pc.is_in(table["query"], pa.array(queries, pa.string())))
    found = dict(zip(table["query"].to_pylist(), table["captions"].to_pylist(), strict=True))
    if missing := [query for query in queries if query not in found]:
        raise BadInput("no sentences for a query", file=file, field="query", got=missing[0])
    return {query: captions[:SENTENCES] for query, captions in found.items()}


def rows_by(file: Path, key: str, wanted: Iterable[Any], columns: Sequence[str]) -> dict[Any, dict[str, Any]]:
    """{key: row} of the rows of a table whose key is wanted."""
    table = read_table(file, [key, *columns])
    chosen = table.filter(pc.is_in(table[key], pa.array(sorted(set(wanted)), table.schema.field(key).type)))
    return {row[key]: row for row in chosen.to_pylist()}


def gallery_html(
    results: Results, data: Path, settings: Mapping[str, Any]
) -> tuple[dict[str, Markup], dict[str, float]]:
    """The `gallery` and a `picture` of it, and how much it shows: `examples`, `pictures_missing`.

    Args:
        results: of stage evaluate.
        data: folder of the stages' outputs.
        settings: `examples` and `seed` of the draw; `image_side`, pixels of a picture's longer side;
            `sentence_characters`, of which the rest of a longer one is cut off.
    """
    dataset, longest, side = results.datasets[0], settings["sentence_characters"], settings["image_side"]
    facts = ["cell", "set", "query", "odmap@1", "removed_named", "partner_remains"]
    evaluated = read_table(data / "evaluation.parquet", facts)
    cells = shown_cells(results, dataset)
    asked = _reference(cells)
    reference, short = cells[asked], "Ours" if asked == FIRST[-1] else _name(*asked)
    chosen = draw(evaluated, reference, settings["examples"], settings["seed"])
    columns = ["picture", "name", "class", "removed", "remaining", "mask", "height", "width"]
    of_query = rows_by(data / "removals" / dataset / "removals.parquet", "removal", chosen, columns)
    pictures = {query: str(of_query[query]["picture"]) for query in chosen}
    found = {}
    for cell in cells.values():
        lists = data / "retrieved" / cell
        original = best(lists / "original.parquet", list(dict.fromkeys(pictures.values())))
        found[cell] = original, best(lists / "synthetic.parquet", chosen)
    wanted = {caption for lists in found.values() for each in lists for ids in each.values() for caption in ids}
    texts = rows_by(data / "phrases" / f"{dataset}.parquet", "caption", wanted, ["text", "phrases", "classes"])
    synthetic = evaluated.filter(pc.equal(evaluated["set"], "synthetic")).to_pylist()
    of_cell = {(row["cell"], row["query"]): row for row in synthetic if row["query"] in pictures}
    originals = Images(data / "raw" / dataset / "images")
    holes = Images(data / "painted" / dataset / results.cells[reference].queries / "test")
    items = []
    for query in chosen:
        about = of_query[query]
        removed, present = set(about["removed"]), set(about["remaining"])
        mask = masks.decode(about["mask"], about["height"], about["width"])
        finetune = of_cell.get((cells.get(FIRST[0], ""), query))
        tags = ["right" if of_cell[reference, query]["odmap@1"] > 0 else "wrong"]
        tags += ["fooled"] * bool(finetune and finetune["removed_named"])
        tags += ["partner"] * bool(of_cell[reference, query]["partner_remains"])
        models = [
            {
                "name": _name(*key),
                "first": key in FIRST or not set(FIRST) & set(cells),
                "original": [
                    sentence(texts[each], set(), present | removed, longest) for each in found[cell][0][pictures[query]]
                ],
                "painted": [sentence(texts[each], removed, present, longest) for each in found[cell][1][query]],
            }
            for key, cell in cells.items()
        ]
        name = about["name"]
        items.append(
            {
                "original": outlined(originals.read(name), side, mask) if name in originals else None,
                "painted": outlined(holes.read(query), side) if query in holes else None,
                "removed": sorted(removed),
                "present": sorted(present),
                "tags": tags,
                "models": models,
            }
        )
    html = render(
        "decorrelation_gallery.html",
        items=items,
        filters=[(tag, label.format(short)) for tag, label in FILTERS if tag != "fooled" or FIRST[0] in cells],
        reference="ours (CLIP, first seed)" if asked == FIRST[-1] else short,
        seed=settings["seed"],
        dataset=DATASETS[dataset],
    )
    missing = sum(item[name] is None for item in items for name in ("original", "painted"))
    counts = {"examples": float(len(items)), "pictures_missing": float(missing)}
    return {"gallery": html, "picture": picture_html(items)}, counts


def picture_html(items: Sequence[Mapping[str, Any]]) -> Markup:
    """A picture before and after, and what two models say of it: where finetune is fooled and ours is right, if any."""

    def tells(item: Mapping[str, Any]) -> tuple[bool, bool]:
        return {"right", "fooled"} <= set(item["tags"]), item["painted"] is not None

    return render("decorrelation_picture.html", item=max(items, key=tells, default=None))


def _reference(cells: Mapping[tuple[str, str], str]) -> tuple[str, str]:
    """The (model, variant) whose first sentences decide which queries are shown."""
    return FIRST[-1] if FIRST[-1] in cells else list(cells)[-1]


def _name(model: str, variant: str) -> str:
    return f"{model_label(model)} {VARIANTS[variant]}"


def shown_cells(results: Results, dataset: str) -> dict[tuple[str, str], str]:
    """{(model, variant): its first cell} of the rows of Table 1 that were asked the same pictures."""
    members = groups(results.cells)
    named = {(model, variant): f"{dataset}_{model}_{variant}" for model, variant in MAIN}
    there = {key: next(iter(members[group])) for key, group in named.items() if group in members}
    if not there:
        raise BadInput("no row of table 1 among the cells", field="decorrelation.cells", got=dataset)
    queries = results.cells[there[_reference(there)]].queries
    return {key: cell for key, cell in there.items() if results.cells[cell].queries == queries}
