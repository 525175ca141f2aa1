"""KVQAE's tables of retrieval and re-ranking, 2 to 6, how fusions were tuned, the split by overlap, and Figure 4."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from string import ascii_lowercase
from typing import Any

import pyarrow as pa
from markupsafe import Markup

from trivium.core.parameters import read_beside
from trivium.kvqae.rerankers.reranker import RERANKERS, select_by_input
from trivium.kvqae.retrieval.evaluation import BEYOND, TEXT
from trivium.kvqae.retrieval.fusion import tuned_rows
from trivium.kvqae.retrieval.systems import PREFIX, is_brought, system_of
from trivium.kvqae.retrieval.text_encoders import TEXT_ENCODERS
from trivium.page.figures import draw_boxes
from trivium.page.html import Row, decimal, interval, percent, render
from trivium.page.kvqae.findings import RERANKING, Comparison, retrieval_findings
from trivium.page.published import MEASURES, RERANKED_TABLES, Shown
from trivium.vision.encoder_registry import ENCODERS, by_route

TEXT_LABELS = {"bm25": "B (BM25, text only)"}
TEXT_LABELS |= {name: f"{text.symbol} ({text.label}, text only)" for name, text in TEXT_ENCODERS.items()}
TEXT_LABELS |= {system_of(name): f"{of.symbol}→N ({of.label}, names by the picture)" for name, of in ENCODERS.items()}
_ADDED = {*BEYOND, *(row for name in set(TEXT_LABELS) - set(TEXT) for row in (name, f"{name}_image"))}
INITIAL = "dpr_few_shot_image"  # the row that the paper re-ranks
LABELS = read_beside(__file__, "labels.yaml")


def label_of(row: str, labels: Mapping[str, str]) -> str:
    """The label of a row in tables; a run that the user brought has the name of its file."""
    return labels.get(row) or (f"{row.removeprefix(PREFIX)} (brought)" if is_brought(row) else row)


def labels_of(image_encoders: Sequence[str], weights: str | Mapping[str, Mapping[str, float]]) -> dict[str, str]:
    """What tables call the rows of the first stage: texts, image encoders in use, and fusions as their formulae.

    `weights` is `kvqae.fuse.weights`, whose rows name their systems where they are not tuned.
    """
    rows = tuned_rows(TEXT_ENCODERS, image_encoders) if isinstance(weights, str) else weights
    labels = TEXT_LABELS | {row: _formula(list(systems)) for row, systems in rows.items()}
    for name in image_encoders:
        encoder = ENCODERS[name]
        factor, images = ("F", "face detected") if encoder.route == "face" else ("(1−F)", "no face")
        labels[name] = f"{factor}·{encoder.symbol} ({encoder.label}, {images})"
    return labels | {"rrf": "Reciprocal-rank fusion of all"}


def reranked_labels_of(first_stage: Mapping[str, str], rerankers: Iterable[str], initial: str) -> dict[str, str]:
    """What tables call the rows of the re-ranking, by the labels of the first stage and the row that is re-ranked."""
    names = tuple(rerankers)
    fused, parts = [name for name in names if RERANKERS[name].fused], {"initial": label_of(initial, first_stage)}
    for part, what in (("texts", ("text",)), ("images", ("face", "whole"))):
        parts[part] = " + ".join(RERANKERS[name].symbol for name in select_by_input(fused, *what))
    fusions = {name: text.format(**first_stage, **parts) for name, text in LABELS["reranked"].items()}
    return {name: RERANKERS[name].row for name in names} | fusions


def _formula(systems: Sequence[str]) -> str:
    """The formula of a fusion, such as `B + F·A + (1−F)(I + C)`."""
    terms = [label_of(name, TEXT_LABELS).split(" (")[0] for name in systems if name not in ENCODERS]
    routes = by_route(name for name in systems if name in ENCODERS)
    for encoders, factor in ((routes["face"], "F"), (routes["whole"], "(1−F)")):
        symbols = [ENCODERS[name].symbol for name in encoders]
        if symbols:
            terms.append(f"{factor}·{symbols[0]}" if len(symbols) == 1 else f"{factor}({' + '.join(symbols)})")
    return " + ".join(terms)


def retrieval_html(
    blocks: Mapping[str, Any], printed: Mapping[str, Any], section: Sequence[Shown], statistics: Mapping[str, float],
    labels: Mapping[str, str], comparisons: Sequence[Comparison], unlike: Collection[str] = (),
) -> Markup:  # fmt: skip
    """What comparisons of rows show, and the tables of one section's blocks: ours, and published numbers beside them.

    `blocks` are as stage `evaluate` writes them. `statistics` are `significance`, the level of the test, and the
    intervals' `confidence`. Beside rows `unlike` the paper's of the same name stand none of its numbers.
    """
    findings, parts = retrieval_findings(blocks, comparisons, statistics["significance"]), []
    for shown in section:
        block, paper = blocks.get(shown.block), _published_rows(shown, printed, unlike)
        rows = []
        for letter, row in zip(ascii_lowercase, block["rows"] if block else (), strict=False):
            name = row["name"]
            cells: list[Any] = [_cell(row, measure) for measure in MEASURES]
            if paper:
                cells += map(decimal, paper[name]["values"]) if name in paper else "–" * len(MEASURES)
            style = "beyond" if name in _ADDED or is_brought(name) else ""
            rows.append(Row([letter, label_of(name, labels), *cells], style))
        parts.append({"name": shown.block, "block": block, "rows": rows, "has_paper": bool(paper)})
    measures = list(MEASURES.values())
    return findings + render("kvqae_retrieval.html", parts=parts, measures=measures, statistics=statistics)


def weights_html(report: Mapping[str, Any], printed: Mapping[str, Any], labels: Mapping[str, str]) -> Markup:
    """The weights of every fusion of stage `fuse`, how far they are from the best on validation, and the paper's."""
    paper = {name: row["weights"] for table in printed.values() if isinstance(table, Mapping)
             for name, row in table.get("rows", {}).items() if "weights" in row}  # fmt: skip
    rows = []
    for row, values in report.items():
        best = "the same" if values["used_is_best"] else _weighted(values["weights"])
        rows.append([label_of(row, labels), _weighted(values["used_weights"]), percent(values["used_mrr"]), best,
                     percent(values["mrr"]), _weighted(paper.get(row)), values["weightings"]])  # fmt: skip
    return render("kvqae_weights.html", rows=rows)


def _weighted(weights: Mapping[str, float] | None) -> str:
    """A weighted sum such as `0.3 D_f + 0.3 A + 0.1 I`: texts, then images by their names; a dash for no weights."""
    symbols = {name: label_of(name, TEXT_LABELS).split(" (")[0] for name in weights or ()}
    symbols |= {name: encoder.symbol for name, encoder in ENCODERS.items()}
    ordered = sorted((weights or {}).items(), key=lambda pair: (pair[0] in ENCODERS, pair[0]))
    return " + ".join(f"{weight:g} {symbols[name]}" for name, weight in ordered) or "–"


def _published_rows(shown: Shown, printed: Mapping[str, Any], unlike: Collection[str]) -> Mapping[str, Any]:
    """The paper's rows of a block by our names; none where it has no such block."""
    rows = printed[shown.published]["rows"] if shown.published else {}
    named = {ours: rows[theirs] for ours, theirs in shown.names.items()} or rows
    return {name: row for name, row in named.items() if name not in unlike}


def _cell(row: Mapping[str, Any], measure: str) -> Markup:
    """A value with the letters of the rows that it beats, and its interval."""
    better = row["better_than"][measure]
    letters = Markup("<sup>{}</sup>").format(better) if better else ""
    return Markup("{}{}{}").format(percent(row["values"][measure]), letters, interval(row["interval"][measure]))


def reranking_sections(
    blocks: Mapping[str, Any], choice: Mapping[str, Any], kvqae: Mapping[str, Any], printed: Mapping[str, Any]
) -> dict[str, Markup]:
    """Tables 5 and 6, what they show, how fusions were tuned, and the split by overlap: HTML by section.

    `blocks` are as stage `evaluate_reranking` writes them, `choice` is of stage `rerank_fuse`, `kvqae` a section of the
    parameters.
    """
    statistics = kvqae["statistics"] | kvqae["evaluate_reranking"]
    with_rrt = any(row["name"] == "rrt" for row in blocks["article"]["rows"])  # not where its features are not given
    other = {} if with_rrt else LABELS["without_rrt"]
    first_stage, initial = labels_of(list(kvqae["image_encoders"]), kvqae["fuse"]["weights"]), kvqae["initial"]["run"]
    labels = reranked_labels_of(first_stage, kvqae["rerankers"], initial) | other
    # Another list's rows are other systems than the paper's; all but BM25 with images are of the list.
    unlike = other if initial == INITIAL else labels.keys() - {"bm25_image"}
    made = {}
    for name, shown in RERANKED_TABLES.items():
        pairs = [pair for pair in RERANKING[name] if not (other and "image" in pair["rows"])]  # of ArcFace + RRT
        made[name] = retrieval_html(blocks, printed, shown, statistics, labels, pairs, unlike)
    rerankers = {name: of for name, of in kvqae["rerankers"].items() if with_rrt or name != "rrt"}
    depths = [(RERANKERS[name].label, of["depth"]) for name, of in rerankers.items()]
    note = render("kvqae_depths.html", depths=depths, with_rrt=with_rrt)
    made["table-6"] = note + made["table-6"] + tuning_html(choice)
    tables = {shown.block for blocks_shown in RERANKED_TABLES.values() for shown in blocks_shown}
    # Other blocks are subsets by whether an encoder's pretraining set knows the entity.
    if rest := [Shown(key) for key in blocks if key not in tables]:
        (pair,) = [pair for pair in RERANKING["table-6"] if pair["rows"] == ["text_image", "text"]]
        pairs = [{**pair, "block": shown.block, "where": f"{blocks[shown.block]['title']}: ", "expected": "open"}
                 for shown in rest]  # fmt: skip
        note = render("kvqae_overlap.html", paper=printed["overlap"]["values"])
        made["overlap"] = note + retrieval_html(blocks, {}, rest, statistics, labels, pairs)
    return made


def tuning_html(choice: Mapping[str, Any]) -> Markup:
    """How each fusion of stage `rerank_fuse` was chosen: ours, then the paper's way, with validation MRR."""
    rows = []
    for name, record in choice.items():
        for which, label in (("chosen", "chosen"), ("paper", "the paper’s way")):
            if (fusion := record.get(which)) is None:  # beyond the paper
                continue
            systems = sorted(fusion.get("weights", fusion.get("probabilities", ())))
            of = f": {' + '.join(map(_named, systems))}" if name.startswith("image") else ""
            weights = [f"{weight:g} {_named(system)}" for system, weight in fusion.get("weights", {}).items()]
            how = _named(fusion["method"]), _named(fusion.get("normalization", "rank")), " + ".join(weights) or "–"
            tried = record["tried"] if which == "chosen" else None
            rows.append([f"{LABELS['fusions'][name]}{of}, {label}", *how, percent(record[f"{which}_mrr"]), tried])
    return render("kvqae_tuning.html", rows=rows)


def _named(name: str) -> str:
    return RERANKERS[name].label if name in RERANKERS else LABELS["methods"].get(name, name.replace("_", " "))


def overlap_html(overlap: pa.Table, stems: bool) -> Markup:
    """Figure 4, with a caption that says how lemmas were found."""
    groups: dict[str, dict[str, list[float]]] = {}
    for row in overlap.to_pylist():
        group = groups.setdefault(TEXT_LABELS[row["system"]].split(" (")[0], {"relevant": [], "not relevant": []})
        group["relevant" if row["relevant"] else "not relevant"].append(row["overlap"])
    drawn = draw_boxes(groups, title="Lexical overlap of question and first passage", ylabel="share of words")
    return render("kvqae_lexical_overlap.html", drawn=drawn, stems=stems)
