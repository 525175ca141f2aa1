"""What `trivium odmap` writes: the leaderboard as a page, CSV, Markdown and JSON."""

from pathlib import Path
from typing import Any

from trivium.core.atomic import write_atomically
from trivium.core.csv_tables import write_csv
from trivium.core.tables import write_json, write_json_lines
from trivium.decorrelation.benchmark.benchmark_set import LEAST_SHARE
from trivium.decorrelation.benchmark.leaderboard import BoardRow, Leaderboard
from trivium.decorrelation.benchmark.positives import MEASURES as POSITIVE_MEASURES
from trivium.decorrelation.benchmark.positives import SETS
from trivium.decorrelation.benchmark.scores import (
    GROUPED,
    PAIRS,
    STILL_NAMED,
    TESTED,
    TO_IMAGE,
    TO_TEXT,
    by_stratum,
    measures_of,
    query_rows,
)
from trivium.decorrelation.evaluation.answers import CUTOFFS, ODMAP
from trivium.page.figures import estimates
from trivium.page.html import percent, render
from trivium.page.markdown import markdown_table, plain

FILES = {
    "index.html": "the page",
    "leaderboard.csv": "a line a model",
    "leaderboard.md": "the table as Markdown",
    "leaderboard.json": "all numbers",
    "strata.csv": "a line a model and part of the queries",
    "queries.jsonl": "a line a query, with each model's values",
}
_YES = {"there": "yes: there", "painted_out": "painted out", "partner": "its usual partner", "random": "random class"}
_POPE = {"accuracy": "accuracy", "precision": "precision", "recall": "recall", "f1": "F1", "yes_ratio": "share of yes"}
_FIRST = dict(zip((*(f"ODmAP@{k}" for k in CUTOFFS), "ODmAP@1, tested", "still named", "pairs"),
                  (*ODMAP, TESTED, STILL_NAMED, PAIRS[2]), strict=True))  # fmt: skip
_PAIRED = dict(zip(("whole picture", "painted picture", "both"), PAIRS, strict=True))
_BY_PART = dict(zip(("ODmAP@1", "still named", *_PAIRED), GROUPED, strict=True))
_PLACES = ("model", "source", "odmap_rank", "recall_rank", "looks")


def write_leaderboard(board: Leaderboard, folder: str | Path) -> None:
    """Write FILES into a folder, which may hold other things too; made where there is none."""
    folder, asked = Path(folder), board.asked
    brought = asked.positives.digest if asked.positives else None
    of = {"dataset": asked.dataset, "filling": asked.filling, "set": asked.fingerprint, "positives": brought}
    rows = [_values(board, row) | of for row in board.rows]
    page, table = leaderboard_html(board), leaderboard_markdown(board)
    tree = {
        **of,
        "chance": dict(board.chance),
        "correlation": board.correlation,
        "strata": list(by_stratum(asked, board.scores)),
        "models": [row | {"notes": list(found.notes)} for row, found in zip(rows, board.rows, strict=True)],
        "captioners": [
            {"captioner": name, "chair_i": found.chair_i, "chair_s": found.chair_s,
             "mentions": int(found.mentions.sum()), "still_named": float(found.still_named.mean()),
             "intervals": found.intervals, "captions": list(found.texts)}
            for name, found in board.captioners.items()
        ],
        "vlms": [
            {"model": name, "asked": found.asked, "unreadable": found.unreadable, **found.pope,
             "yes": {kind: {"questions": len(found.yes[kind]), "rate": found.rate(kind),
                            "interval": found.intervals[kind]} for kind in found.yes}}
            for name, found in board.vlms.items()
        ],
        "failed": dict(board.failed),
    }  # fmt: skip
    ends = [f"{measure}{end}" for measure in (*measures_of(asked), "behind") for end in ("", "_low", "_high")]
    write_csv(folder / "leaderboard.csv", (*_PLACES, *ends, "notes", *of), rows)
    write_json(folder / "leaderboard.json", tree)
    write_csv(
        folder / "strata.csv", ("stratum", "group", "queries", "model", *GROUPED), by_stratum(asked, board.scores)
    )
    write_json_lines(folder / "queries.jsonl", query_rows(asked, board.scores))
    for name, text in (("leaderboard.md", table), ("index.html", page)):
        with write_atomically(folder / name) as beside:
            beside.write_text(text, "utf-8")


def _values(board: Leaderboard, row: BoardRow) -> dict[str, Any]:
    """A row of the CSV file, in its columns but for those of the set."""
    values: dict[str, Any] = {name: getattr(row, name) for name in _PLACES}
    found: dict[str, Any] = {
        name: (row.scores.mean(name), row.scores.intervals[name]) for name in measures_of(board.asked)
    }
    for name, (value, bounds) in (found | {"behind": row.behind or (None, None)}).items():
        low, high = bounds or (None, None)
        values |= {name: value, f"{name}_low": low, f"{name}_high": high}
    return values | {"notes": " ".join(row.notes)}


def leaderboard_markdown(board: Leaderboard) -> str:
    """A table in percent, and what belongs to it."""
    asked, rows = board.asked, []
    for row in board.rows:
        first = row.scores.intervals[ODMAP[0]]
        figures = [percent(row.scores.mean(name)) for name in (*_FIRST.values(), TO_TEXT[0], TO_IMAGE[0])]
        if first is not None:
            figures[0] += f" [{percent(first[0])}, {percent(first[1])}]"
        rows.append([plain(row.model), *figures, str(row.odmap_rank), str(row.recall_rank)])
    by_chance = (percent(board.chance[name]) if name in board.chance else "" for name in _FIRST.values())
    rows.append(["*random order*", *by_chance, *[""] * 4])
    heading = ["Model", *_FIRST, "R@1 i→t", "R@1 t→i", "rank", "by R@1"]
    lines = [
        *([markdown_table(heading, rows, numbers=True), ""] if board.rows else []),
        f"Data set {asked.dataset}, queries painted by {asked.filling}, {len(asked.queries.ids)} queries.",
        f"Set `{asked.fingerprint}`.",
    ]
    if asked.positives is not None:
        more = extended(board)
        rows = [[plain(row.model), *(percent(row.scores.mean(name)) for name in more.values())] for row in board.rows]
        lines += ["", markdown_table(["Model", *more], rows, numbers=True)]
        lines += ["", f"Right answers `{asked.positives.digest}`.", ""]
    if board.captioners:
        rows = [
            [plain(name), percent(found.chair_i), percent(found.chair_s), percent(float(found.still_named.mean()))]
            for name, found in board.captioners.items()
        ]
        lines += ["", markdown_table(["Captioner", "CHAIR_i", "CHAIR_s", "still named"], rows, numbers=True), ""]
    if board.vlms:
        rows = [
            [plain(name), *(percent(found.rate(kind)) for kind in _YES), *(percent(found.pope[part]) for part in _POPE)]
            for name, found in board.vlms.items()
        ]
        lines += ["", markdown_table(["Model", *_YES.values(), *_POPE.values()], rows, numbers=True), ""]
    if asked.invented:
        lines.append("The pictures are invented.")
    lines += [f"- {plain(row.model)}: {note}" for row in board.rows for note in row.notes]
    lines += [f"- {plain(name)} was not asked: {plain(why)}" for name, why in board.failed.items()]
    return "\n".join(lines) + "\n"


def extended(board: Leaderboard) -> dict[str, str]:
    """{heading: measure} of what was found with right answers that somebody brought."""
    ways = {"image_to_text": "i→t", "text_to_image": "t→i"}
    shown = {"map@r": "mAP@R", "r_precision": "R-Precision"}
    return {
        f"{SETS[name]} {shown.get(measure, measure.upper())} {arrow}": f"{name}_{way}_{measure}"
        for name in (board.asked.positives.answers if board.asked.positives else ())
        for way, arrow in ways.items()
        for measure in POSITIVE_MEASURES[name]
    }


def leaderboard_html(board: Leaderboard) -> str:
    """The page, one self-contained file."""
    series: dict[str, list[Any]] = {"ODmAP@1": [], "R@1, image → text": []}
    for line, measure in zip(series.values(), (ODMAP[0], TO_TEXT[0]), strict=True):
        for row in board.rows:
            mean = float(row.scores.values[measure].mean())
            low, high = row.scores.intervals[measure] or (mean, mean)
            line.append((100 * mean, 100 * low, 100 * high))
    title = "ODmAP@1 and R@1 of every model with their intervals"
    ways = {"image → text": TO_TEXT, "text → image": TO_IMAGE}
    strata: dict[tuple[str, str, int], dict[str, Any]] = {}
    for found in by_stratum(board.asked, board.scores):
        strata.setdefault((found["stratum"], found["group"], found["queries"]), {})[found["model"]] = found
    return render(
        "leaderboard.html",
        command="odmap",
        files=FILES,
        board=board,
        asked=board.asked,
        first=_FIRST,
        paired=_PAIRED,
        shown_by_part=_BY_PART,
        strata={part: found for part, found in strata.items() if part[0] != "class"},
        classes={part: found for part, found in strata.items() if part[0] == "class"},
        tested=int(board.asked.tests_something().sum()),
        least=LEAST_SHARE,
        recall={f"{way} R@{k}": name for way, names in ways.items() for k, name in zip(CUTOFFS, names, strict=True)},
        extended=extended(board),
        pictures=len(set(board.asked.queries.pictures.tolist())),
        kinds=_YES,
        pope=_POPE,
        drawn=board.rows and estimates([row.model for row in board.rows], series, title=title, xlabel="%"),
    )
