"""KVQAE's re-ranking on the page: what was chosen on validation, and the split by overlap with pretraining."""

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from trivium.kvqae.rerankers.reranker import RERANKERS
from trivium.page.html import percent, render
from trivium.page.kvqae.findings import RERANKING, findings_html, retrieval_findings
from trivium.page.kvqae.retrieval import WITHOUT_RRT, labels_of, reranked_labels_of, retrieval_html
from trivium.page.published import RERANKED_TABLES, Shown

INITIAL = "dpr_few_shot_image"  # the row that the paper re-ranks
FUSIONS = {
    "image": "Image, for text + image",
    "image_alone": "Image alone",
    "text_image": "Text + image",
    "text_initial": "Text + initial list",
    "text_image_initial": "Text + image + initial list",
}
LABELS = {
    "initial": "initial list",
    "posfuse": "PosFuse",
    "rank": "rank",  # PosFuse sees positions only
    "min_max": "min-max",
    "z_score": "z-score",
}


def reranking_sections(
    blocks: Mapping[str, Any], choice: Mapping[str, Any], kvqae: Mapping[str, Any], printed: Mapping[str, Any], *,
    sample: bool,
) -> dict[str, Markup]:  # fmt: skip
    """Tables 5 and 6, what they show, how fusions were tuned, and the split by overlap: HTML by section.

    Args:
        blocks: as stage `evaluate_reranking` writes them.
        choice: of stage `rerank_fuse`.
        kvqae: its section of the parameters.
        printed: the paper's numbers.
        sample: our numbers are of a sample world.
    """
    statistics, with_rrt = kvqae["statistics"] | kvqae["evaluate_reranking"], rrt_re_ranks(blocks)
    other = {} if with_rrt else WITHOUT_RRT
    first_stage, initial = labels_of(list(kvqae["image_encoders"]), kvqae["fuse"]["weights"]), kvqae["initial"]["run"]
    labels = reranked_labels_of(first_stage, kvqae["rerankers"], initial) | other
    # Another list's rows are other systems than the paper's; all but BM25 with images are of the list.
    unlike = other if initial == INITIAL else labels.keys() - {"bm25_image"}
    made = {}
    for name, shown in RERANKED_TABLES.items():
        pairs = [pair for pair in RERANKING[name] if not (other and "image" in pair["rows"])]  # of ArcFace + RRT
        findings = retrieval_findings(blocks, pairs, statistics["significance"])
        tables = retrieval_html(blocks, printed, shown, statistics, labels, sample=sample, unlike=unlike)
        made[name] = findings_html(findings, depths_note(kvqae["rerankers"], with_rrt)) + tables
    made["table-6"] += tuning_html(choice)
    if overlap := overlap_blocks_html(blocks, printed, statistics, labels):
        made["overlap"] = overlap
    return made


def tuning_html(choice: Mapping[str, Any]) -> Markup:
    """How each fusion of stage `rerank_fuse` was chosen: ours, then the paper's way, with validation MRR."""
    rows = []
    for name, record in choice.items():
        for which, label in (("chosen", "chosen"), ("paper", "the paper’s way")):
            if which not in record:  # beyond the paper
                continue
            fusion = record[which]
            systems = sorted(fusion.get("weights", fusion.get("probabilities", ())))
            of = f": {' + '.join(map(_named, systems))}" if name.startswith("image") else ""
            weights = [f"{weight:g} {_named(system)}" for system, weight in fusion.get("weights", {}).items()]
            how = _named(fusion["method"]), _named(fusion.get("normalization", "rank")), " + ".join(weights) or "–"
            tried = record["tried"] if which == "chosen" else None
            rows.append([f"{FUSIONS[name]}{of}, {label}", *how, percent(record[f"{which}_mrr"]), tried])
    return render("kvqae_tuning.html", rows=rows)


def rrt_re_ranks(blocks: Mapping[str, Any]) -> bool:
    """Whether RRT has a row in Table 5, or was left out, as where its features are not given."""
    return any(row["name"] == "rrt" for row in blocks["article"]["rows"])


def depths_note(rerankers: Mapping[str, Any], with_rrt: bool) -> str:
    """How many passages of the initial ranking each re-ranker puts into a new order, by its section of parameters."""
    depths = {name: entry["depth"] for name, entry in rerankers.items() if with_rrt or name != "rrt"}
    first = ", ".join(f"the first {depth} by {RERANKERS[name].label}" for name, depth in depths.items())
    left_out = (
        " where a face is found. RRT was left out, as its features were not given or kvqae.rrt.use says so, not so in "
        "the paper: Tables 5 to 7 have no rows of it, and where no face is found, the image re-ranks nothing."
    )
    said = f"The best passages of the initial ranking are put into a new order: {first}"
    return f"{said}{'.' if with_rrt else left_out}"


def _named(name: str) -> str:
    return RERANKERS[name].label if name in RERANKERS else LABELS.get(name, name.replace("_", " "))


def overlap_blocks_html(
    blocks: Mapping[str, Any], printed: Mapping[str, Any], statistics: Mapping[str, float], labels: Mapping[str, str]
) -> Markup:
    """Every block beyond Tables 5 and 6: subsets by whether an encoder's pretraining set knows the entity."""
    tables = {shown.block for blocks_shown in RERANKED_TABLES.values() for shown in blocks_shown}
    rest = [Shown(key) for key in blocks if key not in tables]
    if not rest:
        return Markup()
    (pair,) = [pair for pair in RERANKING["table-6"] if pair["rows"] == ["text_image", "text"]]
    titles = {shown.block: f"{blocks[shown.block]['title']}: " for shown in rest}
    pairs = [{**pair, "block": block, "where": title, "expected": "open"} for block, title in titles.items()]
    findings = findings_html(retrieval_findings(blocks, pairs, statistics["significance"]))
    note = render("kvqae_overlap.html", paper=printed["overlap"]["values"])
    return note + findings + retrieval_html(blocks, {}, rest, statistics, labels)
