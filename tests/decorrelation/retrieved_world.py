"""A small data set whose cells were trained and asked, in the files of the stages before evaluate and the report."""

import io
import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import yaml
from PIL import Image, ImageDraw

from stages.decorrelation import evaluate
from trivium.core.image_shards import write_images
from trivium.core.tables import write_json, write_table
from trivium.decorrelation.captions.phrases import SCHEMA as PHRASES_SCHEMA
from trivium.decorrelation.co_occurrence import count_co_occurrence, write_co_occurrence
from trivium.decorrelation.evaluation import tables
from trivium.decorrelation.matrix import parse_cell
from trivium.decorrelation.removals import write_removals
from trivium.formats import masks
from trivium.formats.corpus_table import load_corpus, write_corpus
from trivium.formats.pictures import Caption, Corpus, Object, Picture, Removal, removal_id

CLASSES = ("dog", "frisbee", "person", "kite", "car", "bench", "hot dog", "cup <b>")
PARTNERS = {"dog": "frisbee", "frisbee": "dog", "person": "kite", "kite": "person"}
HOSTILE = "<script>alert('x')</script> & {{ 7 * 7 }}"
COLOURS = ("#7a4b2a", "#2a7ad1", "#d1a02a", "#c23b6b", "#4f9d69", "#8a6d3b", "#b5651d", "#eeeeee")
SIDE = 64
SPLITS = {"val": "validation"}
BIAS = {"zero_shot": 0.6, "finetune": 1.2, "longer": 1.1, "ours": -0.8, "zero": 0.2}
PARAMETERS: dict[str, Any] = {
    "evaluate": {
        "partner_probability": 0.5,
        "permutations": 200,
        "confidence": 0.95,
        "resamples": 200,
        "seed": 0,
    },
    "paintings": {
        f"{dataset}_cv2": {"dataset": dataset, "filling": "cv2"} for dataset in ("coco", "flickr30k", "control")
    },
    "entities": {"confidence": 0.95},
    "phrases": {"matching": "strict"},
    "retrieve": {"depth": 10, "picture_batch": 8, "threads": None, "candidates": {}},
    "removals": {"delta1": 0.4, "delta2": 0.8, "delta3": 0.7, "training": "one"},
    "pairs": {"captions_an_image": 1},
    "train": {
        "models": {
            "clip": {"steps": 22130, "synthetic_share": 0.5},
            "vse": {"steps": 22130, "margin": 0.2, "batch_size": 64},
            "vse_scratch": {"steps": 22130, "margin": 0.2, "batch_size": 64},
        },
    },
    "page": {
        "significance": 0.05,
        "margin": 0.05,
        "gallery": {"examples": 8, "image_side": 160, "seed": 0},
    },
    "page_entities": {},
}

EVALUATE = tables.EvaluateParameters(**PARAMETERS["evaluate"])


def cell(dataset: str, model: str, variant: str, **changes: Any) -> dict[str, Any]:
    """A cell's fields: those of `ours`, without D' for the variants trained on D alone."""
    alone = variant in ("zero_shot", "finetune", "longer")
    fields = {
        "dataset": dataset,
        "model": model,
        "filling": "none" if alone else "cv2",
        "captions": "none" if alone else "noun_phrase",
        "queries": "cv2",
    }
    return fields | ({"steps": 2} if variant == "longer" else {}) | changes


Row = tuple[str, str, str, int, dict[str, Any]]


def named(rows: list[Row]) -> dict[str, dict[str, Any]]:
    """Cells by name, of data set, model, variant, seed and what else they say."""
    return {
        f"{dataset}_{model}_{variant}_{seed}": cell(dataset, model, variant, **changes)
        for dataset, model, variant, seed, changes in rows
    }


def default_cells() -> dict[str, dict[str, Any]]:
    """The matrix of the sample, in small."""
    rows: list[Row] = [("coco", "clip", "zero_shot", 0, {})]
    rows += [("coco", "clip", variant, seed, {}) for variant in ("finetune", "ours") for seed in range(3)]
    rows += [
        ("coco", "clip", "longer", 0, {}),
        ("coco", "clip", "zero", 0, {"filling": "zero", "queries": "zero"}),
        *(("coco", "vse", variant, 0, {}) for variant in ("finetune", "ours")),
        *(("coco", "blip", variant, 0, {}) for variant in ("zero_shot", "finetune", "ours")),
        *(("control", "clip", variant, 0, {}) for variant in ("finetune", "ours")),
        *(("flickr30k", "clip", variant, 0, {}) for variant in ("zero_shot", "finetune", "ours")),
    ]
    return named(rows)


def grid_cells() -> dict[str, dict[str, Any]]:
    """Table 3, figure 4 and appendix B."""
    rows: list[Row] = [
        *(("coco", "clip", f"noun_phrase_{name}", 0, {"filling": name}) for name in ("blur", "zero", "mean")),
        *(("coco", "clip", f"{captions}_inpaint", 0, {"captions": captions}) for captions in ("captioner", "prompt")),
        *(("coco", "clip", f"share{share}", seed, {"share": share / 100}) for share in (25, 50) for seed in range(3)),
        ("coco", "clip", "subset", 0, {"original": "subset"}),
        ("coco", "clip", "synthetic", 0, {"original": "none"}),
    ]
    return named(rows)


def pictures_of(planted: bool, pictures: int, seed: int) -> list[dict[str, Any]]:
    """Pictures with two or three classes each, one box a class; `planted`: partners stand together."""
    rng = random.Random(seed)
    made = []
    for number in range(pictures):
        if planted and number % 5:
            first = rng.choice(list(PARTNERS))
            names = [first, PARTNERS[first], rng.choice(CLASSES[4:])][: 2 + number % 2]
        else:
            names = rng.sample(CLASSES, 2 + number % 2)
        places = rng.sample([(x, y) for x in (2, 24, 46) for y in (4, 24, 44)], len(names))
        split = "test" if number % 2 else "val" if number % 10 == 0 else "train"
        boxes = {name: (float(x), float(y), 16.0, 16.0) for name, (x, y) in zip(names, places, strict=True)}
        made.append({"id": number, "name": f"scene-{number:04d}.png", "split": split, "boxes": boxes})
    return made


def captions_of(picture: dict[str, Any]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Five sentences with their phrases; every fifth picture's first is hostile, its last names nothing."""
    names = list(picture["boxes"])
    told = []
    for turn in range(5):
        text, phrases = "Here we see" if turn % 2 else "A photo of", []
        for place, name in enumerate(names if turn < 4 else names[:1]):
            text += f" and a {name}" if place else f" a {name}"
            phrases.append({"start": len(text) - len(name) - 2, "end": len(text), "classes": [name]})
        if turn == 0 and picture["id"] % 5 == 0:
            text += f" {HOSTILE}"
        told.append((text, phrases))
    return told


def draw(picture: dict[str, Any], gone: tuple[str, ...] = ()) -> bytes:
    image = Image.new("RGB", (SIDE, SIDE), "#c9d6c3")
    pen = ImageDraw.Draw(image)
    for line in range(0, SIDE, 8):
        pen.line((0, line, SIDE, line), fill="#b8c8b0")
    for name, (x, y, w, h) in picture["boxes"].items():
        if name not in gone:
            pen.ellipse((x, y, x + w - 1, y + h - 1), fill=COLOURS[CLASSES.index(name)])
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def removal_of(picture: dict[str, Any], identifier: str, gone: str, box: tuple[float, ...]) -> Removal:
    split, removed = SPLITS.get(picture["split"], picture["split"]), (gone,) if gone else ()
    remaining = tuple(name for name in sorted(picture["boxes"]) if name != gone)
    mask, share = masks.encode(masks.rasterise_boxes([box], SIDE, SIDE)), box[2] * box[3] / SIDE**2
    place = (identifier, picture["id"], picture["name"], split, gone, removed, remaining)
    return Removal(*place, mask, SIDE, SIDE, share, drawn=split == "test")


def removals_of(pictures: list[dict[str, Any]]) -> tuple[list[Removal], list[Removal]]:
    """Every class of every picture, and an empty box a test picture."""
    found = [
        removal_of(picture, removal_id(picture["id"], name), name, box)
        for picture in pictures
        for name, box in picture["boxes"].items()
    ]
    tested = [picture for picture in pictures if picture["split"] == "test"]
    return found, [removal_of(each, f"{each['id']}_empty", "", (0.0, 60.0, 64.0, 4.0)) for each in tested]


def write_data_set(folder: Path, dataset: str, pictures: int = 60) -> None:
    """raw, phrases, removals, painted and pairs of one data set under the folder."""
    made = pictures_of(dataset != "control", pictures, seed=len(dataset))
    found, empty = removals_of(made)
    raw = folder / "raw" / dataset
    rows, shown = [], []
    for picture in made:
        split, captions = SPLITS.get(picture["split"], picture["split"]), []
        for turn, (text, phrases) in enumerate(captions_of(picture)):
            captions.append(Caption(5 * picture["id"] + turn, text))
            names = sorted({name for phrase in phrases for name in phrase["classes"]})
            rows.append((captions[-1].id, picture["id"], split, text, phrases, names))
        objects = tuple(Object(name, box) for name, box in picture["boxes"].items())
        shown.append(Picture(picture["id"], picture["name"], split, SIDE, SIDE, objects, tuple(captions)))
    write_images(raw / "images", ((picture["name"], draw(picture)) for picture in made))
    write_corpus(raw, Corpus(tuple(shown), CLASSES, {}))
    columns = [
        pa.array(column, field.type) for column, field in zip(zip(*rows, strict=True), PHRASES_SCHEMA, strict=True)
    ]
    write_table(folder / "phrases" / f"{dataset}.parquet", pa.table(columns, schema=PHRASES_SCHEMA))
    write_removals(folder / "removals" / dataset / "removals.parquet", found)
    write_removals(folder / "removals" / dataset / "empty.parquet", empty)
    by_id = {picture["id"]: picture for picture in made}
    tested = [removal for removal in found if removal.split == "test"]
    for filling in ("cv2", "zero"):
        write_images(
            folder / "painted" / dataset / filling / "test",
            ((each.id, draw(by_id[each.picture], each.removed)) for each in tested),
        )
    trained = [each for each in found if each.split == "train"]
    for filling in ("cv2", "zero", "blur", "mean"):
        for captions in ("noun_phrase", "grammatical", "prompt", "captioner"):
            table = pa.table(
                {
                    "removal": [each.id for each in trained],
                    "picture": [each.picture for each in trained],
                    "caption": [5 * each.picture for each in trained],
                    "text": ["A photo."] * len(trained),
                }
            )
            write_table(folder / "pairs" / dataset / f"{filling}_{captions}.parquet", table)


def write_retrieved(folder: Path, name: str, fields: dict[str, Any], pictures: int = 60, depth: int = 12) -> None:
    """What a model that says what usually stands together, more or less so by its variant, would retrieve."""
    each = parse_cell(name, fields, Path("params.yaml"))
    made = pictures_of(each.dataset != "control", pictures, seed=len(each.dataset))
    found, empty = removals_of(made)
    rng = np.random.default_rng([each.seed, sum(map(ord, name))])
    texts = [captions_of(picture) for picture in made]
    code = {label: place for place, label in enumerate(CLASSES)}
    named = np.zeros((5 * pictures, len(CLASSES)))
    for number, told in enumerate(texts):
        for turn, (_, phrases) in enumerate(told):
            named[5 * number + turn, [code[phrase["classes"][0]] for phrase in phrases]] = 1
    bias = BIAS.get(each.variant, -0.4) + (each.model == "vse") * 0.5

    def lists(queries: list[tuple[str, tuple[str, ...], tuple[str, ...]]]) -> pa.Table:
        captions, scores = [], []
        for _, present, removed in queries:
            wanted = np.full(len(CLASSES), -0.6)
            wanted[[code[label] for label in present]] = 1.0
            for label in removed:
                fooled = PARTNERS.get(label) in present and each.dataset != "control"
                wanted[code[label]] = bias if fooled else -0.7
            points = named @ wanted + rng.normal(0, 0.5, len(named))
            best = np.lexsort((np.arange(len(points)), -points))[:depth]
            captions.append(best.tolist())
            scores.append(points[best].tolist())
        return pa.table(
            {
                "query": pa.array([identifier for identifier, *_ in queries], pa.string()),
                "captions": pa.array(captions, pa.list_(pa.int64())),
                "scores": pa.array(scores, pa.list_(pa.float32())),
            }
        )

    tested = [removal for removal in found if removal.split == "test"]
    out = folder / "retrieved" / name
    sets = {
        "synthetic": [(removal.id, removal.remaining, removal.removed) for removal in tested],
        "empty": [(removal.id, removal.remaining, ()) for removal in empty],
        "original": [(str(picture["id"]), tuple(picture["boxes"]), ()) for picture in made if picture["id"] % 2],
    }
    if each.dataset != "flickr30k":
        sets["rendered"] = sets["synthetic"]
    for kind, queries in sets.items():
        write_table(out / f"{kind}.parquet", lists(queries))
    images = [picture["id"] for picture in made if picture["split"] == "test"]
    sentences = [5 * picture + turn for picture in images for turn in range(5)]
    for kind, asked in (("image_to_text", images), ("text_to_image", sentences), ("empty_image_to_text", images)):
        ranks = pa.array(rng.geometric(0.4, len(asked)), pa.int32())
        write_table(out / f"{kind}.parquet", pa.table({"query": pa.array(asked, pa.int64()), "rank": ranks}))


REMOVALS = {
    "pictures_train": 24.0,
    "pictures_test": 30.0,
    "removals_train": 60.0,
    "removals_test": 75.0,
    "drawn_train": 24.0,
    "rejected_size": 3.0,
    "rejected_overlap": 7.0,
}
ROWS = ("kvqae", "zero_shot", "finetune", "ours")
ENTITIES = {
    "questions": 60,
    "entities": 300,
    "entities_asked": 45,
    "questions_entity_not_searched": 7,
    "rows": {
        row: {key: {"value": 0.25, "interval": [0.2, 0.3]} for key in ("mrr", "precision@1", "hits@20")} for row in ROWS
    },
    "tests": [
        {"measure": "mrr", "row": row, "against": other, "difference": 0.01, "p": 0.5}
        for place, row in enumerate(ROWS)
        for other in ROWS[:place]
    ],
}
PHRASES = {"captions": 300.0, "named_precision": 0.9375, "named_recall": 0.8125}
CHUNKER = {"chunker_precision": 0.75, "chunker_recall": 0.625, "chunker_f1": 0.6818}


DIFFERENT = {"captioner": 1.0}  # captions in D', where they are not 20


def write_metrics(folder: Path, cells: dict[str, dict[str, Any]]) -> None:
    """What the stages before evaluate count."""
    for dataset in dict.fromkeys(each["dataset"] for each in cells.values()):
        write_json(folder / f"removals_{dataset}.json", REMOVALS)
        write_json(folder / f"inpaint_{dataset}_cv2.json", {"train": 60.0, "test": 75.0, "empty": 28.0})
        write_json(folder / f"phrases_{dataset}.json", PHRASES | (CHUNKER if dataset == "flickr30k" else {}))
        corpus = load_corpus(folder.parent / "raw" / dataset)
        write_co_occurrence(folder / f"co_occurrence_{dataset}.csv", count_co_occurrence(corpus))
        write_json(folder / f"world_{dataset}.json", {"pictures_train": 24.0})
    write_json(folder / "entities_table.json", ENTITIES)
    for cell_name, each in cells.items():
        trained = {} if "_zero_shot_" in cell_name else {"loss": 20.0, "synthetic_pairs": 24.0}
        write_json(folder / f"train_{cell_name}.json", {"steps": 100.0, **trained})
        if each["captions"] != "none":
            name = f"pairs_{each['dataset']}_{each['filling']}_{each['captions']}.json"
            write_json(folder / name, {"pairs": 24.0, "different_captions": DIFFERENT.get(each["captions"], 20.0)})


def write_world(folder: Path, cells: dict[str, dict[str, Any]] | None = None) -> dict[str, dict[str, Any]]:
    """Everything that evaluate and the report read, and a params.yaml; returns the cells."""
    cells = default_cells() if cells is None else cells
    for dataset in dict.fromkeys(each["dataset"] for each in cells.values()):
        write_data_set(folder, dataset)
    for name, fields in cells.items():
        write_retrieved(folder, name, fields)
    write_metrics(folder / "metrics", cells)
    section = PARAMETERS | {"cells": cells, "world": {"seed": 3}}
    world = {"coco": "sample", "flickr30k": "sample"}
    (folder / "params.yaml").write_text(yaml.safe_dump({"world": world, "decorrelation": section}), encoding="utf-8")
    return cells


def paths(folder: Path) -> dict[str, Path]:
    """Arguments of evaluate."""
    return {name: folder / name for name in ("raw", "phrases", "removals", "pairs", "retrieved")} | {
        "used": folder / "params.yaml",
        "out": folder / "evaluation.parquet",
        "out_comparisons": folder / "metrics" / "comparisons.json",
        "out_classes": folder / "metrics" / "classes.csv",
    }


def evaluated(folder: Path, cells: dict[str, dict[str, Any]] | None = None) -> dict[str, Path]:
    """The world with its evaluation; returns the arguments of the page."""
    write_world(folder, cells)
    write_json(
        folder / "metrics" / "evaluate.json",
        evaluate.main(EVALUATE, **paths(folder)),  # type: ignore[arg-type]
    )
    return {
        "data": folder,
        "measured": folder / "metrics",
        "entities": folder / "metrics" / "entities_table.json",
        "published": Path("tests/published/decorrelation.yaml"),
        "used": folder / "params.yaml",
        "paper": Path("scales/paper.yaml"),
    }
